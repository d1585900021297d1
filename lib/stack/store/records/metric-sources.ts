import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import {
  type MetricSourceRecord,
  SECRET_AUTH_KINDS,
  SERVICE_SCHEMES,
  SIGNED_SERVICE_NAMES,
  SOURCE_KINDS,
  SOURCE_LIMITS,
} from "../../../rules/model/metric-source.ts";
import { SOURCES_PK, sourceKey } from "../table/keys.ts";
import { itemsUnder, readAll } from "../table/read-many.ts";
import type { Tables } from "../table/tables.ts";
import { recordIn, type RecordItem } from "./schemas.ts";
import {
  isTombstone,
  deleteRecord,
  lastCount,
  putRecord,
  type RecordWrite,
  readRecord,
} from "./write.ts";

/**
 * The fields of a registered source, as they are stored and as they are sent. Strict: a field of a
 * later version may be a limit that this one does not know.
 */
export const sourceFields = {
  kind: z.enum(SOURCE_KINDS),
  url: z.string().exactOptional(),
  service: z
    .strictObject({
      namespace: z.string(),
      name: z.string(),
      port: z.string(),
      scheme: z.enum(SERVICE_SCHEMES),
      path: z.string(),
    })
    .exactOptional(),
  caData: z.string().max(SOURCE_LIMITS.caData).exactOptional(),
  aws: z
    .strictObject({
      region: z.string(),
      roleArn: z.string(),
      externalId: z.string(),
      workspace: z.string().exactOptional(),
      maxSamples: z
        .number()
        .int()
        .min(SOURCE_LIMITS.maxSamples.least)
        .max(SOURCE_LIMITS.maxSamples.most)
        .exactOptional(),
      queues: z.array(z.string()).max(SOURCE_LIMITS.queues).exactOptional(),
      metricNamespaces: z.array(z.string()).max(SOURCE_LIMITS.patterns).exactOptional(),
      accounts: z.array(z.string()).max(SOURCE_LIMITS.patterns).exactOptional(),
      search: z.boolean().exactOptional(),
    })
    .exactOptional(),
  auth: z
    .discriminatedUnion("kind", [
      z.strictObject({
        kind: z.enum(SECRET_AUTH_KINDS),
        secretId: z.string(),
        header: z.string().exactOptional(),
      }),
      z.strictObject({ kind: z.literal("sigv4"), service: z.enum(SIGNED_SERVICE_NAMES) }),
    ])
    .exactOptional(),
  headers: z.record(z.string(), z.string()).exactOptional(),
  parameters: z.record(z.string(), z.string()).exactOptional(),
  clusters: z.array(z.string()).max(SOURCE_LIMITS.patterns),
  namespaces: z.array(z.string()).max(SOURCE_LIMITS.patterns),
  timeoutSeconds: z
    .number()
    .min(SOURCE_LIMITS.timeoutSeconds.least)
    .max(SOURCE_LIMITS.timeoutSeconds.most),
  maxMetrics: z
    .number()
    .int()
    .min(SOURCE_LIMITS.maxMetrics.least)
    .max(SOURCE_LIMITS.maxMetrics.most),
  maxDollars: z
    .number()
    .int()
    .min(SOURCE_LIMITS.maxDollars.least)
    .max(SOURCE_LIMITS.maxDollars.most)
    .exactOptional(),
  private: z.boolean(),
  partialAnswers: z.boolean().exactOptional(),
  keys: z.array(z.string()).max(SOURCE_LIMITS.patterns).exactOptional(),
};

/** A record as it is stored. */
export const sourceSchema: z.ZodType<MetricSourceRecord> = z.strictObject({
  ...sourceFields,
  name: z.string(),
  version: z.number().int().positive(),
  updatedMs: z.number(),
  updatedBy: z.string(),
});

/**
 * A registered source as its item holds it, or why it cannot be read. An unreadable item stops its
 * own source only.
 */
export type MetricSourceItem = RecordItem<MetricSourceRecord, { name: string; version: number }>;

const itemOf = (item: Readonly<Record<string, AttributeValue>>): MetricSourceItem =>
  recordIn(item, sourceSchema, {
    name: item["sk"]?.S ?? "",
    version: Number(item["version"]?.N ?? 0),
  });

/**
 * Every registered source in order of name. Strongly consistent: a source that was deleted or
 * changed is not asked with its old address any more.
 */
export async function* listMetricSources(tables: Tables): AsyncGenerator<MetricSourceItem> {
  for await (const item of readAll(
    tables,
    "list the metric sources",
    itemsUnder(tables, SOURCES_PK),
  ))
    if (!isTombstone(item)) yield itemOf(item);
}

/** Reads one source strongly; absent when there is none. */
export const getMetricSource = async (
  tables: Tables,
  name: string,
): Promise<MetricSourceItem | undefined> => {
  const item = await readRecord(tables, `read source "${name}"`, sourceKey(name));
  return item && itemOf(item);
};

/**
 * Stores a source with its new version, if the stored one has the version `expected`; without it
 * none may be stored.
 */
export const putMetricSource = (
  tables: Tables,
  record: MetricSourceRecord,
  expected: number | undefined,
): Promise<RecordWrite> =>
  putRecord(tables, `store source "${record.name}"`, {
    key: sourceKey(record.name),
    record,
    expected: { counter: "version", ...(expected !== undefined && { value: expected }) },
  });

export const deleteMetricSource = (
  tables: Tables,
  name: string,
  expected: number,
): Promise<RecordWrite> =>
  deleteRecord(tables, `delete source "${name}"`, {
    key: sourceKey(name),
    expected: { counter: "version", value: expected },
  });

/**
 * The last version of a source of this name that was deleted within a day; 0 when there is none.
 */
export const lastSourceVersion = (tables: Tables, name: string): Promise<number> =>
  lastCount(tables, `read source "${name}"`, sourceKey(name), "version");
