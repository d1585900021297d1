import { PROBLEM_GROUPS, type Problem, type ProblemKind, type ProblemReport } from "../report/problems.ts";
import { MINUTE_MS } from "./plan.ts";

/** What was told of the problems of one kind: how many at each place, and when the last time. */
export interface Told {
  readonly toldMs: number;
  readonly counts: Readonly<Record<string, number>>;
}
export type ToldProblems = Readonly<Partial<Record<ProblemKind, Told>>>;

/** An alarm fires again only after a minute without a rise of its kinds. A rise that comes too soon waits, and is told with the next. */
const APART_MS = 1.5 * MINUTE_MS;
/** How long zeros are sent after the last rise, so that the alarm sees its end. */
const ZEROS_MS = 10 * MINUTE_MS;
/** Places of one kind that are remembered. Beyond them a rise is told again. */
const PLACES_MAX = 2_000;

/*
 *  minute   1        2        3        4        5
 *  down     A        A B      A B      A B      B           A recovers at 5: B goes on, and nothing is told
 *  told     A        –        B        –        –           at 2 the alarm of A is still on: B is told at 3
 */

/** The problems that are new since they were told of, and what to remember. A place that has fewer than before is remembered with fewer, so that its next rise is told. */
export const risenProblems = (
  before: ToldProblems,
  all: readonly Problem[],
  nowMs: number,
): { readonly report: ProblemReport; readonly told: ToldProblems } => {
  const kinds = PROBLEM_GROUPS.flatMap((group) => {
    const lastMs = Math.max(0, ...group.map((kind) => before[kind]?.toldMs ?? 0));
    const ofKind = (kind: ProblemKind): readonly Problem[] => all.filter((problem) => problem.kind === kind);
    return group.map((kind) => ({ kind, ...risenOf(before[kind], ofKind(kind), { nowMs, lastMs }) }));
  });
  return {
    report: { all, risen: kinds.flatMap(({ risen }) => risen), sent: new Set(kinds.flatMap(({ kind, isSent }) => (isSent ? [kind] : []))) },
    told: Object.fromEntries(kinds.flatMap(({ kind, told }) => (told ? [[kind, told] as const] : []))),
  };
};

const risenOf = (
  before: Told | undefined,
  now: readonly Problem[],
  { nowMs, lastMs }: { readonly nowMs: number; readonly lastMs: number },
): { readonly risen: readonly Problem[]; readonly told: Told | undefined; readonly isSent: boolean } => {
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
  return { risen: isDue ? risen : [], told: isSent ? { toldMs, counts: Object.fromEntries(counts) } : undefined, isSent };
};
