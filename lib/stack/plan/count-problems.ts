import { isDeepStrictEqual } from "node:util";
import type { FleetProblem, ProblemReport } from "../report/problems.ts";
import { type Reported, risenProblems } from "./risen-problems.ts";
import { readGlances, type HeadGlance } from "../store/head/head.ts";
import { type ClusterItem, getFleet } from "../store/records/clusters.ts";
import {
  readReported,
  storeReported,
  type ReportedProblems,
} from "../store/records/plan-records.ts";
import type { Tables } from "../store/table/tables.ts";
import { CLUSTER_MS, goesOn, LASTS_MS, lasting, ALARMING_KINDS } from "../store/head/troubles.ts";
import {
  burnsNow,
  hasBurned,
  isFast,
  isBurning,
  percentOf,
  sharesOf,
  togetherOf,
  undecidedSinceMs,
} from "./decided-share.ts";
import { present } from "../../rules/model/json.ts";
import type { PartitionName } from "../../rules/model/ids.ts";
import { type ClusterRecord, type FleetRecord, pausedBy } from "../../rules/model/records.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";

interface CountPorts {
  readonly tables: Tables;
  readonly tell: (report: ProblemReport) => Promise<void>;
  /** Sends what is new to the people of the fleet, by name. Default nobody. */
  readonly people?: ((news: readonly FleetProblem[]) => Promise<void>) | undefined;
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
  { tables, tell, owners, people }: CountPorts,
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
  await tell({ ...report, decided: decidedOf(clusters, heads, nowMs) });
  const found = owners ? ownerNews(before, all, owners.names, nowMs) : [];
  const errors: unknown[] = [];
  const caught = (error: unknown): void => void errors.push(error);
  if (report.risen.length > 0) await people?.(report.risen).catch(caught);
  for (const { owner, news } of found) {
    if (news.length > 0) await owners?.tell(owner, news).catch(caught);
  }
  const after = { ...reported, ...reportedToOwners(found) };
  if (!isDeepStrictEqual(after, before)) await storeReported(tables, after);
  if (errors.length > 0) throw errors[0];
};

/** Of the whole fleet. */
const decidedOf = (
  clusters: readonly ClusterItem[],
  heads: ReadonlyMap<string, HeadGlance>,
  nowMs: number,
): NonNullable<ProblemReport["decided"]> => {
  const { quarter, day } = togetherOf(
    clusters.flatMap((item) =>
      item.kind === "read"
        ? item.record.partitions.map(({ name }) =>
            sharesOf(item.record, name, heads.get(`${item.record.name}/${name}`), nowMs),
          )
        : [],
    ),
  );
  return present({ quarter: percentOf(quarter), day: percentOf(day) });
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
      const more = problem.past ? 0 : problem.count - (known[placeOf(problem)] ?? 0);
      return more > 0 ? [{ ...problem, count: more }] : [];
    });
    const counts = Object.fromEntries(
      own.flatMap((problem) => {
        const place = placeOf(problem);
        const count = problem.past ? Math.min(problem.count, known[place] ?? 0) : problem.count;
        return count > 0 ? [[place, count] as const] : [];
      }),
    );
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
      name,
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
  const syncedMs = head?.evaluatedMs ?? 0;
  const graceMs = LATE_PERIODS * syncPeriodMs + (syncedMs <= plannedFromMs ? FIRST_SYNC_MS : 0);
  const fromMs = Math.max(syncedMs, plannedFromMs);
  return nowMs - fromMs > graceMs
    ? [{ kind: "late", key: path, count: 1, ...(syncedMs > 0 && { sinceMs: syncedMs }) }]
    : [];
};

interface Glance {
  readonly name: PartitionName;
  readonly path: string;
  readonly head: HeadGlance | undefined;
}

const clusterProblems = (
  record: ClusterRecord,
  glances: readonly Glance[],
  nowMs: number,
): readonly FleetProblem[] => {
  const whole = wholeProblems(record, glances, nowMs);
  return whole.length > 0 ? whole : undecidedProblem(record, glances, nowMs);
};

/** Faults that go on without a break. */
const wholeProblems = (
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
      return head &&
        sinceMs !== undefined &&
        head.evaluatedMs > sinceMs &&
        nowMs - sinceMs >= CLUSTER_MS
        ? [sinceMs]
        : [];
    });
    return since.length > 0 ? [{ kind, key: name, count: 1, sinceMs: Math.min(...since) }] : [];
  });

/**
 * A fault that comes and goes, or changes its kind. A partition that is late has a problem of its
 * own.
 */
const undecidedProblem = (
  record: ClusterRecord,
  glances: readonly Glance[],
  nowMs: number,
): readonly FleetProblem[] => {
  const periodMs = record.syncPeriodMs;
  const found = glances.flatMap(({ name, path, head }) => {
    if (!head || lateProblem(record, path, head, nowMs).length > 0) return [];
    const shares = sharesOf(record, name, head, nowMs);
    const burns = isBurning(shares, periodMs);
    const isOn = burns && burnsNow(record, head, nowMs);
    return burns || hasBurned(shares, periodMs)
      ? [{ head, burns, isOn, fast: isFast(shares, periodMs) }]
      : [];
  });
  if (found.length === 0) return [];
  const since = found.flatMap(({ head }) => undecidedSinceMs(head) ?? []);
  return [
    {
      kind: "undecided",
      key: record.name,
      count: 1,
      ...(since.length > 0 && { sinceMs: Math.min(...since) }),
      ...(found.some(({ fast }) => fast) && { fast: true }),
      ...(!found.some(({ isOn }) => isOn) && {
        past: found.some(({ burns }) => burns) ? "just now" : "for long",
      }),
    },
  ];
};

const autoscalerProblems = (
  path: string,
  head: HeadGlance | undefined,
  nowMs: number,
): readonly FleetProblem[] =>
  ALARMING_KINDS.flatMap((kind) => {
    const trouble = head?.troubles.of[kind];
    const count = trouble ? lasting(trouble, nowMs, LASTS_MS[kind]) : 0;
    if (!trouble || count === 0) return [];
    // What has ended still counts for some minutes, and is no news: after a freeze, nothing is
    // known of what was reported before.
    const isPast = !goesOn(trouble, nowMs);
    return [
      {
        kind,
        key: path,
        count,
        first: trouble.first,
        ...(isPast && { past: "just now" as const }),
        ...(trouble.owners && { owners: trouble.owners }),
      },
    ];
  });
