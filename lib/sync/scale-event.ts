import type { WriteOutcome } from "../model/decision.ts";
import type { PartitionRef } from "../model/ids.ts";
import type { Intent, ScaleEventRecord } from "../model/records.ts";

/** The one constructor of scale events. Its key follows from the intent, so that whoever settles it and when, there is one. */
export const scaleEvent = (partition: PartitionRef, intent: Intent, outcome: WriteOutcome, settledMs: number): ScaleEventRecord => ({
  id: intent.id,
  uid: intent.uid,
  cluster: partition.cluster,
  partition: partition.partition,
  namespace: intent.namespace,
  name: intent.name,
  target: intent.target,
  atMs: intent.decidedMs,
  settledMs,
  from: intent.from,
  to: intent.to,
  reason: intent.because.reason,
  message: intent.because.message,
  metrics: intent.metrics,
  steps: intent.steps,
  specGeneration: intent.specGeneration,
  outcome: outcome.kind,
  ...(outcome.kind !== "applied" && { detail: outcome.message }),
});

/** The outcome that a stored event tells. */
export const outcomeOfEvent = (event: ScaleEventRecord): WriteOutcome =>
  event.outcome === "applied" ? { kind: "applied" } : { kind: event.outcome, message: event.detail ?? "" };
