import * as z from "zod";
import {
  type AttributeValue,
  GetItemCommand,
  type GetItemCommandInput,
  type QueryCommandInput,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import type { PartitionRef } from "../../../rules/model/ids.ts";
import { batchGet, getItem, readAll } from "../table/read-many.ts";
import { editsKey, headKey, indexKey, itemKey } from "../table/keys.ts";
import { repeat, repeatWrite, isRefusal } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";
import { mapWithLimit, REQUESTS_AT_ONCE } from "../table/wait-for-all.ts";
import { type HeadIntents, headIntentsOf } from "./intent-codec.ts";
import { type Troubles, troublesOf } from "./troubles.ts";
import { TidemarkError } from "../../../rules/model/errors.ts";

/**
 * The head of a partition: the fence, and what changes in every sync. It takes less than 1 KB while
 * no intent is open.
 */
export interface Head extends HeadIntents {
  /** Raised by every claim. */
  readonly epoch: number;
  /** The epoch that released last (followsCleanRelease). */
  readonly releasedEpoch: number;
  /** Zero when the lease was given back. */
  readonly leaseUntilMs: number;
  readonly dueDoneMs: number;
  /** `nowMs` of the last completed sync. Open recommendation runs reach to here. */
  readonly evaluatedMs: number;
  /** The same of a sync that has stored intents, too: it may have died before it was completed. */
  readonly nowMs: number;
  /** Raised after every edit of an autoscaler of the partition. */
  readonly specVersion: number;
  /** Raised by every write of a holder. */
  readonly writeNumber: number;
  readonly token: string;
  readonly pageGeneration: number;
  /** For each page, by index, its version: the epoch that wrote it. */
  readonly pages: readonly number[];
  /**
   * The mark of a move of namespaces: the version of the cluster when it began. While the cluster
   * still has this version, it is not known whether the move was completed (moving.ts).
   */
  readonly movingVersion?: number;
  /** What keeps its autoscalers from their work. */
  readonly troubles: Troubles;
  /** The protocol version of the code that claimed last (protocol-version.ts). */
  readonly protocol: number;
  /**
   * What changed since the summary item (lib/stack/store/summary/summary-items.ts); absent before
   * the first sync that wrote one. No decision reads it.
   */
  readonly summary?: Uint8Array;
}

const count = z.number().int().nonnegative().default(0);

const stored = z.object({
  epoch: count,
  releasedEpoch: count,
  leaseUntilMs: z.number().default(0),
  dueDoneMs: z.number().default(0),
  evaluatedMs: z.number().default(0),
  nowMs: z.number().default(0),
  specVersion: count,
  writeNumber: count,
  token: z.string().default(""),
  pageGeneration: count,
  pages: z.array(count).default([]),
  intents: z.record(z.string(), z.instanceof(Uint8Array)).default({}),
  movingVersion: z.number().int().exactOptional(),
  protocol: count,
  // Damage here must not stop a partition: nothing rests on it.
  summary: z.instanceof(Uint8Array).optional().catch(undefined),
  troubles: z.string().exactOptional(),
});

/**
 * True when the sync before this claim released its lease after all its writes. Otherwise it died
 * or failed between two writes: what an environment remembers does not count, and late writes may
 * still be on their way.
 */
export const followsCleanRelease = ({
  epoch,
  releasedEpoch,
}: Pick<Head, "epoch" | "releasedEpoch">): boolean => releasedEpoch === epoch - 1;

/** The head in an item. Attributes that were never written are zero. */
const headOf = (item: Readonly<Record<string, AttributeValue>>): Head => {
  const { intents: bodies, summary, troubles, ...rest } = stored.parse(unmarshall(item));
  return {
    ...rest,
    ...(summary && { summary }),
    troubles: troublesOf(troubles),
    ...headIntentsOf(bodies),
  };
};

export const readHeadParams = (stateTable: string, ref: PartitionRef): GetItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(headKey(ref)),
  ConsistentRead: true,
});

/**
 * Reads many heads, a hundred to a request, in the order of the partitions; `undefined` before the
 * first claim. Strongly, unless a reader can do with one of a second ago, for half of the units.
 */
