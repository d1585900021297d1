import { foreignText } from "../../../rules/model/foreign-text.ts";
import { originIn } from "../../../rules/model/records.ts";
import type { Because } from "../../../rules/model/decision.ts";
import type { Rival } from "../../../rules/model/observation.ts";
import type { SummaryRow } from "../../../rules/model/summary.ts";
import { askDialect } from "../../../rules/policy/dialects.ts";
import { podRemarks, podsCondition } from "../../../stack/report/objects/pod-remarks.ts";
import { indexRowOf } from "../../../stack/projections/index-rows.ts";
import { metricReadings } from "../../../stack/projections/metric-readings.ts";
import { type BareRow, bareRowOf, withTargets } from "../../../stack/projections/rows.ts";
import type { AutoscalerRow } from "../../views/row.ts";
import { replicasOf, rowOf, stateOf } from "./known-row.ts";
import type { AutoscalerView, DecisionView, RivalView } from "../../views/autoscaler.ts";
import type { Evaluated } from "../facts/journals.ts";
import type { AutoscalerSnapshot } from "../partitions/partition-data.ts";
import { overridesView, frozenView, pauseView } from "./holds-view.ts";
import { findingsIn } from "./patient.ts";
import { readable, sentenceOf } from "./event-view.ts";
import { rfc3339, secondsBetween, timeText } from "../times.ts";
import { present } from "../../../rules/model/json.ts";

export const autoscalerView = (known: AutoscalerSnapshot): AutoscalerView => {
  const { record, spec, evaluated, syncedMs, nowMs } = known;
  const evaluation = evaluated?.evaluation;
  const status = evaluation?.status ?? known.windows?.status;
  const row = stateRow(known);
  const remarks = podsCounted(known);
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
      state: stateOf(
        { ...(spec.kind === "problem" && { problem: spec.message }) },
        row,
        aroundOf(known),
      ),
    },
    ...{ heldBy: row.heldBy, rivals: evaluation?.rivals?.map(rivalView) },
    ...holdsView(known),
    ...overridesView(known),
    ...replicasOf(row),
    metrics: metricsOf(known),
    conditions: [
      ...(status?.conditions ?? []).map(({ transitionMs, ...condition }) => ({
        ...condition,
        since: rfc3339(transitionMs),
      })),
      ...podsConditions(known, remarks),
    ],
    ...{
      decision: evaluated && decisionView(evaluated),
      lastScaleAt: timeText(status?.lastScaleMs),
      observedGeneration: evaluation?.generation,
    },
    ...{ podsCounted: nonEmptyList(remarks), findings: findingsIn(known) || undefined },
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

/** What is unusual about the pods behind its count, by any rules. */
const podsCounted = ({ spec, evaluated }: AutoscalerSnapshot): readonly Because[] =>
  spec.kind === "problem" || !evaluated
    ? []
    : podRemarks(
        evaluated.evaluation,
        askDialect(spec.spec, ({ explains }, own) => explains.ownPodsOnly(own)),
      );

/**
 * The condition that an object in a cluster has, since the minute that the head has; else, as of a
 * rollout, since the evaluation that shows it.
 */
const podsConditions = (
  { evaluated, podsSinceMs }: AutoscalerSnapshot,
  remarks: readonly Because[],
): AutoscalerView["conditions"] => {
  const condition = podsCondition(remarks);
  if (!condition || !evaluated) return [];
  const sinceMs = Math.min(podsSinceMs ?? evaluated.atMs, evaluated.atMs);
  return [{ ...condition, since: rfc3339(sinceMs) }];
};

const nonEmptyList = <Item>(list: readonly Item[] | undefined): readonly Item[] | undefined =>
  list && list.length > 0 ? list : undefined;

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

/** The state of an autoscaler as its row would have it, from its newest fact and its page. */
const stateRow = ({
  record: { uid },
  spec,
  evaluated,
  windows,
  syncedMs = 0,
  nowMs,
}: AutoscalerSnapshot): BareRow =>
  bareRowOf({
    uid,
    spec: spec.kind === "spec" ? spec.spec : undefined,
    evaluation: evaluated?.evaluation,
    status: windows?.status,
    isPast: evaluated !== undefined && syncedMs > evaluated.atMs,
    nowMs,
  });

const aroundOf = ({ cluster, record, fleet, nowMs }: AutoscalerSnapshot) => ({
  fleet,
  isPaused:
    pauseView(cluster.paused, nowMs) !== undefined || pauseView(record.paused, nowMs) !== undefined,
});

/** What a list shows of an autoscaler that was read whole, and what its row would say. */
export const rowOfSnapshot = (
  known: AutoscalerSnapshot,
  partition: string | undefined,
): { readonly shown: AutoscalerRow; readonly row: SummaryRow } => {
  const { spec, record, evaluated, nowMs } = known;
  const readings = metricReadings(
    spec.kind === "spec" ? spec.spec : undefined,
    evaluated?.evaluation,
  );
  const row = withTargets(stateRow(known), readings);
  const index = indexRowOf(
    spec.kind === "spec"
      ? { kind: "ready", record, spec: spec.spec }
      : { kind: "invalid", record, message: spec.message },
  );
  const around = { ...aroundOf(known), partition, measuredMs: evaluated?.atMs, nowMs };
  return { shown: rowOf(index, row, around), row };
};

/** Every metric of the spec, as the newest sync measured it. */
export const metricsOf = ({
  spec,
  evaluated,
}: Pick<AutoscalerSnapshot, "spec" | "evaluated">): AutoscalerView["metrics"] =>
  metricReadings(spec.kind === "spec" ? spec.spec : undefined, evaluated?.evaluation).map(readable);

export const decisionView = ({ atMs, evaluation, woken }: Evaluated): DecisionView => {
  const { kind, from, to, because, failed, withoutHold, refused } = evaluation;
  return present({
    ...{
      at: rfc3339(atMs),
      kind,
      from,
      to,
      reason: because.reason,
      message: sentenceOf({ ...present({ to }), message: because.message }),
      failed,
    },
    withoutHold: withoutHold && present({ to: withoutHold.to, ...withoutHold.because }),
    refused: refused && foreignText(refused.message),
    woken: woken === undefined ? undefined : foreignText(woken),
  });
};

export const rivalView = ({ lastScaleMs, because, ...rival }: Rival): RivalView =>
  present({ ...rival, lastScaleAt: timeText(lastScaleMs), ...because });
