import {
  type AttributeValue,
  type QueryCommandInput,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from "@aws-sdk/client-dynamodb";
import { TidemarkError } from "../../../rules/model/errors.ts";
import {
  type AutoscalerRef,
  type AutoscalerUid,
  autoscalerUid,
  type ClusterName,
  type Namespace,
  type PartitionRef,
} from "../../../rules/model/ids.ts";
import type { AutoscalerRecord } from "../../../rules/model/records.ts";
import { batchGet, readAll } from "../table/read-many.ts";
import {
  autoscalerKey,
  autoscalersPk,
  DELETED,
  headKey,
  itemKey,
  namespacePrefix,
} from "../table/keys.ts";
import { repeat, wasExecuted } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";
import { autoscalerSchema, recordIn, type RecordItem } from "./schemas.ts";
import {
  isTombstone,
  deleteRecord,
  lastCount,
  putRecord,
  type RecordWrite,
  readRecord,
} from "./write.ts";

/**
 * An autoscaler as its item holds it, or why it cannot be read. An unreadable item stops only its
 * own autoscaler.
 */
export type AutoscalerItem = RecordItem<
  AutoscalerRecord,
  { namespace: string; name: string; uid?: AutoscalerUid }
>;

const itemOf = (item: Readonly<Record<string, AttributeValue>>): AutoscalerItem => {
  const [namespace = "", name = ""] = (item["sk"]?.S ?? "").split("#");
  const uid = item["uid"]?.S;
  return recordIn(item, autoscalerSchema, {
    namespace,
    name,
    ...(uid !== undefined && { uid: autoscalerUid(uid) }),
  });
};

const nameOf = (ref: AutoscalerRef): string =>
  `autoscaler "${ref.namespace}/${ref.name}" in cluster "${ref.cluster}"`;

/** Reads one autoscaler strongly; absent when there is none. Throws `store.unreadable`. */
export const getAutoscaler = async (
  tables: Tables,
  ref: AutoscalerRef,
): Promise<AutoscalerRecord | undefined> => {
  const item = await readRecord(tables, `read ${nameOf(ref)}`, autoscalerKey(ref));
  if (!item) return undefined;
  const read = itemOf(item);
  if (read.kind === "read") return read.record;
  throw new TidemarkError("store.unreadable", `Cannot read ${nameOf(ref)}: ${read.message}`, {
    ...ref,
  });
};

/**
 * Reads many autoscalers strongly, a hundred to a request, in the order of `refs`; `undefined`
 * where there is none.
 */
export const getAutoscalers = async (
  tables: Tables,
  refs: readonly AutoscalerRef[],
): Promise<readonly (AutoscalerItem | undefined)[]> => {
  const items = await batchGet(tables, "read autoscalers", refs.map(autoscalerKey), {
    consistent: true,
  });
  return items.map((item) => (item && !isTombstone(item) ? itemOf(item) : undefined));
};

/**
 * Stores a record with its new generation, if the stored record has the uid `expectedUid`, its own
 * as a rule, and the generation `expected`. Without `expected` it creates the record: none may be
 * stored, and its generation must be above the generation of a deleted one (`lastGeneration`).
 * Raise the spec version of the partition after it.
 */
export const putAutoscaler = (
  tables: Tables,
  record: AutoscalerRecord,
  expected: number | undefined,
  expectedUid = record.uid,
): Promise<RecordWrite> =>
  putRecord(tables, `store ${nameOf(record)}`, {
    key: autoscalerKey(record),
    record,
    expected: {
      counter: "generation",
      ...(expected !== undefined && { value: expected, uid: expectedUid }),
    },
  });

/**
 * Deletes the autoscaler with this uid and the generation `expected`. Raise the spec version of the
 * partition after it.
 */
export const deleteAutoscaler = (
  tables: Tables,
  record: AutoscalerRef & Pick<AutoscalerRecord, "uid">,
  expected: number,
): Promise<RecordWrite> =>
  deleteRecord(tables, `delete ${nameOf(record)}`, {
    key: autoscalerKey(record),
    expected: { counter: "generation", value: expected, uid: record.uid },
  });

/**
 * The last generation of an autoscaler of this name that was deleted within a day; 0 when there is
 * none.
 */
export const lastGeneration = (tables: Tables, ref: AutoscalerRef): Promise<number> =>
  lastCount(tables, `read ${nameOf(ref)}`, autoscalerKey(ref), "generation");

/** The last autoscaler of a page of a list. It may be deleted since. */
export type AfterAutoscaler = Pick<AutoscalerRef, "namespace" | "name">;

export const listAutoscalersParams = (
  stateTable: string,
  cluster: ClusterName,
  namespace?: Namespace,
  { after, pageSize, consistent = true }: ListPart = {},
): QueryCommandInput => ({
  TableName: stateTable,
  ConsistentRead: consistent,
  ...(pageSize !== undefined && { Limit: pageSize }),
  ...(after && { ExclusiveStartKey: itemKey(autoscalerKey({ cluster, ...after })) }),
  ...(namespace === undefined
    ? {
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": { S: autoscalersPk(cluster) } },
      }
    : {
        KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
        ExpressionAttributeValues: {
          ":pk": { S: autoscalersPk(cluster) },
          ":prefix": { S: namespacePrefix(namespace) },
        },
      }),
});

/** The part of a list to read: what follows `after`, in requests of `pageSize` items. */
export interface ListPart {
  readonly after?: AfterAutoscaler;
  readonly pageSize?: number;
  /** False where what was stored a second ago will do (`wasEditedLately`), for half of the units. */
  readonly consistent?: boolean;
}

/**
 * The autoscalers of a cluster or of one namespace, in order of namespace and name, read strongly
 * unless the part says otherwise, and page by page.
 */
export async function* listAutoscalers(
  tables: Tables,
  cluster: ClusterName,
  namespace?: Namespace,
  part?: ListPart,
): AsyncGenerator<AutoscalerItem> {
  const params = listAutoscalersParams(tables.stateTable, cluster, namespace, part);
  for await (const item of readAll(tables, `list the autoscalers of cluster "${cluster}"`, params))
    if (!isTombstone(item)) yield itemOf(item);
}

/** What people set on some autoscalers, beside the manifest. */
type SetAttribute = "paused" | "overrides";

/**
 * The autoscalers of a cluster, or of one namespace, that have one of these: a pause or overrides,
 * also expired ones. The table reads all autoscalers and sends only these.
 */
export async function* listAutoscalersWith(
  tables: Tables,
  attributes: readonly SetAttribute[],
  cluster: ClusterName,
  namespace?: Namespace,
): AsyncGenerator<AutoscalerRecord> {
  const filter = attributes.map((attribute) => `attribute_exists(${attribute})`).join(" OR ");
  const params = {
    ...listAutoscalersParams(tables.stateTable, cluster, namespace),
    FilterExpression: filter,
  };
  for await (const item of readAll(
    tables,
    `list the autoscalers of cluster "${cluster}" with ${attributes.join(" or ")}`,
    params,
  )) {
    const read = isTombstone(item) ? undefined : itemOf(item);
    if (read?.kind === "read") yield read.record;
  }
}

/*
 *  put manifest (generation 5) ── raise spec version
 *         a sync between the two reads the old or the new manifest, and either is whole
 *                              └─ died ✗
 *         a repeat raises it; without a repeat, specs in memory expire after five minutes
 */
export const raiseSpecVersionParams = (
  stateTable: string,
  ref: PartitionRef,
): UpdateItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(headKey(ref)),
  UpdateExpression: "SET specVersion = if_not_exists(specVersion, :zero) + :one",
  ExpressionAttributeValues: { ":zero": { N: "0" }, ":one": { N: "1" } },
  ReturnValues: "UPDATED_NEW",
});

