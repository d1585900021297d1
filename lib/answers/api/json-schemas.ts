import * as z from "zod";

/** A JSON Schema as an object. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The JSON Schema of what a route takes, without the address of its dialect. A time is a text at
 * the edge, so the schema of a request is the schema of its input.
 */
export const inputSchema = (schema: z.ZodType): JsonSchema => {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
  });
  return rest;
};

/** Objects of answers are open, because fields are added between versions. */
export const openObject = ({
  jsonSchema,
}: {
  readonly jsonSchema: z.core.JSONSchema.BaseSchema;
}): void => {
  if (jsonSchema.additionalProperties === false) jsonSchema.additionalProperties = {};
};

/** The JSON Schema of an answer, with everything that it refers to. */
export const answerSchema = (schema: z.ZodType): JsonSchema => {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io: "output",
    unrepresentable: "any",
    override: openObject,
  });
  return rest;
};
