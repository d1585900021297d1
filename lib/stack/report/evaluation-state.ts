import type { Because, Refusal } from "../../rules/model/decision.ts";
import { foreignText } from "../../rules/model/foreign-text.ts";
import type { Evaluation } from "../../rules/model/scale-records.ts";
import type { Status } from "../../rules/model/windows.ts";
import { CONFLICT } from "../../rules/model/http-status.ts";

/** Codes of an API server that refuses our credentials or rights. */
export const REFUSING_CODES: ReadonlySet<number> = new Set([401, 403]);

/**
 * The refusal of a scale that a person must look at. A conflict is none: the next sync decides on
 * the newer object.
 */
export const seriousRefusal = ({ refused }: Pick<Evaluation, "refused">): Refusal | undefined =>
  refused?.code === CONFLICT ? undefined : refused;

/**
 * What kept an autoscaler from being decided, or its scale from being made; undefined when nothing
 * did.
 */
export const failureOf = (
  evaluation: Pick<Evaluation, "failed" | "failedRead" | "refused">,
): "failing" | "forbidden" | undefined => {
  const { failed, failedRead } = evaluation;
  const code = failed ? (failedRead?.code ?? 0) : seriousRefusal(evaluation)?.code;
  if (code === undefined) return undefined;
  return REFUSING_CODES.has(code) ? "forbidden" : "failing";
};

/** The reason of a scale that was decided and not made. */
export const scaleRefused = (
  { from, to }: Pick<Evaluation, "from" | "to">,
  { code, message }: Refusal,
): Because => ({
  reason: REFUSING_CODES.has(code) ? "ScaleForbidden" : "ScaleRefused",
  message: `the scale from ${from} to ${to} was refused: ${foreignText(message)}`,
});

/**
 * The state of an autoscaler by its newest evaluation. What stops it from outside (a freeze, a
 * pause) and a manifest that cannot be read come before it.
 */
export type EvaluatedState =
  | "active"
  | "failing"
  | "forbidden"
  | "held"
  | "limited"
  | "shadow"
  | "waiting";

/** The first state that applies. */
export const evaluatedState = (evaluation: Evaluation | undefined): EvaluatedState => {
  // None yet, or the newest one is from before the resume.
  if (!evaluation || PAUSES.has(evaluation.because.reason)) return "waiting";
  const failure = failureOf(evaluation);
  if (failure) return failure;
  const holder = heldBy(evaluation);
  if (holder === RIVAL) return "shadow";
  if (holder !== undefined) return "held";
  return evaluation.steps.some(({ limit }) => limit) ? "limited" : "active";
};

/** Reasons of holds.ts for a pause or a freeze. */
const PAUSES: ReadonlySet<string> = new Set(["FleetFrozen", "ClusterPaused", "AutoscalerPaused"]);

const RIVAL = "rival";

/**
 * What holds the count beside metrics and limits, by the reason of the decision, in one or two
 * words.
 */
const HOLDERS: Readonly<Record<string, string>> = {
  DatadogMonitorNotOK: "monitor",
  DryRun: "dry run",
  EarlierCluster: "earlier cluster",
  FailedGetDatadogMonitor: "monitor",
  HeldByOverride: "override",
  IntentTooLarge: "intent too large",
  NameShared: "shared name",
  ObjectDeleting: "being deleted",
  ObjectGone: "object gone",
  OtherStack: "other stack",
  Paused: "manifest pause",
  PausedBySchedule: "schedule pause",
  RivalController: RIVAL,
  RivalsUnknown: "rivals unknown",
  ScaleSettled: "unsettled scale",
  ScaleUnsettled: "unsettled scale",
  SpecNotStored: "spec not stored",
  SpecOutdated: "outdated spec",
  SpecOverBudget: "over budget",
  SpecTooLarge: "spec too large",
  SpecUnknown: "spec unread",
  SpecUnread: "spec not read yet",
  SpecWaits: "spec waits",
  TargetShared: "shared target",
  TenantOverShare: "over its share",
  TooManyScales: "too many scales",
  UnreadableIntent: "unreadable intent",
};

/** What holds an autoscaler beside its metrics; undefined when nothing does. */
export const heldBy = (evaluation: Evaluation): string | undefined => {
  if (evaluation.kind !== "hold") return undefined;
  return (
    HOLDERS[evaluation.because.reason] ??
    (isHeld(evaluation) ? evaluation.because.reason : undefined)
  );
};

/** True when a hold beside the rules prevented another count. */
export const isHeld = ({ kind, from, steps, withoutHold }: Evaluation): boolean => {
  const wanted = steps.at(-1)?.after;
  return (
    kind === "hold" && (withoutHold !== undefined || (wanted !== undefined && wanted !== from))
  );
};

export const hasLimit = ({ limit }: Evaluation["steps"][number]): boolean => limit !== undefined;

/**
 * True where a limit at the maxReplicas in force, of the manifest, a schedule or an override, cuts
 * what is wanted, and the workload has as many.
 */
export const isAtMax = ({
  bounds,
  from,
  steps,
}: Pick<Evaluation, "bounds" | "steps"> & {
  readonly from?: Evaluation["from"] | undefined;
}): boolean => {
  if (!bounds || from === undefined || from < bounds.max) return false;
  return steps.some(
    ({ before, after, limit }) => limit !== undefined && after === bounds.max && before > after,
  );
};

/**
 * The counts of an autoscaler as its newest evaluation has them. Both counts are absent where the
 * evaluation could not read the workload.
 */
export interface EvaluatedCounts {
  readonly current?: number;
  readonly desired?: number;
  /**
   * The last known count, and since when it cannot be read. Absent where the count was read, and
   * where none is known.
   */
  readonly lastKnown?: { readonly replicas: number; readonly sinceMs?: number };
}

/** `status` is the one after the evaluation; without an evaluation, the stored one. */
export const countsOf = (evaluation: Evaluation | undefined, status: Status): EvaluatedCounts => {
  const waitsToBeRead = evaluation?.failed === true && evaluation.from === undefined;
  // The count that the rules want, where a freeze, a pause, a rival or a refusal of the API server
  // prevents it.
  const { withoutHold, refused, to } = evaluation ?? {};
  const wanted = withoutHold?.to ?? (refused ? to : undefined);
  const current = evaluation?.from ?? status.currentReplicas;
  // A stored count of 0 beside a failure may also mean that nothing was ever decided.
  const isUndecided = evaluation?.failed === true && status.desiredReplicas === 0 && current > 0;
  const desired = wanted ?? (isUndecided ? undefined : status.desiredReplicas);
  if (!waitsToBeRead) return { current, ...(desired !== undefined && { desired }) };
  const sinceMs = status.conditions.find(
    (condition) => condition.type === "AbleToScale" && condition.status === "False",
  )?.transitionMs;
  const replicas = Math.max(status.currentReplicas, 0);
  // A stored count of 0 may also mean that no count was ever read.
  return replicas === 0
    ? {}
    : { lastKnown: { replicas, ...(sinceMs !== undefined && { sinceMs }) } };
};
