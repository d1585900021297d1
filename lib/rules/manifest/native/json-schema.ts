import type { FieldDescription } from "../../fields/field-types.ts";
import { type Json, present } from "../../model/json.ts";
import { RFC_3339 } from "../../model/time-text.ts";
import { CLUSTER_SPEC } from "../cluster/cluster-fields.ts";
import { CLUSTER_PATH, memberPath } from "./explain-field.ts";
import { ruleSchema } from "./rule-schema.ts";
import { rulesAt } from "./rule-table.ts";
import { SPEC } from "./spec-fields.ts";
import { printablePattern } from "./field-descriptions.ts";

/**
 * JSON Schema of the field at a path such as "spec.metrics[]", from its description. Null means
 * absent, so an empty `idle:` is no error.
 */
export const schemaOf = (path: string, about: FieldDescription): Json => {
  const { required = false, meaning: description, choices = [], items } = about;
  const annotations = { description, default: about.default };
  const text = required ? { minLength: 1 } : {};
  switch (about.type) {
    case "integer":
      return present({
        type: typeOf("integer", required),
        minimum: about.least ?? -INT32,
        maximum: about.most ?? INT32 - 1,
        ...annotations,
      });
    case "quantity":
      return present({
        type: required ? ["number", "string"] : ["number", "string", "null"],
        pattern: QUANTITY,
        ...rangeOf(about),
        ...annotations,
      });
    case "text":
      return present({
        type: typeOf("string", required),
        ...text,
        maxLength: about.mostCharacters,
        ...patternsOf(about),
        ...annotations,
      });
    case "time":
      return present({
        type: typeOf("string", required),
        format: "date-time",
        pattern: RFC_3339.source,
        ...annotations,
      });
    case "flag":
      return present({ type: typeOf("boolean", required), ...annotations });
    case "choice":
      return present({
        type: typeOf("string", required),
        enum: required ? choices : [...choices, null],
        ...annotations,
      });
    case "texts":
      return present({
        type: typeOf("object", required),
        additionalProperties: { type: ["string", "null"], pattern: printablePattern(about) },
        ...annotations,
      });
    case "list":
      return present({
        type: typeOf("array", required),
        items: items && itemSchema(path, items),
        minItems: about.leastItems,
        maxItems: about.mostItems,
        ...annotations,
      });
    case "object":
      return objectSchema(path, about, annotations);
    case "anything":
      return { description };
  }
};

/**
 * An absent text and an empty one are the same where the field is neither required nor has a
 * default.
 */
const patternsOf = (about: FieldDescription): Json => {
  const { form, required, default: filled } = about;
  return form === undefined
    ? { pattern: printablePattern(about) }
    : { pattern: required || filled !== undefined ? form.pattern : `^$|${form.pattern}` };
};

const INT32 = 2 ** 31;
const typeOf = (type: string, required: boolean): unknown => (required ? type : [type, "null"]);

/**
 * A number with an optional suffix and blanks around it. JSON Schema cannot check the bounds of a
 * text.
 */
const QUANTITY = String.raw`^\s*(?=\S)[+-]?[0-9]*(\.[0-9]*)?([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?\s*$`;

/** A value within a thousandth below the least one is rounded up to it. */
const rangeOf = ({ least, most }: FieldDescription): Json => {
  const above =
    least !== undefined && least > 0
      ? { exclusiveMinimum: (least * 1000 - 1) / 1000 }
      : { minimum: least };
  return { ...above, maximum: most };
};

/**
 * In a list null means the empty text, or an object without members, which is an error where
 * members are required.
 */
const itemSchema = (path: string, items: FieldDescription): Json => {
  const needed =
    conditionsOf(path, items).length > 0 ||
    Object.values(items.fields ?? {}).some(({ required }) => required);
  return schemaOf(path, needed ? { ...items, required: true } : items);
};

const conditionsOf = (path: string, about: FieldDescription): readonly Json[] =>
  (about.rules ?? rulesAt(path))
    .map((rule) => ruleSchema(rule, about))
    .filter((condition) => condition !== undefined);

const objectSchema = (path: string, about: FieldDescription, annotations: Json): Json => {
  const { fields = {}, required = false } = about;
  const conditions = conditionsOf(path, about);
  const needed = Object.entries(fields).flatMap(([name, field]) => (field.required ? [name] : []));
  return present({
    type: typeOf("object", required),
    properties: Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [
        name,
        schemaOf(memberPath(path, name, field), field),
      ]),
    ),
    required: needed.length > 0 ? needed : undefined,
    additionalProperties: false,
    allOf: conditions.length > 0 ? conditions : undefined,
    ...annotations,
  });
};

const TEXTS = { type: ["object", "null"], additionalProperties: { type: ["string", "null"] } };
const TEXT = { type: ["string", "null"] };

/** Fields of a manifest that was read back from a cluster are accepted and ignored. */
const METADATA: Json = {
  type: "object",
  properties: {
    name: {
      type: "string",
      minLength: 1,
      description: "Name of the autoscaler; it cannot change.",
    },
    namespace: {
      ...TEXT,
      default: "default",
      description: "The namespace of the autoscaler and of its target; it cannot change.",
    },
    labels: { ...TEXTS, description: "Kept." },
    annotations: { ...TEXTS, description: "Kept." },
    ...Object.fromEntries(
      [
        "generateName",
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "deletionTimestamp",
        "selfLink",
      ].map((name) => [name, TEXT]),
    ),
    finalizers: { type: ["array", "null"], items: TEXT },
    ...Object.fromEntries(
      ["generation", "deletionGracePeriodSeconds", "managedFields", "ownerReferences"].map(
        (name) => [name, true],
      ),
    ),
  },
  required: ["name"],
  additionalProperties: false,
};

/** The schema of a cluster as a document, for editors; docs/cluster.schema.json is this. */
export const clusterDocumentSchema = (): Json => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "tidemark.dev/v1 Cluster",
  type: "object",
  properties: {
    apiVersion: { const: "tidemark.dev/v1" },
    kind: { const: "Cluster" },
    metadata: {
      type: "object",
      properties: {
        name: { type: "string", minLength: 1, maxLength: 63, description: "Name of the cluster." },
        labels: { ...TEXTS, description: "What an apply with --prune chooses clusters by." },
      },
      required: ["name"],
      additionalProperties: false,
    },
    spec: schemaOf(CLUSTER_PATH, CLUSTER_SPEC.about),
  },
  required: ["apiVersion", "kind", "metadata", "spec"],
  additionalProperties: false,
});

/** The schema of the whole manifest for editors; docs/pod-autoscaler.schema.json is this. */
export const podAutoscalerSchema = (): Json => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "tidemark.dev/v1 PodAutoscaler",
  type: "object",
  properties: {
    apiVersion: { const: "tidemark.dev/v1" },
    kind: { const: "PodAutoscaler" },
    metadata: METADATA,
    spec: schemaOf("spec", SPEC.about),
    status: true,
  },
  required: ["apiVersion", "kind", "metadata", "spec"],
  additionalProperties: false,
});
