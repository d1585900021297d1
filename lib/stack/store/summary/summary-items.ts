import * as z from "zod";
import {
  type AttributeValue,
  DeleteItemCommand,
  PutItemCommand,
  type PutItemCommandInput,
} from "@aws-sdk/client-dynamodb";
import type { PartitionRef } from "../../../rules/model/ids.ts";
import { indexKey, itemKey, type Key, summaryKey } from "../table/keys.ts";
import { getItem } from "../table/read-many.ts";
import { repeatWrite, wasExecuted } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";
import { hash as hashed } from "node:crypto";
import {
  type IndexRow,
  type PartitionIndex,
  type PartitionTrouble,
  TROUBLE_STATES,
  TROUBLING,
  ROW_PROBLEM_KINDS,
  type ProblemCounts,
  type SummaryRow,
  type TokenLife,
} from "../../../rules/model/summary.ts";
import { compress, readIfKnown } from "../table/compressed.ts";
import type { Head } from "../head/head.ts";
import { rowsIn, rowsValue } from "./summary-codec.ts";

/** An item that follows from what a sync found, with the epoch of its writer. */
export interface DerivedItem {
  readonly epoch: number;
  readonly body: Uint8Array;
}

/*
 *  A (epoch 5)  ─────────(stalled)───────── writes @5 ✗     a later summary is there (NEWER)
 *  B (epoch 6)        claims, writes @6
 */
export const NEWER = "attribute_not_exists(epoch) OR epoch <= :epoch";

export const putDerivedParams = (
  stateTable: string,
  key: Key,
  { epoch, body }: DerivedItem,
): PutItemCommandInput => ({
  TableName: stateTable,
  Item: { ...itemKey(key), epoch: { N: String(epoch) }, body: { B: body } },
  ConditionExpression: NEWER,
  ExpressionAttributeValues: { ":epoch": { N: String(epoch) } },
});

/**
 * True where it was stored, also by an earlier attempt. False where a later holder wrote one: the
 * release of this sync will be refused.
 */
const putDerived = (
  tables: Tables,
  action: string,
  key: Key,
  item: DerivedItem,
): Promise<boolean> => {
  const params = putDerivedParams(tables.stateTable, key, item);
  return wasExecuted(tables, action, () => tables.client.send(new PutItemCommand(params)));
};

export const putSummary = (
  tables: Tables,
  partition: PartitionRef,
  item: DerivedItem,
): Promise<boolean> =>
  putDerived(
    tables,
    `write the summary of "${partition.cluster}/${partition.partition}"`,
    summaryKey(partition),
    item,
  );

export const putIndex = (
  tables: Tables,
  partition: PartitionRef,
  item: DerivedItem,
): Promise<boolean> =>
  putDerived(
    tables,
    `write the index of "${partition.cluster}/${partition.partition}"`,
    indexKey(partition),
    item,
  );

/** The item in an answer; `undefined` where it is damaged. */
export const derivedItemOf = (
  item: Readonly<Record<string, AttributeValue>> | undefined,
): DerivedItem | undefined => {
  const epoch = Number(item?.["epoch"]?.N);
  const body = item?.["body"]?.B;
  return Number.isInteger(epoch) && body ? { epoch, body } : undefined;
};

/** Reads the summary item of one partition strongly; absent where there is none. */
export const readSummary = async (
  tables: Tables,
  partition: PartitionRef,
): Promise<DerivedItem | undefined> =>
  derivedItemOf(
    await getItem(
      tables,
      `read the summary of "${partition.cluster}/${partition.partition}"`,
      summaryKey(partition),
    ),
  );

/**
 * Deletes summary and index of a partition that ends. A sync that outlives it may write them once
 * more: they say nothing about another partition of the name.
 */
