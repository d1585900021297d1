import type { WriteOutcome } from "../model/decision.ts";
import type { PartitionRef } from "../model/ids.ts";
import type { Intent, ScaleEventRecord } from "../model/records.ts";

/** What an event says of the attempt itself: most of an intent. */
export type ScaleAttempt = Pick<
  Intent,
  "id" | "uid" | "namespace" | "name" | "target" | "decidedMs" | "from" | "to" | "because" | "metrics" | "steps" | "specGeneration"
>;

/** The one constructor of scale events. Its key follows from the intent alone, so that one intent has one event, whichever sync settles it and when. */
export const scaleEvent = (partition: PartitionRef, attempt: ScaleAttempt, outcome: WriteOutcome, settledMs: number): ScaleEventRecord => ({
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
  event.outcome === "applied" ? { kind: "applied" } : { kind: event.outcome, message: event.detail ?? "" };
