import type { Lane } from "../../../rules/model/scale-records.ts";
import { LIMIT_LANES } from "./decided.ts";
import { FAILURES } from "./held.ts";

/**
 * What held or cut a count, in one of few kinds, in the order of weight: where several held within
 * one cell of a drawing, the first one is shown.
 */
export const LANES = [
  { lane: "refused", mark: "!", words: "a scale was refused" },
  { lane: "missing", mark: "m", words: "a metric or the count could not be read" },
  { lane: "rival", mark: "v", words: "another controller" },
  { lane: "pause", mark: "z", words: "paused, frozen or a dry run" },
  { lane: "other", mark: "h", words: "another hold" },
  { lane: "bounds", mark: "b", words: "minReplicas or maxReplicas" },
  { lane: "policy", mark: "p", words: "a rate or step policy" },
  { lane: "cool-down", mark: "c", words: "a forbidden window" },
  { lane: "stabilization", mark: "s", words: "stabilization" },
] as const satisfies readonly {
  readonly lane: Lane;
  readonly mark: string;
  readonly words: string;
}[];

const BY_REASON: Readonly<Record<string, Lane>> = {
  ...LIMIT_LANES,
  ...Object.fromEntries(Object.keys(FAILURES).map((reason) => [reason, "missing" as const])),
  FailedUpdateScale: "refused",
  RivalController: "rival",
  RivalsUnknown: "rival",
  OtherStack: "rival",
  TargetShared: "rival",
  FleetFrozen: "pause",
  ClusterPaused: "pause",
  AutoscalerPaused: "pause",
  Paused: "pause",
  PausedBySchedule: "pause",
  HeldByOverride: "pause",
  DryRun: "pause",
  ScalingDisabled: "pause",
  AboveMaxReplicas: "bounds",
  BelowMinReplicas: "bounds",
};

/** The kind of what held a count, by the reason; `undefined` for a reason that holds nothing. */
export const laneOfReason = (reason: string): Lane | undefined => BY_REASON[reason];
