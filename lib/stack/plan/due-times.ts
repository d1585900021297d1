import type { ClusterName, PartitionName } from "../../rules/model/ids.ts";
import { SECOND_MS } from "../../rules/model/time-text.ts";
import { stableHash } from "../store/pages/plan.ts";

/** The time to plan: `fromMs` is inclusive, `untilMs` exclusive. */
export interface PlannedTime {
  readonly fromMs: number;
  readonly untilMs: number;
}

/**
 * The due times of one partition: every period, shifted by a stable hash so that not all partitions
 * sync in the same second. They are whole seconds, like the delays of the queue.
 */
export const dueTimes = (
  cluster: ClusterName,
  partition: PartitionName,
  periodMs: number,
  { fromMs, untilMs }: PlannedTime,
): readonly number[] => {
  const due: number[] = [];
  for (let at = firstDue(cluster, partition, periodMs, fromMs); at < untilMs; at += periodMs)
    due.push(at);
  return due;
};

/** How many they are: a reader of a day of a fleet lists none. */
export const countDueTimes = (
  cluster: ClusterName,
  partition: PartitionName,
  periodMs: number,
  { fromMs, untilMs }: PlannedTime,
): number =>
  Math.max(0, Math.ceil((untilMs - firstDue(cluster, partition, periodMs, fromMs)) / periodMs));

const firstDue = (
  cluster: ClusterName,
  partition: PartitionName,
  periodMs: number,
  fromMs: number,
): number => {
  const slots = Math.max(1, Math.floor(periodMs / SECOND_MS));
  const shiftMs = (stableHash(`${cluster}/${partition}`) % slots) * SECOND_MS;
  return Math.ceil((fromMs - shiftMs) / periodMs) * periodMs + shiftMs;
};
