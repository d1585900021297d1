import type { Evaluation } from "../../model/records.ts";
import type { AutoscalerSnapshot } from "../snapshot.ts";
import type { AutoscalerState } from "./autoscaler-view.ts";
import { pauseView } from "./pause-view.ts";

/** The first state that applies. States that stop the autoscaler come before findings of the sync. */
export const stateOf = ({ cluster, record, fleet, spec, evaluated, nowMs }: AutoscalerSnapshot): AutoscalerState => {
  if (fleet.frozen) return "frozen";
  if (pauseView(cluster.paused, nowMs) || pauseView(record.paused, nowMs)) return "paused";
  if (spec.kind === "problem") return "invalid";
  if (!evaluated) return "waiting";
  const { evaluation } = evaluated;
  // The newest evaluation is from before the resume.
  if (PAUSES.has(evaluation.because.reason)) return "waiting";
  if (evaluation.failed) return "failing";
  const holder = heldBy(evaluation);
  if (holder === RIVAL) return "shadow";
  if (holder !== undefined) return "held";
  return evaluation.steps.some(({ limit }) => limit) ? "limited" : "active";
};

/** Reasons of lib/report/holds.ts for a pause or a freeze. */
const PAUSES: ReadonlySet<string> = new Set(["FleetFrozen", "ClusterPaused", "AutoscalerPaused"]);

const RIVAL = "rival";

/** What holds the count beside metrics and limits, by the reason of the decision, in one or two words. */
const HOLDERS: Readonly<Record<string, string>> = {
  DatadogMonitorNotOK: "monitor",
  DryRun: "dry run",
  EarlierCluster: "earlier cluster",
  FailedGetDatadogMonitor: "monitor",
  IntentTooLarge: "intent too large",
  NameShared: "shared name",
  ObjectGone: "object gone",
  OtherStack: "other stack",
  Paused: "manifest pause",
  RivalController: RIVAL,
  RivalsUnknown: "rivals unknown",
  ScaleSettled: "unsettled scale",
  ScaleUnsettled: "unsettled scale",
  SpecNotStored: "spec not stored",
  SpecOutdated: "outdated spec",
  SpecOverBudget: "over budget",
  SpecTooLarge: "spec too large",
  SpecUnknown: "spec unread",
  SpecWaits: "spec waits",
  TargetShared: "shared target",
  TenantOverShare: "over its share",
  TooManyScales: "too many scales",
  UnreadableIntent: "unreadable intent",
};

/** What holds an autoscaler beside its metrics; undefined when nothing does. */
export const heldBy = (evaluation: Evaluation): string | undefined => {
  if (evaluation.kind !== "hold") return undefined;
  return HOLDERS[evaluation.because.reason] ?? (isHeld(evaluation) ? evaluation.because.reason : undefined);
};

/** True when a hold beside the rules prevented another count. */
export const isHeld = ({ kind, from, steps, withoutHold }: Evaluation): boolean => {
  const wanted = steps.at(-1)?.after;
  return kind === "hold" && (withoutHold !== undefined || (wanted !== undefined && wanted !== from));
};
