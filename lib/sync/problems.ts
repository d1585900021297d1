import type { ClusterRecord, FleetRecord } from "../model/records.ts";
import type { Problem } from "../report/problems.ts";
import type { HeadGlance } from "../store/head/head.ts";
import { CLUSTER_MS, LASTS_MS, lasting, TROUBLE_KINDS } from "../store/head/troubles.ts";
import type { ClusterItem } from "../store/records/clusters.ts";
import { MINUTE_MS } from "./plan.ts";
import { pausedBy } from "./stop.ts";

/** A partition that was not synced for longer than this many periods is late. */
const LATE_PERIODS = 3;
/** A partition that was just added is planned within this time. */
const FIRST_SYNC_MS = 3 * MINUTE_MS;

/** What the call of the scheduler has read. */
export interface Fleet {
  readonly fleet: Pick<FleetRecord, "frozen">;
  readonly clusters: readonly ClusterItem[];
  /** By "CLUSTER/PARTITION". */
  readonly heads: ReadonlyMap<string, HeadGlance>;
  readonly nowMs: number;
}

/**
 * Everything that a person should look at now. A freeze of the fleet and a pause of a cluster silence what is wrong in clusters and autoscalers. They do not silence what is wrong in Tidemark itself: a late
 * partition and a record that cannot be read, because syncs go on while nothing is scaled.
 */
export const problemsOf = ({ fleet, clusters, heads, nowMs }: Fleet): readonly Problem[] =>
  clusters.flatMap((item): readonly Problem[] => {
    if (item.kind === "unreadable") return [{ kind: "unreadable", key: item.name, count: 1 }];
    const { record } = item;
    const glances = record.partitions.map(({ name }) => ({ path: `${record.name}/${name}`, head: heads.get(`${record.name}/${name}`) }));
    const late = glances.flatMap(({ path, head }) => lateProblem(record, path, head, nowMs));
    if (fleet.frozen || pausedBy(record, nowMs)) return late;
    return [...late, ...clusterProblems(record, glances, nowMs), ...glances.flatMap(({ path, head }) => autoscalerProblems(path, head, nowMs))];
  });

/** Counted from the last edit of the periods and partitions, where that is later: a new partition has time for its first sync. */
const lateProblem = (
  { syncPeriodMs, plannedFromMs = 0 }: ClusterRecord,
  path: string,
  head: HeadGlance | undefined,
  nowMs: number,
): readonly Problem[] => {
  const syncedMs = head?.nowMs ?? 0;
  const graceMs = LATE_PERIODS * syncPeriodMs + (syncedMs <= plannedFromMs ? FIRST_SYNC_MS : 0);
  const fromMs = Math.max(syncedMs, plannedFromMs);
  return nowMs - fromMs > graceMs ? [{ kind: "late", key: path, count: 1, ...(syncedMs > 0 && { sinceMs: syncedMs }) }] : [];
};

type Glance = { readonly path: string; readonly head: HeadGlance | undefined };

const clusterProblems = ({ name }: ClusterRecord, glances: readonly Glance[], nowMs: number): readonly Problem[] =>
  (["unreachable", "failing"] as const).flatMap((kind) => {
    const since = glances.flatMap(({ head }) => {
      const sinceMs = kind === "unreachable" ? head?.troubles.unreachableMs : head?.troubles.failingMs;
      // A second sync has found the same: with a long period, one sync that failed is not five minutes of failure.
      return head && sinceMs !== undefined && head.nowMs > sinceMs && nowMs - sinceMs >= CLUSTER_MS ? [sinceMs] : [];
    });
    return since.length > 0 ? [{ kind, key: name, count: 1, sinceMs: Math.min(...since) }] : [];
  });

const autoscalerProblems = (path: string, head: HeadGlance | undefined, nowMs: number): readonly Problem[] =>
  TROUBLE_KINDS.flatMap((kind) => {
    const trouble = head?.troubles.of[kind];
    const count = trouble ? lasting(trouble, nowMs - LASTS_MS[kind]) : 0;
    if (!trouble || count === 0) return [];
    return [{ kind, key: path, count, first: trouble.first, ...(trouble.owners && { owners: trouble.owners }) }];
  });
