import type { SyncMessage } from "../../plan/message.ts";
import { dueTimes } from "../../plan/due-times.ts";
import { type Undecided, UNDECIDED_KEPT_MS, withUndecided } from "../../store/head/undecided.ts";
import type { Loaded } from "../hand-over.ts";

/*
 *  due          |   |   |   |   |   |
 *  head         ●           this sync    the two between were never done: no sync of them came
 *
 * A sync that a wake sent is due between two planned ones: it makes up for the planned ones before
 * it, and is itself not owed.
 */
export const undecidedAfter = (
  { cluster: name, partition, dueMs, woken }: SyncMessage,
  {
    head,
    cluster: { syncPeriodMs, plannedFromMs = 0 },
    nowMs,
    decided,
  }: Pick<Loaded, "head" | "cluster" | "nowMs"> & { readonly decided: boolean },
): Undecided | undefined => {
  // Before its first sync a partition is not owed any.
  const missed =
    head.dueDoneMs === 0
      ? []
      : dueTimes(name, partition, syncPeriodMs, {
          fromMs: Math.max(head.dueDoneMs + syncPeriodMs, plannedFromMs, nowMs - UNDECIDED_KEPT_MS),
          untilMs: dueMs,
        });
  const own = decided || woken ? [] : [dueMs];
  return withUndecided(head.troubles.undecided, [...missed, ...own], nowMs);
};
