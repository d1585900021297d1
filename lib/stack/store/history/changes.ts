import { isDeepStrictEqual } from "node:util";
import type { QueryCommandInput } from "@aws-sdk/client-dynamodb";
import type { ChangeRecord } from "../../../rules/model/changes.ts";
import { TidemarkError } from "../../../rules/model/errors.ts";
import {
  type AutoscalerName,
  type AutoscalerRef,
  type AutoscalerUid,
  autoscalerName,
  type ClusterName,
  clusterName,
  namespace,
} from "../../../rules/model/ids.ts";
import type { AutoscalerRecord } from "../../../rules/model/records.ts";
import { DAY_MS } from "../../../rules/model/time-text.ts";
import { hasDictionaries, packed, unpacked } from "../table/compressed.ts";
import {
  autoscalerHistoryPk,
  CHANGE_SK_PREFIX,
  changeKey,
  clusterChangeKey,
  clusterChangesPk,
  deletedKey,
  deletedPk,
  type Key,
  sortableMs,
} from "../table/keys.ts";
import { readAll } from "../table/read-many.ts";
import type { Tables } from "../table/tables.ts";
import { EVENT_DAYS_KEPT, ttlOf } from "./events.ts";
import {
  type HistoryItem,
  historyItemOf,
  type InsertHistory,
  readAllWritten,
  readHistory,
} from "./item.ts";

/**
 * A change is stored as its difference from one that is at most this old. That one is kept for as
 * much longer.
 */
export const BASE_DAYS_MAX = 30;
/**
 * Changes that a reader reads together, half as many as a page of a list has: the bases that they
 * refer to are read at once, a hundred to a request.
 */
export const CHANGES_TOGETHER = 1_600;
/**
 * Bases that a reader keeps beside the bases of the changes that it reads. The changes of one
 * autoscaler follow each other, and many have one base.
 */
const BASES_KEPT = 64;

/** The text of a base, made when the first change asks for it. */
type Base = () => Uint8Array | undefined;

const baseOf = (item: HistoryItem | undefined): Base => {
  let text: Uint8Array | undefined;
  return () => {
    text ??= item && changeText(item);
    return text;
  };
};

/** A change as it is stored, and its cluster, which says where its base is. */
export interface StoredChange {
  readonly item: HistoryItem;
  readonly cluster: ClusterName;
}

/**
 * Reads changes in their order, each base once, and the bases of many changes at once. What cannot
 * be read is thrown when its turn comes.
 */
export const changeReader = (
  tables: Tables,
): ((changes: readonly StoredChange[]) => AsyncGenerator<ChangeRecord>) => {
  let bases = new Map<string, Base>();
  const nameOf = ({ pk, sk }: Key): string => `${pk} ${sk}`;
  return async function* (changes) {
    const refers = new Map(
      changes
        .flatMap(({ item, cluster }) => baseKeyOf(item, cluster) ?? [])
        .map((key) => [nameOf(key), key]),
    );
    const missing = [...refers].filter(([name]) => !bases.has(name));
    const items = await readAllWritten(
      tables,
      missing.map(([, key]) => key),
    );
    const read = missing.map(([name], at) => [name, baseOf(items[at])] as const);
    const kept = [...bases].slice(-BASES_KEPT);
    bases = new Map([...kept, ...[...bases].filter(([name]) => refers.has(name)), ...read]);
    for (const { item, cluster } of changes) {
      const key = baseKeyOf(item, cluster);
      yield JSON.parse(
        Buffer.from(changeText(item, key && bases.get(nameOf(key))?.())).toString(),
      ) as ChangeRecord;
    }
  };
};

/** The changes of a query, in its order. */
async function* changesIn(
  tables: Tables,
  cluster: ClusterName,
  action: string,
  params: QueryCommandInput,
): AsyncGenerator<ChangeRecord> {
  const read = changeReader(tables);
  let together: StoredChange[] = [];
  for await (const item of readAll(tables, action, params)) {
    together.push({ item: historyItemOf(item), cluster });
    if (together.length < CHANGES_TOGETHER) continue;
    yield* read(together);
    together = [];
  }
  yield* read(together);
}

/**
 * The change that the next edit of a record can refer to. On doubt, none: the next change is then
 * stored whole, which needs no other.
 */
