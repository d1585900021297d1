import type { AuditedRequest } from "./audit.ts";

/** What an audit log says of workloads that were taken over. */
export interface Writers {
  /** A sentence for each workload that two wrote, or that none looked after. */
  readonly faults: readonly string[];
  readonly switched: number;
  /**
   * Counts written by the other controller before its object was deleted, and by Tidemark
   * afterwards.
   */
  readonly before: number;
  readonly after: number;
  /** The longest time from a deletion to the next sync of Tidemark, which decides. */
  readonly longestGapMs: number;
  /**
   * The latest write of the other controller after the deletion of its object; it was under way
   * then.
   */
  readonly latestMs: number;
}

export interface WriterRules {
  readonly own: string;
  /** Two periods of syncs: after so long the next sync has read the workload. */
  readonly gapMs: number;
  /** For so long after the deletion a write that was under way may still arrive. */
  readonly underWayMs: number;
}

/*
 *  other  ── PUT ── PUT ──┐ DELETE
 *  own                    └── LIST (a sync) ── PUT ── PUT        a PUT of the other one behind here is a second writer
 *                          gap
 */

/**
 * Holds each workload of the log against the rule that it has one writer at any time, and one that
 * looks after it.
 */
export const writersOf = (
  requests: readonly AuditedRequest[],
  { own, gapMs, underWayMs }: WriterRules,
): Writers => {
  const lists = requests
    .filter(({ what, by }) => what === "list" && by === own)
    .map(({ fromMs }) => fromMs);
  const byPath = Map.groupBy(
    requests.filter(({ what }) => what !== "list"),
    ({ path }) => path,
  );
  const each = [...byPath].map(([path, of]) => workloadOf(path, of, { own, lists }));
  const switched = each.filter(({ deletedMs }) => deletedMs !== undefined);
  const faults = each.flatMap(({ path, gap, latest, overlaps, early }) => [
    ...(gap > gapMs ? [`${path}: the next sync came ${gap} ms after the deletion`] : []),
    ...(latest > underWayMs
      ? [`${path}: the other controller wrote ${latest} ms after the deletion of its object`]
      : []),
    ...(overlaps ? [`${path}: the other controller wrote after Tidemark`] : []),
    ...(early ? [`${path}: Tidemark wrote before the deletion`] : []),
  ]);
  return {
    faults,
    switched: switched.length,
    before: sum(each.map(({ before }) => before)),
    after: sum(each.map(({ after }) => after)),
    longestGapMs: Math.max(0, ...switched.map(({ gap }) => gap)),
    latestMs: Math.max(0, ...switched.map(({ latest }) => latest)),
  };
};

const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, each) => total + each, 0);

const workloadOf = (
  path: string,
  requests: readonly AuditedRequest[],
  { own, lists }: { readonly own: string; readonly lists: readonly number[] },
) => {
  const deletedMs = requests.find(({ what }) => what === "delete")?.untilMs;
  const writes = requests.filter(({ what }) => what === "scale");
  const [ours, others] = [
    writes.filter(({ by }) => by === own),
    writes.filter(({ by }) => by !== own),
  ];
  const [first, last] = [ours[0], others.at(-1)];
  const nextMs = deletedMs === undefined ? undefined : lists.find((fromMs) => fromMs >= deletedMs);
  return {
    path,
    deletedMs,
    // Without a sync after the deletion nobody looks after the workload.
    gap: deletedMs === undefined ? 0 : (nextMs ?? Number.POSITIVE_INFINITY) - deletedMs,
    latest:
      deletedMs === undefined || last === undefined ? 0 : Math.max(0, last.untilMs - deletedMs),
    overlaps: first !== undefined && last !== undefined && last.untilMs > first.fromMs,
    early: first !== undefined && (deletedMs === undefined || first.fromMs < deletedMs),
    before: others.length,
    after: ours.length,
  };
};
