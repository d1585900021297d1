import { foreignText } from "../../model/foreign-text.ts";
import { originIn, type AutoscalerRecord } from "../../model/records.ts";
import type { Rival } from "../../model/observation.ts";
import type { Status } from "../../model/windows.ts";
import { withReadableSelectors } from "../../policy/shared/scale-sentence.ts";
import { countsOf, evaluatedState, heldBy } from "../../report/evaluation-state.ts";
import { metricReadings } from "../../sync/observe/metric-readings.ts";
import type { AutoscalerState, AutoscalerView, DecisionView, RivalView } from "../../views/autoscaler.ts";
import type { Evaluated, AutoscalerSnapshot } from "../partitions/partition-data.ts";
import { overridesView, frozenView, pauseView } from "./holds-view.ts";
import { readable } from "./event-view.ts";
import { rfc3339, secondsBetween } from "../times.ts";
import type { WithoutHold } from "../../model/scale-records.ts";

export const autoscalerView = (known: AutoscalerSnapshot): AutoscalerView => {
  const { record, spec, evaluated, syncedMs, nowMs } = known;
  const status = statusOf(known);
  return {
    cluster: record.cluster,
    namespace: record.namespace,
    name: record.name,
    uid: record.uid,
    generation: record.generation,
    ...specView(spec),
    ...originView(known),
    state: stateOf(known),
    ...heldByView(evaluated),
    ...rivalsView(evaluated),
    ...holdsView(known),
    ...overridesView(known),
    ...(status && replicasOf(known, status)),
    metrics: metricsOf(known),
    conditions: (status?.conditions ?? []).map(({ transitionMs, ...condition }) => ({ ...condition, since: rfc3339(transitionMs) })),
    ...(evaluated && { decision: decisionView(evaluated) }),
    ...(status?.lastScaleMs !== undefined && { lastScaleAt: rfc3339(status.lastScaleMs) }),
    ...(evaluated?.evaluation.generation !== undefined && { observedGeneration: evaluated.evaluation.generation }),
    ...(evaluated?.evaluation.status?.currentMetrics && { currentMetrics: evaluated.evaluation.status.currentMetrics }),
    ...(syncedMs !== undefined && { syncedAt: rfc3339(syncedMs), ageSeconds: secondsBetween(syncedMs, nowMs) }),
    createdAt: rfc3339(record.createdMs),
    updatedAt: rfc3339(record.updatedMs),
    updatedBy: record.updatedBy,
    manifest: manifestOf(record),
  };
};

const originView = ({ cluster, record }: AutoscalerSnapshot): Pick<AutoscalerView, "origin"> => {
  const origin = originIn(cluster, record);
  if (!origin) return {};
  const { apiVersion, kind, uid, generation, goneMs } = origin;
  return { origin: { apiVersion, kind, uid, generation, ...(goneMs !== undefined && { goneAt: rfc3339(goneMs) }) } };
};

/** What stops the autoscaler: its own pause, the cluster's pause, the kill switch. */
const holdsView = ({ cluster, record, fleet, nowMs }: AutoscalerSnapshot): Pick<AutoscalerView, "paused" | "clusterPaused" | "frozen"> => {
  const paused = pauseView(record.paused, nowMs);
  const clusterPaused = pauseView(cluster.paused, nowMs);
  return { ...(paused && { paused }), ...(clusterPaused && { clusterPaused }), ...(fleet.frozen && { frozen: frozenView(fleet.frozen) }) };
};

const specView = (
  spec: AutoscalerSnapshot["spec"],
): Pick<AutoscalerView, "dialect" | "owner" | "target" | "minReplicas" | "maxReplicas" | "problem"> => {
  if (spec.kind === "problem") return { dialect: "unknown", problem: spec.message };
  const { dialect, owner, target, minReplicas, maxReplicas } = spec.spec;
  return { dialect, ...(owner !== undefined && { owner }), target, minReplicas, maxReplicas };
};

/** The count comes from the journal, which is written at least as often as the page and has the observed count. */
const statusOf = ({ evaluated, windows }: AutoscalerSnapshot): Status | undefined => evaluated?.evaluation.status ?? windows?.status;

const replicasOf = (known: AutoscalerSnapshot, status: Status): Pick<AutoscalerView, "currentReplicas" | "desiredReplicas" | "lastKnown"> => {
  const { current, desired, lastKnown } = countsOf(known.evaluated?.evaluation, status);
  if (lastKnown) {
    const { replicas, sinceMs } = lastKnown;
    return { lastKnown: { replicas, ...(sinceMs !== undefined && { at: rfc3339(sinceMs) }) } };
  }
  if (current === undefined) return {};
  return { currentReplicas: isReached(known) ? status.desiredReplicas : current, ...(desired !== undefined && { desiredReplicas: desired }) };
};

/** The status has the count before a scale. After a later sync the desired count is reached. */
const isReached = ({ evaluated, syncedMs = 0 }: AutoscalerSnapshot): boolean =>
  evaluated !== undefined && evaluated.evaluation.kind === "scale" && !evaluated.evaluation.refused && syncedMs > evaluated.atMs;

const heldByView = (evaluated: AutoscalerSnapshot["evaluated"]): Pick<AutoscalerView, "heldBy"> => {
  const holder = evaluated && heldBy(evaluated.evaluation);
  return holder === undefined ? {} : { heldBy: holder };
};

const rivalsView = (evaluated: AutoscalerSnapshot["evaluated"]): Pick<AutoscalerView, "rivals"> => {
  const rivals = evaluated?.evaluation.rivals;
  return rivals === undefined ? {} : { rivals: rivals.map(rivalView) };
};

/** Every metric of the spec, as the newest sync measured it. */
export const metricsOf = ({ spec, evaluated }: Pick<AutoscalerSnapshot, "spec" | "evaluated">): AutoscalerView["metrics"] =>
  metricReadings(spec.kind === "spec" ? spec.spec : undefined, evaluated?.evaluation).map(readable);

const manifestOf = ({ manifest }: AutoscalerRecord): unknown => JSON.parse(manifest);

export const decisionView = ({ atMs, evaluation }: Evaluated): DecisionView => ({
  at: rfc3339(atMs),
  kind: evaluation.kind,
  ...(evaluation.from !== undefined && { from: evaluation.from }),
  ...(evaluation.to !== undefined && { to: evaluation.to }),
  reason: evaluation.because.reason,
  message: withReadableSelectors(evaluation.because.message),
  failed: evaluation.failed,
  ...(evaluation.withoutHold && { withoutHold: withoutHoldView(evaluation.withoutHold) }),
  ...(evaluation.refused && { refused: foreignText(evaluation.refused.message) }),
});

const withoutHoldView = ({ to, because }: WithoutHold): NonNullable<DecisionView["withoutHold"]> => ({ ...(to !== undefined && { to }), ...because });

/** The first state that applies. States that stop the autoscaler come before findings of the sync. */
const stateOf = ({ cluster, record, fleet, spec, evaluated, nowMs }: AutoscalerSnapshot): AutoscalerState => {
  if (fleet.frozen) return "frozen";
  if (pauseView(cluster.paused, nowMs) || pauseView(record.paused, nowMs)) return "paused";
  if (spec.kind === "problem") return "invalid";
  return evaluated ? evaluatedState(evaluated.evaluation) : "waiting";
};

export const rivalView = ({ lastScaleMs, because, ...rival }: Rival): RivalView => ({
  ...rival,
  ...(lastScaleMs !== undefined && { lastScaleAt: rfc3339(lastScaleMs) }),
  ...because,
});
