import * as z from "zod";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
  partitionName,
} from "../../../rules/model/ids.ts";
import { SPEC_KIND_NAMES } from "../../../rules/model/spec.ts";
import { HPA_VERSIONS } from "../../../rules/model/spec-common.ts";

/** The schemas of texts: an API input has limits, a stored record has none. */
interface TextSchemas<Text extends z.ZodType<string>, Data extends z.ZodType<string>> {
  readonly text: Text;
  /** A CA certificate in base64, which is longer than other texts. */
  readonly caData: Data;
}

/**
 * The fields of each kind of connection. Stored records and API inputs are both read by these; the
 * compiler compares them with `Connection` in the model.
 */
export const connectionFields = <Text extends z.ZodType<string>, Data extends z.ZodType<string>>({
  text,
  caData,
}: TextSchemas<Text, Data>) => ({
  eks: {
    kind: z.literal("eks"),
    clusterId: text,
    endpoint: z.exactOptional(text),
    caData: z.exactOptional(caData),
    region: text,
    roleArn: z.exactOptional(text),
  },
  secret: {
    kind: z.literal("secret"),
    secretId: text,
    context: z.exactOptional(text),
    serviceAccount: z.exactOptional(text),
  },
  kubeconfig: { kind: z.literal("kubeconfig"), path: text, context: z.exactOptional(text) },
});

/*
 * Schemas of the items of the state table that edits write. Attributes of a later version are kept:
 * an edit replaces the whole item, and without them it would drop what this version does not know.
 */

/** A record as its item holds it, or why it cannot be read, and what its item says all the same. */
export type RecordItem<Value, Named> =
  | { readonly kind: "read"; readonly record: Value }
  | ({ readonly kind: "unreadable"; readonly message: string } & Readonly<Named>);

type Item = Readonly<Record<string, AttributeValue>>;

export const recordIn = <Value, Named>(
  item: Item,
  schema: z.ZodType<Value>,
  named: Named,
): RecordItem<Value, Named> => {
  const { data, error } = schema.safeParse(attributesOf(item));
  if (!error) return { kind: "read", record: data };
  return {
    kind: "unreadable",
    ...named,
    message: error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; "),
  };
};

/** The attributes of a record in its item, without the key and the token of the last write. */
export const attributesOf = (item: Item): Record<string, unknown> => {
  const { pk: _pk, sk: _sk, token: _token, ...attributes } = unmarshall(item);
  return attributes;
};

const paused = z.looseObject({
  by: z.string(),
  atMs: z.number(),
  untilMs: z.number().exactOptional(),
});

/**
 * Loose, as all items: a field of a later version stays. What this version does not know of an
 * override it does not follow.
 */
const overrides = z.array(
  z.looseObject({
    id: z.string(),
    namespace: z.string().exactOptional(),
    set: z.looseObject({
      hold: z.boolean().exactOptional(),
      min: z.number().int().exactOptional(),
      max: z.number().int().exactOptional(),
      minFactorMilli: z.number().int().exactOptional(),
    }),
    fromMs: z.number(),
    untilMs: z.number().exactOptional(),
    reason: z.string(),
    by: z.string(),
    atMs: z.number(),
    force: z.boolean().exactOptional(),
  }),
);

export const autoscalerSchema = z.looseObject({
  cluster: z.string().transform(clusterName),
  namespace: z.string().transform(namespace),
  name: z.string().transform(autoscalerName),
  uid: z.string().transform(autoscalerUid),
  generation: z.number().int().positive(),
  manifest: z.string(),
  createdMs: z.number(),
  updatedMs: z.number(),
  updatedBy: z.string(),
  paused: paused.exactOptional(),
  overrides: overrides.exactOptional(),
  clusterUid: z.string().exactOptional(),
  wholeChange: z.object({ generation: z.number().int(), atMs: z.number() }).exactOptional(),
  origin: z
    .looseObject({
      apiVersion: z.string(),
      kind: z.enum(SPEC_KIND_NAMES),
      uid: z.string(),
      generation: z.number().int(),
      storedMs: z.number().exactOptional(),
      goneMs: z.number().exactOptional(),
    })
    .exactOptional(),
});

const { eks, secret, kubeconfig } = connectionFields({ text: z.string(), caData: z.string() });
const connection = z.discriminatedUnion("kind", [
  z.looseObject(eks),
  z.looseObject(secret),
  z.looseObject(kubeconfig),
]);

export const connectionSchema = z.looseObject({
  cluster: z.string().transform(clusterName),
  uid: z.string(),
  connection,
  kubeSystemUid: z.string().exactOptional(),
  server: z.looseObject({ version: z.string(), atMs: z.number() }).exactOptional(),
  version: z.number().int().positive(),
});

export const clusterSchema = z.looseObject({
  name: z.string().transform(clusterName),
  uid: z.string(),
  connectionVersion: z.number().int().exactOptional(),
  syncPeriodMs: z.number().int().min(5_000).max(900_000),
  plannedFromMs: z.number().exactOptional(),
  partitions: z
    .array(
      z.looseObject({
        name: z.string().transform(partitionName),
        namespaces: z.array(z.string().transform(namespace)).exactOptional(),
      }),
    )
    .min(1),
  paused: paused.exactOptional(),
  overrides: overrides.exactOptional(),
  settings: z.looseObject({
    tolerance: z.number(),
    downscaleStabilizationMs: z.number(),
    cpuInitializationPeriodMs: z.number(),
    initialReadinessDelayMs: z.number(),
    hpaVersion: z.enum(HPA_VERSIONS).exactOptional(),
  }),
  specsFromCluster: z.array(z.enum(SPEC_KIND_NAMES)).exactOptional(),
  recommenderHosts: z.array(z.string()).exactOptional(),
  labels: z.record(z.string(), z.string()).exactOptional(),
  restoredAs: z.string().exactOptional(),
  removing: z.looseObject({ by: z.string(), atMs: z.number() }).exactOptional(),
  version: z.number().int().positive(),
});

export const fleetSchema = z.looseObject({
  frozen: z.looseObject({ by: z.string(), atMs: z.number(), reason: z.string() }).exactOptional(),
  tables: z
    .looseObject({
      state: z.string(),
      history: z.string(),
      region: z.string().exactOptional(),
    })
    .exactOptional(),
  restores: z.number().int().exactOptional(),
  moved: z
    .looseObject({
      term: z.number().int(),
      from: z.string().exactOptional(),
      by: z.string(),
      atMs: z.number(),
    })
    .exactOptional(),
  leaving: z.looseObject({ to: z.string(), by: z.string(), atMs: z.number() }).exactOptional(),
  overrides: overrides.exactOptional(),
  calendars: z
    .array(z.looseObject({ name: z.string(), days: z.array(z.number().int()) }))
    .exactOptional(),
});
