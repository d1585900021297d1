import type { StepOutcome } from "../model/decision.ts";
import { LATEST_MS } from "../model/instant.ts";
import type { AutoscalerRecord, Evaluation, FleetRecord, ScaleEventRecord, WithoutHold } from "../model/records.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import type { Status, Windows } from "../model/windows.ts";
import type { Found } from "./find.ts";
import { unmeasured } from "./metric-targets.ts";
import type { Evaluated } from "./partition-data.ts";
import { timeText } from "./time-text.ts";
import type { AutoscalerState, AutoscalerView, DecisionView, EventView, FrozenView, MetricView, PauseView, StepView } from "./views.ts";

/** Everything that is known of one autoscaler, before it is put into words. */
export interface Known extends Found {
  readonly spec: { readonly kind: "spec"; readonly spec: AutoscalerSpec } | { readonly kind: "problem"; readonly message: string };
  readonly fleet: FleetRecord;
  readonly windows?: Windows;
  /** Why they cannot be read. */
  readonly windowsProblem?: string;
  readonly evaluated?: Evaluated;
  /** End of the partition's last completed sync. */
  readonly syncedMs?: number;
  readonly nowMs: number;
}

export const autoscalerView = (known: Known): AutoscalerView => {
  const { record, spec, evaluated, syncedMs, nowMs } = known;
  const status = statusOf(known);
  return {
    cluster: record.cluster,
    namespace: record.namespace,
    name: record.name,
    uid: record.uid,
    generation: record.generation,
    ...specView(spec),
    state: stateOf(known),
    ...holdsView(known),
    ...(status && { currentReplicas: currentReplicas(known, status), desiredReplicas: desiredReplicas(known, status) }),
    metrics: metricsOf(known),
    conditions: (status?.conditions ?? []).map(({ transitionMs, ...condition }) => ({ ...condition, since: timeText(transitionMs) })),
    ...(evaluated && { decision: decisionView(evaluated) }),
    ...(status?.lastScaleMs !== undefined && { lastScaleAt: timeText(status.lastScaleMs) }),
    ...(syncedMs !== undefined && { syncedAt: timeText(syncedMs), ageSeconds: secondsBetween(syncedMs, nowMs) }),
    createdAt: timeText(record.createdMs),
    updatedAt: timeText(record.updatedMs),
    updatedBy: record.updatedBy,
    manifest: manifestOf(record),
  };
};

/** What keeps it from acting, whatever it finds: its own pause, its cluster's, the kill switch. */
const holdsView = ({ cluster, record, fleet, nowMs }: Known): Pick<AutoscalerView, "paused" | "clusterPaused" | "frozen"> => {
  const paused = pauseView(record.paused, nowMs);
  const clusterPaused = pauseView(cluster.paused, nowMs);
  return { ...(paused && { paused }), ...(clusterPaused && { clusterPaused }), ...(fleet.frozen && { frozen: frozenView(fleet.frozen) }) };
};

export const frozenView = ({ by, atMs, reason }: NonNullable<FleetRecord["frozen"]>): FrozenView => ({ by, at: timeText(atMs), reason });

export const secondsBetween = (thenMs: number, nowMs: number): number => Math.max(0, Math.floor((nowMs - thenMs) / 1000));

const specView = (spec: Known["spec"]): Pick<AutoscalerView, "dialect" | "owner" | "target" | "minReplicas" | "maxReplicas" | "problem"> => {
  if (spec.kind === "problem") return { dialect: "unknown", problem: spec.message };
  const { dialect, owner, target, minReplicas, maxReplicas } = spec.spec;
  return { dialect, ...(owner !== undefined && { owner }), target, minReplicas, maxReplicas };
};

/** The journal is written at least as often as the page, and with the count that was observed, which the page leaves out. */
const statusOf = ({ evaluated, windows }: Known): Status | undefined => evaluated?.evaluation.status ?? windows?.status;

/** Status tells the count before a scale; once a later sync has ended, what was desired has been reached. */
const currentReplicas = ({ evaluated, syncedMs = 0 }: Known, status: Status): number => {
  if (!evaluated) return status.currentReplicas;
  const { atMs, evaluation } = evaluated;
  const reached = evaluation.kind === "scale" && syncedMs > atMs;
  return reached ? status.desiredReplicas : (evaluation.from ?? status.currentReplicas);
};

/** What the rules want, though a freeze, a pause or a rival keeps it from being written. */
const desiredReplicas = ({ evaluated }: Known, status: Status): number => evaluated?.evaluation.withoutHold?.to ?? status.desiredReplicas;

