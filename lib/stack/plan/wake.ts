import type { ClusterName, Namespace, PartitionName, PartitionRef } from "../../rules/model/ids.ts";
import { foreignText } from "../../rules/model/foreign-text.ts";
import { present } from "../../rules/model/json.ts";
import type { ClusterRecord } from "../../rules/model/records.ts";
import { SECOND_MS } from "../../rules/model/time-text.ts";
import { markWoken } from "../store/head/wake-mark.ts";
import { partitionOf } from "../store/records/clusters.ts";
import { comparedClock } from "../store/table/repeat.ts";
import { mapWithLimit } from "../store/table/wait-for-all.ts";
import { stampBeside } from "./hold-fleet.ts";
import type { SyncMessage, Woken } from "./message.ts";
import { dueTimes } from "./due-times.ts";
import type { SchedulePorts } from "./schedule.ts";
import { sendPlanned } from "./send-messages.ts";

/** Two syncs that wakes send for one partition are at least this far apart. */
export const WAKES_APART_MS = 5 * SECOND_MS;
/** A planned sync that is due so soon does the work of a wake. */
export const PLANNED_SOON_MS = 2 * SECOND_MS;
/** A mark further ahead than this was made by a wrong clock, and counts for nothing. */
const MARK_AHEAD_MAX_MS = WAKES_APART_MS + PLANNED_SOON_MS + 4 * SECOND_MS;

/**
 * What is woken. It says where something has happened, and never what to do: the sync reads the
 * cluster and its metrics as a planned sync does.
 */
export interface Wake {
  readonly cluster: ClusterName;
  /** Absent: all namespaces. */
  readonly namespace?: Namespace;
  /** Absent: all autoscalers. A sync is of a whole partition; the journal keeps these in any case. */
  readonly names?: readonly string[];
  /** Why, in the words of the sender. */
  readonly reason: string;
}

/**
 * What becomes of a wake in one partition. `sync`: an extra sync is sent. `joins`: an extra sync is
 * ahead. `planned`: a planned sync is due soon. `elsewhere`: the fleet is in another region, which
 * plans its syncs.
 */
export interface WokenPartition {
  readonly kind: "sync" | "joins" | "planned" | "elsewhere";
  readonly partition: PartitionName;
  readonly dueMs: number;
}

type Cluster = Pick<ClusterRecord, "name" | "partitions" | "syncPeriodMs">;

/** The partitions that a wake concerns. None where no partition has the namespace. */
export const partitionsOfWake = (
  cluster: Cluster,
  { namespace }: Pick<Wake, "namespace">,
): readonly PartitionName[] => {
  if (namespace === undefined) return cluster.partitions.map(({ name }) => name);
  const partition = partitionOf(cluster, namespace);
  return partition === undefined ? [] : [partition];
};

/*
 *  planned    12:00:00                                        12:00:15
 *  wakes           :02   :03 :04          :08       :11      :14
 *  syncs           :02        :07            :12              :15
 *                  │     └─ sent by :03, :04 joins it         └─ :14 sends none: 12:00:15 is near
 *                  └─ at once                └─ sent by :08, five seconds after :07
 */

/**
 * When a wake of `nowMs` is served. `lastMs` is the due time of the last sync that a wake has sent
 * for the partition. Every time in the answer is later than `nowMs`, or the sync is still to be
 * sent: so what has happened before the wake is seen by that sync.
 */
export const planWake = (
  cluster: Cluster,
  partition: PartitionName,
  { nowMs, lastMs }: { readonly nowMs: number; readonly lastMs: number | undefined },
): WokenPartition => {
  const last = lastMs !== undefined && lastMs <= nowMs + MARK_AHEAD_MAX_MS ? lastMs : undefined;
  if (last !== undefined && last > nowMs) return { kind: "joins", partition, dueMs: last };
  const earliestMs = Math.max(nowMs, (last ?? Number.NEGATIVE_INFINITY) + WAKES_APART_MS);
  const [first, second] = dueTimes(cluster.name, partition, cluster.syncPeriodMs, {
    fromMs: nowMs,
    untilMs: earliestMs + PLANNED_SOON_MS + 1,
  });
  // A planned sync that is due at this instant may have read the cluster already.
  const plannedMs = first === nowMs ? second : first;
  if (plannedMs !== undefined) return { kind: "planned", partition, dueMs: plannedMs };
  return { kind: "sync", partition, dueMs: first === earliestMs ? earliestMs + 1 : earliestMs };
};

/** Sends the extra syncs of wakes. It remembers marks, so that a storm costs no requests. */
export type Waker = (cluster: Cluster, wake: Wake) => Promise<readonly WokenPartition[]>;