export const changeBaseOf = async (
  tables: Tables,
  ref: AutoscalerRef,
  { uid, wholeChange }: Pick<AutoscalerRecord, "uid" | "wholeChange">,
): Promise<ChangeBase | undefined> => {
  if (!wholeChange || tables.clock() - wholeChange.atMs > BASE_DAYS_MAX * DAY_MS) return undefined;
  const id = `${uid}:${wholeChange.generation}`;
  const item = await readHistory(tables, changeKey(ref, id));
  try {
    return item && { id, text: changeText(item), bytes: item.body.length };
  } catch {
    return undefined;
  }
};

export interface InsertedChange {
  /** The stored edit of this id: another editor may have been first. */
  readonly stored: ChangeRecord;
  /** True where later changes can refer to this one. */
  readonly isWhole: boolean;
}

/**
 * Inserts an edit before it is made, and returns the stored edit of this id. It is inserted twice.
 * The first insert, under its autoscaler, decides; the second is under its cluster. An editor that
 * dies between the two does not make the edit. A deletion is also noted under the name, beside the
 * first insert: no deletion is made without.
 */
export const insertChange = async (
  { tables, insert }: { readonly tables: Tables; readonly insert: InsertHistory },
  change: ChangeRecord,
  base?: ChangeBase,
): Promise<InsertedChange> => {
  const { body, isWhole } = changeBody(change, base);
  const rest = { body, ttlSeconds: ttlOf(change.atMs, EVENT_DAYS_KEPT + BASE_DAYS_MAX) };
  const [outcome] = await insert([
    { ...changeKey(change, change.id), ...rest },
    ...(change.verb === "delete" ? [deletedItem(change)] : []),
  ]);
  const { value: earlier } =
    outcome?.kind === "duplicate"
      ? await changeReader(tables)([{ item: outcome.stored, cluster: change.cluster }]).next()
      : {};
  const stored: ChangeRecord = earlier ?? change;
  // An equal stored edit is this one, inserted by an earlier attempt of the same call.
  if (isDeepStrictEqual(stored, change))
    await insert([{ ...clusterChangeKey(change.cluster, change), ...rest }]);
  return { stored, isWhole };
};

/** It stays for as long as the events of the autoscaler, which are older. */
const deletedItem = (change: ChangeRecord): HistoryItem => ({
  ...deletedKey(change, change.atMs),
  body: "deleted",
  ttlSeconds: ttlOf(change.atMs, EVENT_DAYS_KEPT),
});

/**
 * Where autoscalers of this name were deleted, each place once. The deletion may not have been made
 * at last, and another autoscaler may have the name again.
 */
export const deletedPlaces = async (
  tables: Tables,
  name: AutoscalerName,
): Promise<readonly AutoscalerRef[]> => {
  const params: QueryCommandInput = {
    TableName: tables.historyTable,
    KeyConditionExpression: "pk = :pk",
    ExpressionAttributeValues: { ":pk": { S: deletedPk(name) } },
  };
  const places = new Map<string, AutoscalerRef>();
  for await (const item of readAll(tables, `look for deleted autoscalers "${name}"`, params)) {
    const [cluster = "", inside = ""] = historyItemOf(item).sk.split("#");
    places.set(`${cluster}#${inside}`, {
      cluster: clusterName(cluster),
      namespace: namespace(inside),
      name,
    });
  }
  return [...places.values()];
};

export const changesParams = (historyTable: string, ref: AutoscalerRef): QueryCommandInput => ({
  TableName: historyTable,
  KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
  ExpressionAttributeValues: {
    ":pk": { S: autoscalerHistoryPk(ref) },
    ":prefix": { S: CHANGE_SK_PREFIX },
  },
});

/**
 * Edits of one autoscaler by name, in order of uid and then of generation as text. The existing
 * generations decide which edits took effect.
 */
export async function* changesOf(tables: Tables, ref: AutoscalerRef): AsyncGenerator<ChangeRecord> {
  yield* changesIn(
    tables,
    ref.cluster,
    `read the changes of "${ref.namespace}/${ref.name}"`,
    changesParams(tables.historyTable, ref),
  );
}

export const changesOfUidParams = (
  historyTable: string,
  ref: AutoscalerRef,
  uid: AutoscalerUid,
): QueryCommandInput => ({
  TableName: historyTable,
  KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
  ExpressionAttributeValues: {
    ":pk": { S: autoscalerHistoryPk(ref) },
    ":prefix": { S: `${CHANGE_SK_PREFIX}${uid}:` },
  },
  ConsistentRead: true,
});