export const readHeads = async (
  tables: Tables,
  refs: readonly PartitionRef[],
  consistent = true,
): Promise<readonly (Head | undefined)[]> => {
  const items = await batchGet(tables, "read the heads of partitions", refs.map(headKey), {
    consistent,
  });
  return items.map((item) => item && headOf(item));
};

export const headToIndexParams = (
  stateTable: string,
  ref: PartitionRef,
  consistent: boolean,
): QueryCommandInput => {
  const { pk, sk: head } = headKey(ref);
  return {
    TableName: stateTable,
    KeyConditionExpression: "pk = :pk AND sk BETWEEN :head AND :index",
    ExpressionAttributeValues: {
      ":pk": { S: pk },
      ":head": { S: head },
      ":index": { S: indexKey(ref).sk },
    },
    ConsistentRead: consistent,
  };
};

/**
 * The head of a partition, absent before the first claim, and the item of its index
 * (lib/stack/store/summary/summary-items.ts).
 */
export interface HeadAndIndex {
  readonly head?: Head;
  readonly indexItem?: Readonly<Record<string, AttributeValue>>;
}

/**
 * Heads together with the indexes that stand next to them, in the order of the partitions. One
 * query for each partition: a query is charged by the sum of its items, so that both take half a
 * unit while they are below 4 KB, as they are with some 100 autoscalers. Asked one by one each
 * takes as much as both.
 */
export const readHeadsAndIndexes = (
  tables: Tables,
  refs: readonly PartitionRef[],
  consistent: boolean,
): Promise<readonly HeadAndIndex[]> =>
  mapWithLimit(refs, REQUESTS_AT_ONCE, async (ref) => {
    const params = headToIndexParams(tables.stateTable, ref, consistent);
    const items = await Array.fromAsync(
      readAll(tables, `read head and index of "${ref.cluster}/${ref.partition}"`, params),
    );
    const itemAt = (sk: string) => items.find((item) => item["sk"]?.S === sk);
    const [head, indexItem] = [itemAt(headKey(ref).sk), itemAt(indexKey(ref).sk)];
    return { ...(head && { head: headOf(head) }), ...(indexItem && { indexItem }) };
  });

/**
 * An eventual read is a second behind at most, as a rule. Within this time after an edit heads are
 * read strongly, also where the clocks of editor and reader differ by some seconds.
 */
const EDIT_SHOWS_MS = 60_000;

/*
 *  editor   record put ── mark, and spec versions raised ── answer
 *  reader                                                          reads the mark strongly ── reads heads: strongly within a minute of the mark, else for half of the units
 *
 * No condition: of two edits at once, either time will do.
 */

/**
 * Marks for readers that an autoscaler was edited. The editor calls it before the edit is answered.
 */
export const markEdited = async (tables: Tables): Promise<void> => {
  const params = {
    TableName: tables.stateTable,
    Key: itemKey(editsKey),
    UpdateExpression: "SET atMs = :at",
    ExpressionAttributeValues: { ":at": { N: String(tables.clock()) } },
  };
  await repeatWrite(tables, "mark an edit", () =>
    tables.client.send(new UpdateItemCommand(params)),
  );
};

/**
 * True where a person may have edited an autoscaler so lately that an eventual read of a head could
 * miss it.
 */
export const wasEditedLately = async (tables: Tables): Promise<boolean> =>
  isLately(
    tables,
    Number(
      (await getItem(tables, "read when autoscalers were edited", editsKey))?.["atMs"]?.N ?? 0,
    ),
  );

/** The same of an edit whose time is known. */
export const isLately = ({ clock }: Pick<Tables, "clock">, editedMs: number): boolean =>
  clock() - editedMs < EDIT_SHOWS_MS;

/** What the function that plans looks at. */
export type HeadGlance = Pick<Head, "evaluatedMs" | "dueDoneMs" | "troubles">;