/**
 * Makes the next sync of the partition read its specs again, and returns the new version. A repeat
 * that raises it twice costs one more read. It has no time, and an edit that is stored must be
 * seen, so it is sent under any clock.
 */
export const raiseSpecVersion = async (tables: Tables, ref: PartitionRef): Promise<number> => {
  const { Attributes } = await repeat(
    tables,
    `raise the spec version of "${ref.cluster}/${ref.partition}"`,
    () => tables.client.send(new UpdateItemCommand(raiseSpecVersionParams(tables.stateTable, ref))),
  );
  return Number(Attributes?.["specVersion"]?.N);
};

/*
 *  sync A  LIST without the object ── mark 12:00:00 ────────────────── LIST without it ── ends the autoscaler
 *  sync B                     LIST without the object ── mark ✗ (one is there)
 *  sync C                                    LIST with the object ── takes the mark off
 *
 * The mark is no edit: it leaves the generation as it is, so that it disturbs no editor. An edit
 * that was on its way may bring an old mark back; the next LIST with the object takes it off.
 */
const SAME_OBJECT = "uid = :uid AND attribute_exists(#origin)";
const ALIVE = `attribute_not_exists(${DELETED})`;

export const goneMarkParams = (
  stateTable: string,
  record: AutoscalerRecord,
  goneMs: number | undefined,
): UpdateItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(autoscalerKey(record)),
  UpdateExpression:
    goneMs === undefined
      ? "REMOVE #origin.goneMs"
      : "SET #origin.goneMs = if_not_exists(#origin.goneMs, :gone)",
  ConditionExpression: `${SAME_OBJECT} AND ${ALIVE}`,
  ExpressionAttributeNames: { "#origin": "origin" },
  ExpressionAttributeValues: {
    ":uid": { S: record.uid },
    ...(goneMs !== undefined && { ":gone": { N: String(goneMs) } }),
  },
});

/**
 * Notes on the record since when its object is gone; `undefined` takes the note off. Nothing
 * happens where the record was replaced or deleted in the meantime: the next sync looks again.
 */
export const markGone = async (
  tables: Tables,
  record: AutoscalerRecord,
  goneMs: number | undefined,
): Promise<void> => {
  const params = goneMarkParams(tables.stateTable, record, goneMs);
  const action = `mark "${record.namespace}/${record.name}" in cluster "${record.cluster}"`;
  await wasExecuted(tables, action, () => tables.client.send(new UpdateItemCommand(params)));
};