/**
 * True when another edit is based on this generation: its editor has read the record with it, so
 * this generation was stored. An editor inserts its change before it writes the record, so that no
 * write over this generation is missed.
 */
export const isBaseOfChange = async (
  tables: Tables,
  ref: AutoscalerRef,
  uid: AutoscalerUid,
  generation: number,
): Promise<boolean> => {
  const params = changesOfUidParams(tables.historyTable, ref, uid);
  for await (const change of changesIn(
    tables,
    ref.cluster,
    `read the changes of "${ref.namespace}/${ref.name}"`,
    params,
  )) {
    if (change.baseGeneration === generation) return true;
  }
  return false;
};

/** Edits of every autoscaler of a cluster, also of deleted ones, in order of time. */
export const clusterChangesParams = (
  historyTable: string,
  cluster: ClusterName,
  sinceMs: number,
): QueryCommandInput => ({
  TableName: historyTable,
  KeyConditionExpression: "pk = :pk AND sk >= :since",
  ExpressionAttributeValues: {
    ":pk": { S: clusterChangesPk(cluster) },
    ":since": { S: `${CHANGE_SK_PREFIX}${sortableMs(Math.max(0, sinceMs))}` },
  },
});

/** The first byte of a change that is read by itself. */
const WHOLE = 1;
/**
 * The first byte of a change that says only how it differs from an earlier one of its autoscaler,
 * its base.
 */
const DIFFERENCE = 2;
const SEPARATOR = "\n";

/** A change that is the base of later ones. */
export interface ChangeBase {
  readonly id: string;
  readonly text: Uint8Array;
  /** Of its body, as it is stored. */
  readonly bytes: number;
}

/**
 * A difference that is larger than this share of its base saves too little, and the change becomes
 * a new base.
 */
const DIFFERENCE_SHARE_MAX = 0.5;

/**
 * The bytes of a change. An edit of one field of a large manifest is some hundred bytes: the
 * manifest before and after are almost what the base says. The base is named, never a chain of
 * changes, so that one more read restores any change.
 */
export const changeBody = (
  change: ChangeRecord,
  base: ChangeBase | undefined,
): { readonly body: Uint8Array; readonly isWhole: boolean } => {
  const text = Buffer.from(JSON.stringify(change));
  if (base && hasDictionaries()) {
    const head = Buffer.from(`${change.namespace} ${change.name} ${base.id}${SEPARATOR}`);
    const difference = packed(text, base.text);
    if (difference.length <= base.bytes * DIFFERENCE_SHARE_MAX)
      return { body: Buffer.concat([Buffer.of(DIFFERENCE), head, difference]), isWhole: false };
  }
  return { body: Buffer.concat([Buffer.of(WHOLE), packed(text)]), isWhole: true };
};

/**
 * The key of the change that a difference refers to; absent for one that is read by itself. Names
 * and uids have neither spaces nor line ends.
 */
export const baseKeyOf = (
  { body }: Pick<HistoryItem, "body">,
  cluster: ClusterName,
): Key | undefined => {
  if (typeof body === "string" || body[0] !== DIFFERENCE) return undefined;
  const [inside = "", name = "", id = ""] = headOf(body).split(" ");
  return changeKey({ cluster, namespace: namespace(inside), name: autoscalerName(name) }, id);
};

const headOf = (body: Uint8Array): string =>
  Buffer.from(body.subarray(1, body.indexOf(SEPARATOR.charCodeAt(0)))).toString();

/** The text of a change, from its item and the text of its base. Throws `store.unreadable`. */
export const changeText = (item: HistoryItem, base?: Uint8Array): Uint8Array => {
  const { body } = item;
  if (typeof body === "string") throw unreadable(item, "its body is not compressed");
  try {
    if (body[0] === WHOLE) return unpacked(body.subarray(1));
    if (body[0] === DIFFERENCE && base)
      return unpacked(body.subarray(body.indexOf(SEPARATOR.charCodeAt(0)) + 1), base);
  } catch (error) {
    throw unreadable(item, `its bytes are damaged: ${String(error)}`, error);
  }
  throw unreadable(
    item,
    body[0] === DIFFERENCE
      ? `the change "${headOf(body)}" that it refers to is missing`
      : `its version is ${body[0]}`,
  );
};

const unreadable = ({ sk }: Key, why: string, cause?: unknown): TidemarkError =>
  new TidemarkError(
    "store.unreadable",
    `Cannot read the change "${sk}": ${why}`,
    { key: sk },
    { cause },
  );
