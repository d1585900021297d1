import { isDeepStrictEqual } from "node:util";
import {
  PROBLEM_GROUPS,
  type FleetProblem,
  type FleetProblemKind,
  type ProblemReport,
} from "../report/problems.ts";
import { readGlances, type HeadGlance } from "../store/head/head.ts";
import { type ClusterItem, getFleet } from "../store/records/clusters.ts";
import {
  readReported,
  storeReported,
  type ReportedProblems,
} from "../store/records/plan-records.ts";
import type { Tables } from "../store/table/tables.ts";
import { CLUSTER_MS, LASTS_MS, lasting, ALARMING_KINDS } from "../store/head/troubles.ts";
import { type ClusterRecord, type FleetRecord, pausedBy } from "../../rules/model/records.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";

interface CountPorts {
  readonly tables: Tables;
  readonly tell: (report: ProblemReport) => Promise<void>;
  /** Owners who get the problems of their own autoscalers, and how. Default none. */
  readonly owners?:
    | {
        readonly names: Iterable<string>;
        readonly tell: (owner: string, news: readonly FleetProblem[]) => Promise<void>;
      }
    | undefined;
}

/**
 * Counts the problems of the fleet from the heads of all partitions, and reports them. What was
 * reported is stored afterwards: where this ends in between, it is reported once more. Throws where
 * something cannot be read or reported. A report that one owner cannot get keeps no other owner
 * from theirs, and is not sent later: the error raises the alarm of the fleet once, as an alarm
 * that stays on would hide the next cluster.
 */
export const countProblems = async (
  { tables, tell, owners }: CountPorts,
  clusters: readonly ClusterItem[],
): Promise<void> => {
  const refs = clusters.flatMap((item) =>
    item.kind === "read"
      ? item.record.partitions.map(({ name }) => ({ cluster: item.record.name, partition: name }))
      : [],
  );
  const [fleet, before, heads] = await Promise.all([
    getFleet(tables),
    readReported(tables),
    readGlances(tables, refs),
  ]);
  const nowMs = tables.clock();
  const all = problemsOf({ fleet, clusters, heads, nowMs });
  const { report, reported } = risenProblems(before, all, nowMs);
  await tell(report);
  const found = owners ? ownerNews(before, all, owners.names, nowMs) : [];
  const errors: unknown[] = [];
  for (const { owner, news } of found) {
    if (news.length > 0)
      await owners?.tell(owner, news).catch((error: unknown) => void errors.push(error));
  }
  const after = { ...reported, ...reportedToOwners(found) };
  if (!isDeepStrictEqual(after, before)) await storeReported(tables, after);
  if (errors.length > 0) throw errors[0];
};

/**
 * What was reported to an owner is stored beside what was reported of the fleet, under a name that
 * no kind of problem has.
 */
const keyOf = (owner: string): string => `owner:${owner}`;

interface OwnerNews {
  readonly owner: string;
  readonly news: readonly FleetProblem[];
  /** What to remember. */
  readonly after: Reported;
}

/**
 * Problems of each of these owners: those with more autoscalers than were reported to the owner.
 * What has fewer than before is remembered with fewer, so that its next rise is reported.
 */
export const ownerNews = (
  before: ReportedProblems,
  all: readonly FleetProblem[],
  owners: Iterable<string>,
  nowMs: number,
): readonly OwnerNews[] =>
  [...owners].map((owner) => {
    const known = before[keyOf(owner)]?.counts ?? {};
    const own = all.flatMap((problem) => {
      const count = problem.owners?.[owner] ?? 0;
      return count > 0 ? [{ ...problem, count }] : [];
    });
    const news = own.flatMap((problem) => {
      const more = problem.count - (known[placeOf(problem)] ?? 0);
      return more > 0 ? [{ ...problem, count: more }] : [];
    });
    const counts = Object.fromEntries(own.map((problem) => [placeOf(problem), problem.count]));
    return {
      owner,
      news,
      after: { toldMs: news.length > 0 ? nowMs : (before[keyOf(owner)]?.toldMs ?? 0), counts },
    };
  });

