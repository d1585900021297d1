import type { Problem } from "../report/problems.ts";
import type { ToldItem } from "../store/records/told-problems.ts";

/** What an owner was told is stored beside what the fleet was told, under a name that no kind of problem has. */
const keyOf = (owner: string): string => `owner:${owner}`;

export interface OwnerNews {
  readonly owner: string;
  readonly news: readonly Problem[];
  /** What to remember. */
  readonly after: ToldItem[string];
}

/** Problems of each of these owners: those with more autoscalers than the owner was told of. What has fewer than before is remembered with fewer, so that its next rise is told. */
export const ownerNews = (before: ToldItem, all: readonly Problem[], owners: Iterable<string>, nowMs: number): readonly OwnerNews[] =>
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
    return { owner, news, after: { toldMs: news.length > 0 ? nowMs : (before[keyOf(owner)]?.toldMs ?? 0), counts } };
  });

const placeOf = ({ kind, key }: Problem): string => `${kind} ${key}`;

/** What is stored of owners. */
export const ownersTold = (found: readonly OwnerNews[]): ToldItem =>
  Object.fromEntries(found.flatMap(({ owner, after }) => (Object.keys(after.counts).length > 0 ? [[keyOf(owner), after] as const] : [])));
