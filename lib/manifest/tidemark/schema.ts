import { RFC_3339 } from "../../model/instant.ts";
import { type Json, present } from "../json.ts";
import type { About } from "./field.ts";
import { SPEC } from "./fields.ts";

/** JSON Schema of one field, from the description that it is read by. Null is taken for absent, so that `idle:` with nothing behind it is no error. */
export const schemaOf = (about: About): Json => {
  const { required = false, meaning: description, choices = [], items } = about;
  const told = { description, default: about.default };
  const text = required ? { minLength: 1 } : {};
  switch (about.type) {
    case "integer":
      return present({ type: typeOf("integer", required), minimum: about.least ?? -INT32, maximum: about.most ?? INT32 - 1, ...told });
    case "quantity":
      return present({ type: required ? ["number", "string"] : ["number", "string", "null"], pattern: QUANTITY, ...rangeOf(about), ...told });
    case "text":
      return present({ type: typeOf("string", required), ...text, ...told });
    case "time":
      return present({ type: typeOf("string", required), format: "date-time", pattern: RFC_3339.source, ...told });
    case "flag":
      return present({ type: typeOf("boolean", required), ...told });
    case "choice":
      return present({ type: typeOf("string", required), enum: required ? choices : [...choices, null], ...told });
    case "texts":
      return present({ type: typeOf("object", required), additionalProperties: { type: ["string", "null"] }, ...told });
    case "list":
      return present({ type: typeOf("array", required), items: items && itemSchema(items), ...told });
    case "object":
      return objectSchema(about, told);
    case "anything":
      return { description };
  }
};

const INT32 = 2 ** 31;
const typeOf = (type: string, required: boolean): unknown => (required ? type : [type, "null"]);

/** A number with an optional suffix, blanks around it; which bounds a text keeps to cannot be said here. */
const QUANTITY = String.raw`^\s*(?=\S)[+-]?[0-9]*(\.[0-9]*)?([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?\s*$`;

/** What lies within a thousandth above the last refused value is rounded up to the least one. */
const rangeOf = ({ least, most }: About): Json => {
  const above = least !== undefined && least > 0 ? { exclusiveMinimum: (least * 1000 - 1) / 1000 } : { minimum: least };
  return { ...above, maximum: most };
};

/** In a list null stands for the empty text, and for an object without any member: where some are needed that is an error. */
const itemSchema = (items: About): Json => {
  const needed = items.demands !== undefined || Object.values(items.fields ?? {}).some(({ required }) => required);
  return schemaOf(needed ? { ...items, required: true } : items);
};

const objectSchema = (about: About, told: Json): Json => {
  const { fields = {}, demands = [], required = false } = about;
  const needed = Object.entries(fields).flatMap(([name, field]) => (field.required ? [name] : []));
  return present({
    type: typeOf("object", required),
    properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, schemaOf(field)])),
    required: needed.length > 0 ? needed : undefined,
    additionalProperties: false,
    allOf: demands.length > 0 ? demands : undefined,
    ...told,
  });
};

const TEXTS = { type: ["object", "null"], additionalProperties: { type: ["string", "null"] } };
const TEXT = { type: ["string", "null"] };

/** What a manifest that was read back from a cluster brings along is taken, and means nothing. */
const METADATA: Json = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 1, description: "Name of the autoscaler; it cannot change." },
    namespace: { ...TEXT, default: "default", description: "Its namespace, also that of its target; it cannot change." },
    labels: { ...TEXTS, description: "Kept." },
    annotations: { ...TEXTS, description: "Kept." },
    ...Object.fromEntries(
      ["generateName", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "selfLink"].map((name) => [name, TEXT]),
    ),
    finalizers: { type: ["array", "null"], items: TEXT },
    ...Object.fromEntries(["generation", "deletionGracePeriodSeconds", "managedFields", "ownerReferences"].map((name) => [name, true])),
  },
  required: ["name"],
  additionalProperties: false,
};

/** The whole manifest, for editors; docs/pod-autoscaler.schema.json is this. */
export const podAutoscalerSchema = (): Json => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "tidemark.dev/v1 PodAutoscaler",
  type: "object",
  properties: {
    apiVersion: { const: "tidemark.dev/v1" },
    kind: { const: "PodAutoscaler" },
    metadata: METADATA,
    spec: schemaOf(SPEC.about),
    status: true,
  },
  required: ["apiVersion", "kind", "metadata", "spec"],
  additionalProperties: false,
});