export const deleteDerived = async (tables: Tables, partition: PartitionRef): Promise<void> => {
  for (const key of [summaryKey(partition), indexKey(partition)]) {
    const params = { TableName: tables.stateTable, Key: itemKey(key) };
    await repeatWrite(
      tables,
      `delete the summary of "${partition.cluster}/${partition.partition}"`,
      () => tables.client.send(new DeleteItemCommand(params)),
    );
  }
};

const VERSION = 1;

const target = z.object({ apiVersion: z.string(), kind: z.string(), name: z.string() });
const pausedField = z.object({
  by: z.string(),
  atMs: z.number(),
  untilMs: z.number().exactOptional(),
});
/** The parts of a row that few rows have. */
const rest = z.object({
  owner: z.string().exactOptional(),
  target: target.exactOptional(),
  minReplicas: z.number().exactOptional(),
  maxReplicas: z.number().exactOptional(),
  labels: z.record(z.string(), z.string()),
  paused: pausedField.exactOptional(),
  hasOverrides: z.literal(true).exactOptional(),
  scheduled: z.literal(true).exactOptional(),
  problem: z.string().exactOptional(),
});
const row = z.tuple([z.string(), z.string(), z.string(), z.number(), z.string(), z.number(), rest]);
const stored = z.tuple([z.number(), z.string(), z.array(row)]);

const rowValue = ({
  namespace,
  name,
  uid,
  generation,
  kind,
  createdMs,
  ...parts
}: IndexRow): z.infer<typeof row> => {
  return [namespace, name, uid, generation, kind, createdMs, parts];
};

const HASH_CHARACTERS = 8;

/**
 * The body of an index, and a hash by which a sync knows that it is stored already, and a reader
 * that it is the index that the head names.
 */
export const encodeIndex = ({
  specVersion,
  clusterIncarnation,
  rows,
}: PartitionIndex): { readonly body: Uint8Array; readonly hash: string } => {
  const value = [specVersion, clusterIncarnation, rows.map(rowValue)];
  return { body: compress(VERSION, value), hash: hashOf(value) };
};

const hashOf = (value: unknown): string =>
  hashed("sha256", JSON.stringify(value), "base64url").slice(0, HASH_CHARACTERS);

/** `undefined` for damage, or a later version: a reader then lists the autoscalers themselves. */
export const decodeIndex = (
  bytes: Uint8Array,
): (PartitionIndex & { readonly hash: string }) | undefined =>
  readIfKnown(bytes, VERSION, (value) => {
    const [specVersion, clusterIncarnation, rows] = stored.parse(value);
    return { specVersion, clusterIncarnation, rows: rows.map(rowOf), hash: hashOf(value) };
  });

const rowOf = ([namespace, name, uid, generation, kind, createdMs, parts]: z.infer<
  typeof row
>): IndexRow => {
  return { namespace, name, uid, generation, kind, createdMs, ...parts };
};

const HEAD_VERSION = 1;

/**
 * What the head of a partition says beside its summary item: each release stores it anew, so that
 * it costs no write of its own.
 */
export interface HeadSummary {
  /**
   * `nowMs` of the sync that wrote it. A head with a later `nowMs` was released by code that knows
   * no summaries: then it does not count.
   */
  readonly atMs: number;
  /** Epoch of the newest summary item, 0 where there is none; and the instant of it. */
  readonly baseEpoch: number;
  readonly baseMs: number;
  /**
   * Epoch of the sync that last found a change in what a reader sees: the version of the partition
   * for readers.
   */
  readonly changedEpoch: number;
  /** Which index of names is the newest (summary.ts). */
  readonly index: { readonly epoch: number; readonly hash: string };
  readonly autoscalers: number;
  /**
   * Autoscalers with a pause, also one that has ended. It counts while the head has this spec
   * version.
   */
  readonly paused: number;
  /** Autoscalers with overrides of their own that have not ended. */
  readonly overridden: number;
  readonly specVersion: number;
  /** How long the sync has taken when it wrote this: its release and what comes after are short. */
  readonly tookMs: number;
  /** Of the token that the newest sync used, where it says its end. */
  readonly token?: TokenLife;
  readonly problems: ProblemCounts;
  readonly trouble: PartitionTrouble;
  /** The rows that changed since the summary item. */
  readonly rows: readonly SummaryRow[];
}