/**
 * Glances of the heads of many partitions by "CLUSTER/PARTITION"; absent before the first claim.
 * Eventually, for half a read unit each: a minute later they are looked at again. Throws
 * `store.unclear`.
 */
export const readGlances = async (
  tables: Tables,
  refs: readonly PartitionRef[],
): Promise<ReadonlyMap<string, HeadGlance>> => {
  const options = { consistent: false, attributes: ["evaluatedMs", "dueDoneMs", "troubles"] };
  const items = await batchGet(tables, "read the heads of partitions", refs.map(headKey), options);
  return new Map(
    refs.flatMap(({ cluster, partition }, at) => {
      const item = items[at];
      return item
        ? [
            [
              `${cluster}/${partition}`,
              {
                evaluatedMs: Number(item["evaluatedMs"]?.N ?? 0),
                dueDoneMs: Number(item["dueDoneMs"]?.N ?? 0),
                troubles: troublesOf(item["troubles"]?.S),
              },
            ] as const,
          ]
        : [];
    }),
  );
};

/** Reads the head strongly; absent before the first claim. */
export const readHead = async (tables: Tables, ref: PartitionRef): Promise<Head | undefined> => {
  const { Item } = await repeat(tables, `read the head of "${ref.cluster}/${ref.partition}"`, () =>
    tables.client.send(new GetItemCommand(readHeadParams(tables.stateTable, ref))),
  );
  return Item && headOf(Item);
};

/**
 * The condition under which the holder of a lease writes the head: no other sync claimed since, and
 * the holder has seen every write.
 *
 *     epoch        5 ──────────────────────────────┐ 6 claimed: writes under epoch 5 are refused
 *     writeNumber
 *         12 claim → 13 intend → 14 release     a write that is sent twice takes effect once
 */
export const HOLDER_CONDITION = "epoch = :epoch AND writeNumber = :seen";

/** The lease of a partition: the epoch of its claim, and the number of the last write under it. */
export interface Lease {
  readonly partition: PartitionRef;
  readonly epoch: number;
  readonly writeNumber: number;
}

export const holderValues = (lease: Lease, token: string): Record<string, AttributeValue> => ({
  ":epoch": { N: String(lease.epoch) },
  ":seen": { N: String(lease.writeNumber) },
  ":one": { N: "1" },
  ":token": { S: token },
});

export type HeadWrite =
  /** With the head, where the request returns it or it had to be read. */
  | { readonly kind: "written"; readonly head?: Head }
  | { readonly kind: "refused"; readonly head: Head | undefined };

/**
 * Sends one write of the head until its answer is clear. A refusal may be the answer to a repeat
 * (ours or the SDK's) of a request that was executed. The token of the head, read strongly,
 * decides.
 */
export const writeHead = async (
  tables: Tables,
  partition: PartitionRef,
  write: {
    readonly action: string;
    readonly token: string;
    readonly params: UpdateItemCommandInput;
    /** It has no time, and may be sent under a wrong clock. */
    readonly timeless?: true;
  },
): Promise<HeadWrite> => {
  const sendWrite = write.timeless ? repeat : repeatWrite;
  try {
    const { Attributes } = await sendWrite(
      tables,
      `${write.action} "${partition.cluster}/${partition.partition}"`,
      () => tables.client.send(new UpdateItemCommand(write.params)),
    );
    return { kind: "written", ...(Attributes && { head: headOf(Attributes) }) };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const head = await readHead(tables, partition);
    return head?.token === write.token ? { kind: "written", head } : { kind: "refused", head };
  }
};

/**
 * Throws `store.lease-lost` when the write was refused. A sync that lost its lease writes nothing
 * more.
 */
export const mustHold = (lease: Lease, action: string, outcome: HeadWrite): void => {
  if (outcome.kind === "written") return;
  const { cluster, partition } = lease.partition;
  const current = outcome.head?.epoch ?? 0;
  throw new TidemarkError(
    "store.lease-lost",
    `Cannot ${action} "${cluster}/${partition}": epoch is ${current}, not ${lease.epoch}`,
    {
      cluster,
      partition,
      mine: lease.epoch,
      found: current,
    },
  );
};
