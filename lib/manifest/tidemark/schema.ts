import { type Json, present } from "../json.ts";
import type { About } from "./field.ts";
import { SPEC } from "./fields.ts";

/** JSON Schema of one field, from the description that it is read by. */
export const schemaOf = (about: About): Json => {
  const told = { description: about.meaning, default: about.default };
  switch (about.type) {
    case "integer":
      return present({ type: "integer", minimum: about.least, maximum: about.most, ...told });
    case "quantity":
      return present({ type: ["number", "string"], minimum: about.least, maximum: about.most, ...told });
    case "text":
      return present({ type: "string", ...told });
    case "time":
      return present({ type: "string", format: "date-time", ...told });
    case "flag":
      return present({ type: "boolean", ...told });
    case "choice":
      return present({ type: "string", enum: about.choices, ...told });
    case "texts":
      return present({ type: "object", additionalProperties: { type: "string" }, ...told });
    case "list":
      return present({ type: "array", items: about.items && schemaOf(about.items), ...told });
    case "object":
      return objectSchema(about, told);
  }
};

/** An object whose fields another page describes is left open. */
const objectSchema = ({ fields }: About, told: Json): Json => {
  if (!fields) return present({ type: "object", ...told });
  const needed = Object.entries(fields).flatMap(([name, { required }]) => (required ? [name] : []));
  return present({
    type: "object",
    properties: Object.fromEntries(Object.entries(fields).map(([name, about]) => [name, schemaOf(about)])),
    required: needed.length > 0 ? needed : undefined,
    additionalProperties: false,
    ...told,
  });
};

const TEXTS = { type: "object", additionalProperties: { type: "string" } };

/** The whole manifest, for editors; docs/pod-autoscaler.schema.json is this. */
export const podAutoscalerSchema = (): Json => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "tidemark.dev/v1 PodAutoscaler",
  type: "object",
  properties: {
    apiVersion: { const: "tidemark.dev/v1" },
    kind: { const: "PodAutoscaler" },
    metadata: {
      type: "object",
      properties: { name: { type: "string" }, namespace: { type: "string", default: "default" }, labels: TEXTS, annotations: TEXTS },
      required: ["name"],
    },
    spec: schemaOf(SPEC.about),
  },
  required: ["apiVersion", "kind", "metadata", "spec"],
});