const placeOf = ({ kind, key }: FleetProblem): string => `${kind} ${key}`;

/** What is stored of owners. */
export const reportedToOwners = (found: readonly OwnerNews[]): ReportedProblems =>
  Object.fromEntries(
    found.flatMap(({ owner, after }) =>
      Object.keys(after.counts).length > 0 ? [[keyOf(owner), after] as const] : [],
    ),
  );

/**
 * What was reported of the problems of one kind or of an owner: how many at each place, and when
 * the last time.
 */
type Reported = ReportedProblems[string];
export type KindsReported = Readonly<Partial<Record<FleetProblemKind, Reported>>>;

/**
 * An alarm fires again only after a minute without a rise of its kinds. A rise that comes too soon
 * waits, and is reported with the next.
 */
const APART_MS = 1.5 * MINUTE_MS;
/** How long zeros are sent after the last rise, so that the alarm sees its end. */
const ZEROS_MS = 10 * MINUTE_MS;
/** Places of one kind that are remembered. Beyond them a rise is reported again. */
const PLACES_MAX = 2_000;

/*
 *  minute   1        2        3        4        5
 *  down
 *         A        A B      A B      A B      B           A recovers at 5: B goes on, and nothing
 *         is reported
 *  alarm
 *         A        –        B        –        –           at 2 the alarm of A is still on: B is
 *         reported at 3
 */

/**
 * The problems that are new since the last report, and what to remember. A place that has fewer
 * than before is remembered with fewer, so that its next rise is reported.
 */
export const risenProblems = (
  before: KindsReported,
  all: readonly FleetProblem[],
  nowMs: number,
): { readonly report: ProblemReport; readonly reported: KindsReported } => {
  const kinds = PROBLEM_GROUPS.flatMap((group) => {
    const lastMs = Math.max(0, ...group.map((kind) => before[kind]?.toldMs ?? 0));
    const ofKind = (kind: FleetProblemKind): readonly FleetProblem[] =>
      all.filter((problem) => problem.kind === kind);
    return group.map((kind) => ({
      kind,
      ...risenOf(before[kind], ofKind(kind), { nowMs, lastMs }),
    }));
  });
  return {
    report: {
      all,
      risen: kinds.flatMap(({ risen }) => risen),
      sent: new Set(kinds.flatMap(({ kind, isSent }) => (isSent ? [kind] : []))),
    },
    reported: Object.fromEntries(
      kinds.flatMap(({ kind, reported }) => (reported ? [[kind, reported] as const] : [])),
    ),
  };
};

const risenOf = (
  before: Reported | undefined,
  now: readonly FleetProblem[],
  { nowMs, lastMs }: { readonly nowMs: number; readonly lastMs: number },
): {
  readonly risen: readonly FleetProblem[];
  readonly reported: Reported | undefined;
  readonly isSent: boolean;
} => {
  const known = before?.counts ?? {};
  const risen = now.flatMap((problem) => {
    const more = problem.count - (known[problem.key] ?? 0);
    return more > 0 ? [{ ...problem, count: more }] : [];
  });
  const isDue = risen.length > 0 && nowMs - lastMs >= APART_MS;
  const counts = now.slice(0, PLACES_MAX).flatMap(({ key, count }) => {
    const counted = isDue ? count : Math.min(count, known[key] ?? 0);
    return counted > 0 ? [[key, counted] as const] : [];
  });
  const toldMs = isDue ? nowMs : (before?.toldMs ?? 0);
  const isSent = now.length > 0 || nowMs - toldMs < ZEROS_MS;
  return {
    risen: isDue ? risen : [],
    reported: isSent ? { toldMs, counts: Object.fromEntries(counts) } : undefined,
    isSent,
  };
};

