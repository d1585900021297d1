import type { WriteOutcome } from "../../../rules/model/decision.ts";
import type { PartitionRef } from "../../../rules/model/ids.ts";
import type {
  Intent,
  OutsideEventRecord,
  ScaleEventRecord,
} from "../../../rules/model/scale-records.ts";
import type { ReadySpec, OutsideScale } from "../hand-over.ts";

/** What an event says of the attempt itself: most of an intent. */
export type ScaleAttempt = Pick<
  Intent,
  | "id"
  | "uid"
  | "namespace"
  | "name"
  | "target"
  | "decidedMs"
  | "from"
  | "to"
  | "because"
  | "metrics"
  | "steps"
  | "specGeneration"
>;

/**
 * The one constructor of scale events. Its key follows only from the intent, so that one intent has
 * one event, whichever sync settles it and when.
 */
export const scaleEvent = (
  partition: PartitionRef,
  attempt: ScaleAttempt,
  outcome: WriteOutcome,
  settledMs: number,
): ScaleEventRecord => ({
  id: attempt.id,
  uid: attempt.uid,
  cluster: partition.cluster,
  partition: partition.partition,
  namespace: attempt.namespace,
  name: attempt.name,
  target: attempt.target,
  atMs: attempt.decidedMs,
  settledMs,
  from: attempt.from,
  to: attempt.to,
  reason: attempt.because.reason,
  message: attempt.because.message,
  metrics: attempt.metrics,
  steps: attempt.steps,
  specGeneration: attempt.specGeneration,
  outcome: outcome.kind,
  ...(outcome.kind !== "applied" && { detail: outcome.message }),
});

/** The outcome of a stored event. */
export const outcomeOfEvent = (event: ScaleEventRecord): WriteOutcome =>
  event.outcome === "applied"
    ? { kind: "applied" }
    : { kind: event.outcome, message: event.detail ?? "" };

/**
 * Reasons of changes that this stack did not make. Every rule counts those beside another
 * controller; only the native rules count the others.
 */
export const CHANGED_OUTSIDE = "ChangedOutside";
export const CHANGED_BESIDE = "ChangedBeside";

/**
 * The event of a change that this stack did not make. `sinceMs` is the last completed sync that
 * left the count: the same for every sync that finds the change, so that it is one event. It was
 * seen at `settledMs`.
 */
export const outsideEvent = (
  partition: PartitionRef,
  { record, spec }: ReadySpec,
  { from, to, atMs, beside, by }: OutsideScale,
  sinceMs: number,
): OutsideEventRecord => ({
  id: `${record.uid}:outside-${sinceMs}`,
  uid: record.uid,
  cluster: partition.cluster,
  partition: partition.partition,
  namespace: record.namespace,
  name: record.name,
  target: spec.target,
  atMs: sinceMs,
  settledMs: atMs,
  from,
  to,
  reason: beside ? CHANGED_BESIDE : CHANGED_OUTSIDE,
  message: `changed outside Tidemark, ${from} → ${to}${by === undefined ? "" : `, by "${by}"`}${beside ? ", beside another controller of the workload" : ""}`,
  metrics: [],
  steps: [],
  specGeneration: record.origin?.generation ?? record.generation,
  outcome: "outside",
  ...(by !== undefined && { by }),
});
