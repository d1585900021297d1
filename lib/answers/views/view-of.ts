import * as z from "zod";

/** The type of a view: what its schema reads, readonly at every depth. */
export type ViewOf<Schema extends z.ZodType> = Frozen<z.infer<Schema>>;

type Frozen<Value> = unknown extends Value
  ? Value
  : { readonly [Key in keyof Value]: Frozen<Value[Key]> };

/**
 * A schema for each field of a type that a room below owns. It does not compile while one is
 * missing.
 */
export type FieldsOf<Value> = Readonly<Record<keyof Value, z.ZodType>>;

/*
 * The words of all views. Texts are as the API sends them: RFC 3339 for a time, whole replicas for
 * a count. docs/openapi.json and docs/answers.md have the descriptions.
 */
export const text = z.string();
export const time = z.string().meta({ format: "date-time" });
export const count = z.int().min(0);
export const flag = z.boolean();
export const anything = z.unknown();
/** Present and true, or absent. */
export const only = z.literal(true);

/** A page of a list, with the token of the next one. */
export const page = <Item extends z.ZodType>(item: Item) =>
  z.object({
    items: z.array(item),
    next: text
      .describe("the parameter `page` of the next request; absent on the last page")
      .exactOptional(),
  });

export const ref = { cluster: text, namespace: text, name: text } as const;

/** The workload whose scale subresource is written. */
export const target = z.object({ apiVersion: text, kind: text, name: text });