const trouble = z.object({
  state: z.enum(TROUBLE_STATES),
  silent: z.boolean(),
  sinceMs: z.number().exactOptional(),
  error: z.string().exactOptional(),
  unreadable: z.object({ autoscaler: z.string(), message: z.string() }).exactOptional(),
  holds: z.array(
    z.object({
      reason: z.enum(TROUBLING),
      autoscaler: z.string(),
      message: z.string(),
      autoscalers: z.number(),
    }),
  ),
});
const problemCount = z.object({
  autoscalers: z.number(),
  lasting: z.number(),
  oldestMs: z.number(),
});
const storedHead = z.tuple([
  z.number(),
  z.number(),
  z.number(),
  z.number(),
  z.tuple([z.number(), z.string()]),
  // Lastly the end of a token and when another one is due, of clusters with such a token.
  z.tuple([z.number(), z.number(), z.number(), z.number(), z.number()], z.number()),
  z.partialRecord(z.enum(ROW_PROBLEM_KINDS), problemCount),
  trouble.nullable(),
  z.unknown(),
]);

const UNTROUBLED: PartitionTrouble = { state: "ok", silent: false, holds: [] };
const isUntroubled = ({ state, silent, holds, error }: PartitionTrouble): boolean =>
  state === "ok" && !silent && holds.length === 0 && error === undefined;

/** Some sixty bytes while nothing changes and nothing is wrong. */
export const encodeHeadSummary = (summary: HeadSummary): Uint8Array => {
  const {
    atMs,
    baseEpoch,
    baseMs,
    changedEpoch,
    index,
    autoscalers,
    paused,
    overridden,
    specVersion,
    tookMs,
    token,
    problems,
    trouble: wrong,
    rows,
  } = summary;
  const lastly = [
    isUntroubled(wrong) ? null : wrong,
    rows.length === 0 ? null : rowsValue(rows, atMs),
  ];
  return compress(HEAD_VERSION, [
    atMs,
    baseEpoch,
    atMs - baseMs,
    changedEpoch,
    [index.epoch, index.hash],
    [
      ...[autoscalers, paused, specVersion, overridden, tookMs],
      ...(token ? [token.endMs, token.renewByMs] : []),
    ],
    problems,
    ...lastly,
  ]);
};

/** `undefined` for damage, or a later version: a reader then does without. */
export const decodeHeadSummary = (body: Uint8Array | undefined): HeadSummary | undefined =>
  body &&
  readIfKnown(body, HEAD_VERSION, (value) => {
    const [
      atMs,
      baseEpoch,
      sinceBaseMs,
      changedEpoch,
      [epoch, hash],
      [autoscalers, paused, specVersion, overridden, tookMs, endMs, renewByMs],
      problems,
      wrong,
      rows,
    ] = storedHead.parse(value);
    return {
      atMs,
      baseEpoch,
      baseMs: atMs - sinceBaseMs,
      changedEpoch,
      index: { epoch, hash },
      autoscalers,
      paused,
      overridden,
      specVersion,
      tookMs,
      ...(endMs !== undefined && renewByMs !== undefined && { token: { endMs, renewByMs } }),
      problems,
      trouble: wrong ?? UNTROUBLED,
      rows: rows === null ? [] : rowsIn(rows, atMs),
    };
  });

/**
 * What a head says for readers; `undefined` where the newest release wrote no summary: a reader
 * then reads pages and journal.
 */
export const statedIn = ({
  summary,
  nowMs,
}: Pick<Head, "summary" | "nowMs">): HeadSummary | undefined => {
  const stated = decodeHeadSummary(summary);
  return stated && stated.atMs >= nowMs ? stated : undefined;
};
