import { foreignText } from "../../../rules/model/foreign-text.ts";
import { originIn } from "../../../rules/model/records.ts";
import type { Rival } from "../../../rules/model/observation.ts";
import type { Status } from "../../../rules/model/windows.ts";
import { withReadableSelectors } from "../../../rules/policy/shared/scale-sentence.ts";
import { countsOf, evaluatedState, heldBy } from "../../../stack/report/evaluation-state.ts";
import { metricReadings } from "../../../stack/sync/observe/metric-readings.ts";
import type {
  AutoscalerState,
  AutoscalerView,
  DecisionView,
  RivalView,
} from "../../views/autoscaler.ts";
import type { Evaluated, AutoscalerSnapshot } from "../partitions/partition-data.ts";
import { overridesView, frozenView, pauseView } from "./holds-view.ts";
import { readable } from "./event-view.ts";
import { rfc3339, secondsBetween, timeText } from "../times.ts";
import { present } from "../../../rules/model/json.ts";

export const autoscalerView = (known: AutoscalerSnapshot): AutoscalerView => {
  const { record, spec, evaluated, syncedMs, nowMs } = known;
  const status = statusOf(known);
  const evaluation = evaluated?.evaluation;
  const { cluster, namespace, name, uid, generation, createdMs, updatedMs, updatedBy } = record;
  return present({
    ...{
      cluster,
      namespace,
      name,
      uid,
      generation,
      ...specView(spec),
      origin: originView(known),
      state: stateOf(known),
    },
    ...{ heldBy: evaluation && heldBy(evaluation), rivals: evaluation?.rivals?.map(rivalView) },
    ...holdsView(known),
    ...overridesView(known),
    ...(status && replicasOf(known, status)),
    metrics: metricsOf(known),
    conditions: (status?.conditions ?? []).map(({ transitionMs, ...condition }) => ({
      ...condition,
      since: rfc3339(transitionMs),
    })),
    ...{
      decision: evaluated && decisionView(evaluated),
      lastScaleAt: timeText(status?.lastScaleMs),
      observedGeneration: evaluation?.generation,
    },
    currentMetrics: evaluation?.status?.currentMetrics ?? undefined,
    ...(syncedMs !== undefined && {
      syncedAt: rfc3339(syncedMs),
      ageSeconds: secondsBetween(syncedMs, nowMs),
    }),
    ...{
      createdAt: rfc3339(createdMs),
      updatedAt: rfc3339(updatedMs),
      updatedBy,
      manifest: JSON.parse(record.manifest) as object,
    },
  });
};

const originView = ({ cluster, record }: AutoscalerSnapshot): AutoscalerView["origin"] => {
  const origin = originIn(cluster, record);
  if (!origin) return undefined;
  const { apiVersion, kind, uid, generation, goneMs } = origin;
  return present({ apiVersion, kind, uid, generation, goneAt: timeText(goneMs) });
};

/** What stops the autoscaler: its own pause, the cluster's pause, the kill switch. */
const holdsView = ({
  cluster,
  record,
  fleet,
  nowMs,
}: AutoscalerSnapshot): Pick<AutoscalerView, "paused" | "clusterPaused" | "frozen"> => {
  const frozen = fleet.frozen && frozenView(fleet.frozen);
  return present({
    paused: pauseView(record.paused, nowMs),
    clusterPaused: pauseView(cluster.paused, nowMs),
    frozen,
  });
};

const specView = (
  spec: AutoscalerSnapshot["spec"],
): Pick<
  AutoscalerView,
  "dialect" | "owner" | "target" | "minReplicas" | "maxReplicas" | "problem"
> => {
  if (spec.kind === "problem") return { dialect: "unknown", problem: spec.message };
  const { dialect, owner, target, minReplicas, maxReplicas } = spec.spec;
  return present({ dialect, owner, target, minReplicas, maxReplicas });
};

/**
 * The count comes from the journal, which is written at least as often as the page and has the
 * observed count.
 */
const statusOf = ({ evaluated, windows }: AutoscalerSnapshot): Status | undefined =>
  evaluated?.evaluation.status ?? windows?.status;

const replicasOf = (
  known: AutoscalerSnapshot,
  status: Status,
): Pick<AutoscalerView, "currentReplicas" | "desiredReplicas" | "lastKnown"> => {
  const { current, desired, lastKnown } = countsOf(known.evaluated?.evaluation, status);
  if (lastKnown)
    return {
      lastKnown: present({ replicas: lastKnown.replicas, at: timeText(lastKnown.sinceMs) }),
    };
  if (current === undefined) return {};
  return present({
    currentReplicas: isReached(known) ? status.desiredReplicas : current,
    desiredReplicas: desired,
  });
};

/** The status has the count before a scale. After a later sync the desired count is reached. */
const isReached = ({ evaluated, syncedMs = 0 }: AutoscalerSnapshot): boolean =>
  evaluated !== undefined &&
  evaluated.evaluation.kind === "scale" &&
  !evaluated.evaluation.refused &&
  syncedMs > evaluated.atMs;

/** Every metric of the spec, as the newest sync measured it. */
export const metricsOf = ({
  spec,
  evaluated,
}: Pick<AutoscalerSnapshot, "spec" | "evaluated">): AutoscalerView["metrics"] =>
  metricReadings(spec.kind === "spec" ? spec.spec : undefined, evaluated?.evaluation).map(readable);

export const decisionView = ({ atMs, evaluation }: Evaluated): DecisionView => {
  const { kind, from, to, because, failed, withoutHold, refused } = evaluation;
  return present({
    ...{
      at: rfc3339(atMs),
      kind,
      from,
      to,
      reason: because.reason,
      message: withReadableSelectors(because.message),
      failed,
    },
    withoutHold: withoutHold && present({ to: withoutHold.to, ...withoutHold.because }),
    refused: refused && foreignText(refused.message),
  });
};

/**
 * The first state that applies. States that stop the autoscaler come before findings of the sync.
 */
const stateOf = ({
  cluster,
  record,
  fleet,
  spec,
  evaluated,
  nowMs,
}: AutoscalerSnapshot): AutoscalerState => {
  if (fleet.frozen) return "frozen";
  if (pauseView(cluster.paused, nowMs) || pauseView(record.paused, nowMs)) return "paused";
  if (spec.kind === "problem") return "invalid";
  return evaluated ? evaluatedState(evaluated.evaluation) : "waiting";
};

export const rivalView = ({ lastScaleMs, because, ...rival }: Rival): RivalView =>
  present({ ...rival, lastScaleAt: timeText(lastScaleMs), ...because });