/**
 * Every metric of the spec, as the sync found it: one that went straight to a bound measures nothing, one of a workload at rest its activation alone. A metric that failed has
 * its target from the spec, which lists them in the same order. Metrics of a spec that has changed since are given as they were found.
 */
export const metricsOf = ({ spec, evaluated }: Pick<Known, "spec" | "evaluated">): AutoscalerView["metrics"] => {
  const found = evaluated?.evaluation.metrics ?? [];
  if (spec.kind === "problem") return found;
  const wanted = unmeasured(spec.spec);
  const whole = found.length === wanted.length ? found : completed(found, wanted);
  return whole.map((metric, at) => (metric.kind === "failed" ? { ...metric, target: wanted[at]?.target ?? "none" } : metric));
};

const completed = (found: readonly MetricView[], wanted: readonly MetricView[]): readonly MetricView[] =>
  found.every(({ name }) => wanted.some((metric) => metric.name === name))
    ? wanted.map((metric) => found.find(({ name }) => name === metric.name) ?? metric)
    : found;

/** The first that holds, strongest first: what stops it from acting comes before what it found. */
const stateOf = ({ cluster, record, fleet, spec, evaluated, nowMs }: Known): AutoscalerState => {
  if (fleet.frozen) return "frozen";
  if (pauseView(cluster.paused, nowMs) || pauseView(record.paused, nowMs)) return "paused";
  if (spec.kind === "problem") return "invalid";
  if (!evaluated) return "waiting";
  const { evaluation } = evaluated;
  // The newest evaluation is of the time before it was resumed.
  if (PAUSES.has(evaluation.because.reason)) return "waiting";
  if (evaluation.failed) return "failing";
  if (isHeld(evaluation)) return "held";
  return evaluated.evaluation.steps.some(({ limit }) => limit) ? "limited" : "active";
};

/** Reasons of lib/report/holds.ts that say that somebody switched it off. */
const PAUSES: ReadonlySet<string> = new Set(["FleetFrozen", "ClusterPaused", "AutoscalerPaused"]);

/** True when the rules wanted another count, and something beside them kept it: a rival, an unsettled scale. */
export const isHeld = ({ kind, from, steps }: Evaluation): boolean => {
  const wanted = steps.at(-1)?.after;
  return kind === "hold" && wanted !== undefined && wanted !== from;
};

/** A pause that is still on; one whose end has come is over without an edit. */
export const pauseView = (paused: AutoscalerRecord["paused"], nowMs: number): PauseView | undefined => {
  if (!paused || (paused.untilMs !== undefined && paused.untilMs <= nowMs)) return undefined;
  return { by: paused.by, at: timeText(paused.atMs), ...(paused.untilMs !== undefined && { until: timeText(Math.min(paused.untilMs, LATEST_MS)) }) };
};

const manifestOf = ({ manifest }: AutoscalerRecord): unknown => JSON.parse(manifest);

export const decisionView = ({ atMs, evaluation }: Evaluated): DecisionView => ({
  at: timeText(atMs),
  kind: evaluation.kind,
  ...(evaluation.from !== undefined && { from: evaluation.from }),
  ...(evaluation.to !== undefined && { to: evaluation.to }),
  reason: evaluation.because.reason,
  message: evaluation.because.message,
  failed: evaluation.failed,
  ...(evaluation.withoutHold && { withoutHold: withoutHoldView(evaluation.withoutHold) }),
});

const withoutHoldView = ({ to, because }: WithoutHold): NonNullable<DecisionView["withoutHold"]> => ({ ...(to !== undefined && { to }), ...because });

export const stepView = ({ step, before, after, limit }: StepOutcome): StepView => {
  if (!limit) return { step, before, after };
  const { untilMs, ...rest } = limit;
  return { step, before, after, limit: { ...rest, ...(untilMs !== undefined && { until: timeText(untilMs) }) } };
};

export const stepViews = (steps: Evaluation["steps"]): readonly StepView[] => steps.map(stepView);

export const eventView = (event: ScaleEventRecord): EventView => ({
  id: event.id,
  at: timeText(event.atMs),
  settledAt: timeText(event.settledMs),
  cluster: event.cluster,
  namespace: event.namespace,
  name: event.name,
  target: event.target,
  from: event.from,
  to: event.to,
  reason: event.reason,
  message: event.message,
  outcome: event.outcome,
  ...(event.detail !== undefined && { detail: event.detail }),
  partition: event.partition,
  uid: event.uid,
  specGeneration: event.specGeneration,
  metrics: event.metrics,
  steps: stepViews(event.steps),
});
