import type { Evaluation } from "../../model/records.ts";
import type { AutoscalerSnapshot } from "../snapshot.ts";
import type { AutoscalerState } from "./autoscaler.ts";
import { pauseView } from "./pauses.ts";

/** The first that holds, strongest first: what stops it from acting comes before what it found. */
export const stateOf = ({ cluster, record, fleet, spec, evaluated, nowMs }: AutoscalerSnapshot): AutoscalerState => {
  if (fleet.frozen) return "frozen";
  if (pauseView(cluster.paused, nowMs) || pauseView(record.paused, nowMs)) return "paused";
  if (spec.kind === "problem") return "invalid";
  if (!evaluated) return "waiting";
  const { evaluation } = evaluated;
  // The newest evaluation is of the time before it was resumed.
  if (PAUSES.has(evaluation.because.reason)) return "waiting";
  if (evaluation.failed) return "failing";
  if (heldBy(evaluation) !== undefined) return "held";
  return evaluation.steps.some(({ limit }) => limit) ? "limited" : "active";
};

/** Reasons of lib/report/holds.ts that say that a person switched it off. */
const PAUSES: ReadonlySet<string> = new Set(["FleetFrozen", "ClusterPaused", "AutoscalerPaused"]);

/** What keeps the count beside the metrics and their limits, by the reason of the decision, in a word or two for a table. */
const HOLDERS: Readonly<Record<string, string>> = {
  DatadogMonitorNotOK: "monitor",
  DryRun: "dry run",
  FailedGetDatadogMonitor: "monitor",
  IntentTooLarge: "intent too large",
  Paused: "manifest pause",
  RivalController: "rival",
  RivalsUnknown: "rivals unknown",
  ScaleSettled: "unsettled scale",
  ScaleUnsettled: "unsettled scale",
  TargetShared: "shared target",
  TooManyScales: "too many scales",
  UnreadableIntent: "unreadable intent",
};

/** What holds an autoscaler beside its metrics, whether or not they ask for another count; undefined where nothing does. */
export const heldBy = (evaluation: Evaluation): string | undefined => {
  if (evaluation.kind !== "hold") return undefined;
  return HOLDERS[evaluation.because.reason] ?? (isHeld(evaluation) ? evaluation.because.reason : undefined);
};

/** True when the rules wanted another count, and something beside them kept it. */
export const isHeld = ({ kind, from, steps, withoutHold }: Evaluation): boolean => {
  const wanted = steps.at(-1)?.after;
  return kind === "hold" && (withoutHold !== undefined || (wanted !== undefined && wanted !== from));
};