/** A partition that was not synced for longer than this many periods is late. */
const LATE_PERIODS = 3;
/** A partition that was just added is planned within this time. */
const FIRST_SYNC_MS = 3 * MINUTE_MS;

/** What the call of the scheduler has read. */
interface Fleet {
  readonly fleet: Pick<FleetRecord, "frozen">;
  readonly clusters: readonly ClusterItem[];
  /** By "CLUSTER/PARTITION". */
  readonly heads: ReadonlyMap<string, HeadGlance>;
  readonly nowMs: number;
}

/**
 * Everything that a person should look at now. A freeze of the fleet and a pause of a cluster
 * silence what is wrong in clusters and autoscalers. They do not silence what is wrong in Tidemark
 * itself: a late partition and a record that cannot be read, because syncs go on while nothing is
 * scaled.
 */
export const problemsOf = ({ fleet, clusters, heads, nowMs }: Fleet): readonly FleetProblem[] =>
  clusters.flatMap((item): readonly FleetProblem[] => {
    if (item.kind === "unreadable") return [{ kind: "unreadable", key: item.name, count: 1 }];
    const { record } = item;
    const glances = record.partitions.map(({ name }) => ({
      path: `${record.name}/${name}`,
      head: heads.get(`${record.name}/${name}`),
    }));
    const late = glances.flatMap(({ path, head }) => lateProblem(record, path, head, nowMs));
    if (fleet.frozen || pausedBy(record, nowMs)) return late;
    return [
      ...late,
      ...clusterProblems(record, glances, nowMs),
      ...glances.flatMap(({ path, head }) => autoscalerProblems(path, head, nowMs)),
    ];
  });

/**
 * Counted from the last edit of the periods and partitions, where that is later: a new partition
 * has time for its first sync.
 */
const lateProblem = (
  { syncPeriodMs, plannedFromMs = 0 }: ClusterRecord,
  path: string,
  head: HeadGlance | undefined,
  nowMs: number,
): readonly FleetProblem[] => {
  const syncedMs = head?.nowMs ?? 0;
  const graceMs = LATE_PERIODS * syncPeriodMs + (syncedMs <= plannedFromMs ? FIRST_SYNC_MS : 0);
  const fromMs = Math.max(syncedMs, plannedFromMs);
  return nowMs - fromMs > graceMs
    ? [{ kind: "late", key: path, count: 1, ...(syncedMs > 0 && { sinceMs: syncedMs }) }]
    : [];
};

type Glance = { readonly path: string; readonly head: HeadGlance | undefined };

const clusterProblems = (
  { name }: ClusterRecord,
  glances: readonly Glance[],
  nowMs: number,
): readonly FleetProblem[] =>
  (["unreachable", "failing"] as const).flatMap((kind) => {
    const since = glances.flatMap(({ head }) => {
      const sinceMs =
        kind === "unreachable" ? head?.troubles.unreachableMs : head?.troubles.failingMs;
      // A second sync has found the same: with a long period, one sync that failed is not five
      // minutes of failure.
      return head && sinceMs !== undefined && head.nowMs > sinceMs && nowMs - sinceMs >= CLUSTER_MS
        ? [sinceMs]
        : [];
    });
    return since.length > 0 ? [{ kind, key: name, count: 1, sinceMs: Math.min(...since) }] : [];
  });

const autoscalerProblems = (
  path: string,
  head: HeadGlance | undefined,
  nowMs: number,
): readonly FleetProblem[] =>
  ALARMING_KINDS.flatMap((kind) => {
    const trouble = head?.troubles.of[kind];
    const count = trouble ? lasting(trouble, nowMs - LASTS_MS[kind]) : 0;
    if (!trouble || count === 0) return [];
    return [
      {
        kind,
        key: path,
        count,
        first: trouble.first,
        ...(trouble.owners && { owners: trouble.owners }),
      },
    ];
  });
