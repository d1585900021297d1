import {
  type FleetProblem,
  type FleetProblemKind,
  ONE_FAULT,
  PROBLEM_GROUPS,
  type ProblemReport,
} from "../report/problems.ts";
import type { ReportedProblems } from "../store/records/plan-records.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";

/**
 * What was reported of the problems of one kind or of an owner: how many at each place, and when
 * the last time.
 */
export type Reported = ReportedProblems[string];
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
      ...risenOf(knownOf(before, kind), ofKind(kind), { nowMs, lastMs }),
    }));
  });
  return {
    report: {
      all: all.filter(({ past }) => !past),
      risen: kinds.flatMap(({ risen }) => risen),
      sent: new Set(kinds.flatMap(({ kind, isSent }) => (isSent ? [kind] : []))),
    },
    reported: Object.fromEntries(
      kinds.flatMap(({ kind, reported }) => (reported ? [[kind, reported] as const] : [])),
    ),
  };
};

/** Stand for a reported fault that comes and goes, after it has ended once, and for long. */
const ENDED_ONCE = 2;
const ENDED_LONG = 3;

/*
 *  down     ██████████        ██          ██████████
 *  kind     . . unreachable   undecided . . . . unreachable
 *  report       1                               2           it had ended in between
 *
 *  cause    no API ██ no metrics ██ no API ██████
 *  kind     . . undecided . . . . . . . . . unreachable
 *  report       1                                           one fault
 */

/**
 * What was reported of the kind, or of another kind of the same fault. A fault that has ended once
 * is no longer the one that was reported, where a cluster then is down for good.
 */
const knownOf = (before: KindsReported, kind: FleetProblemKind): Reported | undefined => {
  if (!ONE_FAULT.has(kind)) return before[kind];
  const counts = [...ONE_FAULT].flatMap((other) =>
    Object.entries(before[other]?.counts ?? {}).filter(
      ([, count]) => kind === "undecided" || count < ENDED_ONCE,
    ),
  );
  const own = before[kind];
  // Syncs that were late have been reported as such.
  if (kind === "undecided")
    counts.unshift(...placesOf(before.late).map((cluster) => [cluster, 1] as [string, number]));
  return counts.length === 0 && !own
    ? undefined
    : { toldMs: own?.toldMs ?? 0, counts: Object.fromEntries(counts) };
};

/** The clusters of partitions. */
const placesOf = (reported: Reported | undefined): readonly string[] =>
  Object.keys(reported?.counts ?? {}).map((path) => path.split("/")[0] ?? "");

const rememberedOf = (
  { kind, count, past }: FleetProblem,
  known: number,
  isReported: boolean,
): number => {
  if (kind === "undecided" && known > 0 && (past || (known >= ENDED_ONCE && !isReported)))
    return past === "for long" ? ENDED_LONG : Math.max(ENDED_ONCE, known);
  return isReported && !past ? count : Math.min(count, known);
};

/** A fault that had ended for long, and has a third of the last 15 minutes, has come back. */
const countedOf = ({ fast }: FleetProblem, known: number): number =>
  fast && known === ENDED_LONG ? 0 : known;

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
    const more = problem.past ? 0 : problem.count - countedOf(problem, known[problem.key] ?? 0);
    return more > 0 ? [{ ...problem, count: more }] : [];
  });
  const isDue = risen.length > 0 && nowMs - lastMs >= APART_MS;
  const counts = now.slice(0, PLACES_MAX).flatMap((problem) => {
    const counted = rememberedOf(problem, known[problem.key] ?? 0, isDue);
    return counted > 0 ? [[problem.key, counted] as const] : [];
  });
  const toldMs = isDue ? nowMs : (before?.toldMs ?? 0);
  const isSent = now.length > 0 || nowMs - toldMs < ZEROS_MS;
  return {
    risen: isDue ? risen : [],
    reported: isSent ? { toldMs, counts: Object.fromEntries(counts) } : undefined,
    isSent,
  };
};