const PARALLEL = 8;
/** Each refusal means that another wake was served. After so many its sync is ahead. */
const ATTEMPTS_MAX = 4;
const REMEMBERED_MAX = 10_000;

/**
 * The one way by which wakes become syncs. Whatever dies between the mark and the message costs the
 * wakes of five seconds: the planned sync does their work, as without wakes.
 */
export const wakerOf = ({ tables, queue }: SchedulePorts): Waker => {
  const marks = knownMarks();
  const inTurn = turnsByPath();
  const stampNow = remembered(tables.clock, () => stampBeside(tables));

  /** One attempt; undefined where another wake was served since the mark was read. */
  const attempted = async (
    cluster: Cluster,
    partition: PartitionName,
    nowMs: number,
  ): Promise<WokenPartition | undefined> => {
    const ref: PartitionRef = { cluster: cluster.name, partition };
    const beforeMs = marks.of(ref);
    const planned = planWake(cluster, partition, { nowMs, lastMs: beforeMs });
    if (planned.kind !== "sync") return planned;
    const { dueMs } = planned;
    const outcome = await markWoken(tables, ref, present({ dueMs, beforeMs }));
    marks.set(ref, outcome.kind === "marked" ? dueMs : outcome.dueMs);
    return outcome.kind === "marked" ? planned : undefined;
  };

  const served = async (
    cluster: Cluster,
    partition: PartitionName,
    clock: () => number,
  ): Promise<WokenPartition> => {
    for (let attempt = 1; attempt < ATTEMPTS_MAX; attempt++) {
      const plan = await attempted(cluster, partition, clock());
      if (plan) return plan;
    }
    // Others were served meanwhile, again and again: the sync of one of them is ahead.
    const plan = planWake(cluster, partition, { nowMs: clock(), lastMs: undefined });
    return { ...plan, kind: "joins" };
  };

  return async (cluster, wake) => {
    const clock = await comparedClock(tables, "wake");
    const stampAt = await stampNow();
    if (!stampAt)
      return partitionsOfWake(cluster, wake).map((partition) => ({
        kind: "elsewhere" as const,
        ...{ partition, dueMs: clock() },
      }));
    const partitions = await mapWithLimit(partitionsOfWake(cluster, wake), PARALLEL, (partition) =>
      inTurn(`${cluster.name}/${partition}`, () => served(cluster, partition, clock)),
    );
    const woken = wokenOf(wake);
    const messages = partitions.flatMap(({ kind, partition, dueMs }): readonly SyncMessage[] =>
      kind === "sync"
        ? [
            {
              ...{ cluster: cluster.name, partition, dueMs, periodMs: cluster.syncPeriodMs, woken },
              ...stampAt(dueMs),
            },
          ]
        : [],
    );
    await sendPlanned({ queue, clock }, messages, PARALLEL);
    return partitions;
  };
};

/** The marks as this process has seen them last. */
const knownMarks = () => {
  const known = new Map<string, number>();
  const pathOf = ({ cluster, partition }: PartitionRef): string => `${cluster}/${partition}`;
  return {
    of: (ref: PartitionRef): number | undefined => known.get(pathOf(ref)),
    set: (ref: PartitionRef, dueMs: number | undefined): void => {
      if (known.size >= REMEMBERED_MAX) known.clear();
      if (dueMs === undefined) known.delete(pathOf(ref));
      else known.set(pathOf(ref), dueMs);
    },
  };
};

/** One piece of work of a path at a time: a wake finds what the wakes before it have marked. */
const turnsByPath = () => {
  const last = new Map<string, Promise<unknown>>();
  return async <Result>(path: string, work: () => Promise<Result>): Promise<Result> => {
    const turn = (last.get(path) ?? Promise.resolve()).then(work, work);
    last.set(path, turn);
    try {
      return await turn;
    } finally {
      if (last.get(path) === turn) last.delete(path);
    }
  };
};

const wokenOf = ({ reason, namespace, names }: Wake): Woken => ({
  reason: foreignText(reason),
  ...present({ namespace, names }),
});

/** How long an environment rests on what it has read, so that a storm of events costs no reads. */
const REMEMBERED_MS = 10 * SECOND_MS;

/** Reads at most once in ten seconds. A failed read is not remembered. */
export const remembered = <Value>(
  clock: () => number,
  read: () => Promise<Value>,
): (() => Promise<Value>) => {
  let last: { readonly atMs: number; readonly value: Promise<Value> } | undefined;
  return () => {
    const nowMs = clock();
    if (last && nowMs - last.atMs < REMEMBERED_MS && nowMs >= last.atMs) return last.value;
    const value = read();
    last = { atMs: nowMs, value };
    value.catch(() => {
      if (last?.value === value) last = undefined;
    });
    return value;
  };
};
