import type { Decision, Limit } from "../../model/decision.ts";
import type { ScaleRead } from "../../model/observation.ts";
import type { WatermarkSpec } from "../../model/spec-watermark.ts";
import type { Status, Windows } from "../../model/windows.ts";
import type { RulesInput } from "../dialect.ts";
import { isTrue } from "../shared/conditions.ts";
import { wholeSeconds } from "../shared/forbidden.ts";
import { choose, outOfBounds, type Verdict } from "./steps/bounds.ts";
import { type Combined, combine, sourcesOf } from "./steps/combine.ts";
import { type Deviations, SAFE } from "./steps/deviations.ts";
import { type Gate, shouldScale } from "./steps/gates.ts";
import { goTime } from "./steps/go-time.ts";
import { blockedByMonitor } from "./steps/lifecycle.ts";
import { type Normalised, normalise } from "./steps/normalise.ts";
import { type Recorder, recorder } from "./steps/recorder.ts";
import {
  dryRunMode,
  failedProcess,
  failedSpecCheck,
  gateSentence,
  gotScale,
  limited,
  limitSentence,
  notScaling,
  processing,
  readyForScale,
  scalingDisabled,
} from "./steps/sentences.ts";

/** What these rules look at; they have no settings of the cluster. */
export interface WatermarkInput extends Pick<RulesInput<WatermarkSpec>, "spec" | "observation" | "windows" | "nowMs"> {
  readonly namespace: string;
  readonly name: string;
}

/** Seconds after which the original looks again (watermark.md 2.2). */
const PERIOD = 15;
const AFTER_ERROR = 1;
const AFTER_MISSING_SCALE = 10;

/**
 * One sync of the `watermark` dialect, step by step (watermark.md 2.2 and 2.10): check the spec, ask the monitor, read the scale, combine the metrics, normalise, pass the gates, and
 * let the bounds have the last word.
 */
export const decideWatermark = (input: WatermarkInput): Decision => {
  const { spec, observation, windows, nowMs } = input;
  const record = recorder(windows.status.conditions, nowMs);
  record.condition(processing);
  if (spec.invalid !== undefined) return invalidSpec(spec.invalid, input, record);
  const blocked = blockedByMonitor(input, record);
  if (blocked !== undefined) return hold(input, record, { ...blocked, failed: false });
  if (observation.scale.kind === "failed") return noScale(observation.scale.failure, input, record);
  return decideStep(sourcesOf, observation.scale, input, record, SAFE);
};

const invalidSpec = (problem: string, input: WatermarkInput, record: Recorder): Decision => {
  record.event("Warning", "FailedSpecCheck", problem);
  record.condition(failedSpecCheck(problem));
  return hold(input, record, { reason: "FailedSpecCheck", message: `Invalid WPA specification: ${problem}`, dueAgainSeconds: null, failed: true });
};

/** A kind that the cluster does not serve is looked for again sooner than a scale that is missing. */
export const NO_KIND_MATCH = "NoKindMatch";

const noScale = (failure: { readonly reason: string; readonly message: string }, input: WatermarkInput, record: Recorder): Decision => {
  const unmapped = failure.reason === NO_KIND_MATCH;
  const message = unmapped ? failure.message : `scale not found: ${failure.message}`;
  record.event("Warning", "FailedProcessWPA", message);
  record.condition(failedProcess);
  return hold(input, record, { reason: "FailedProcessWPA", message, dueAgainSeconds: unmapped ? AFTER_ERROR : AFTER_MISSING_SCALE, failed: true });
};

/** The inner half: the scale is known; `sources` give the proposals. */
export const decideStep = (
  sources: typeof sourcesOf,
  scale: ScaleRead,
  input: WatermarkInput,
  record: Recorder,
  deviations: Deviations,
): Decision => {
  const { spec, namespace, observation } = input;
  record.gauge("dry_run", spec.dryRun ? 1 : 0);
  record.condition(dryRunMode(spec.dryRun));
  record.condition(gotScale);
  record.gauge("min_replicas", spec.minReplicas);
  record.gauge("max_replicas", spec.maxReplicas);
  const combined = combine(sources({ spec, namespace, scale, observation }, record), record);
  if (combined.kind === "failed") return withoutMetrics(combined.message, scale, input, record, deviations);
  return weighed(combined.value, scale, input, record, deviations);
};

/** The original forgets min and max while a metric is unavailable; the bounds are known without it, so they are kept (safe: a bound is never a guess). */
const withoutMetrics = (message: string, scale: ScaleRead, input: WatermarkInput, record: Recorder, deviations: Deviations): Decision => {
  record.event("Warning", "FailedComputeMetricsReplicas", message);
  const verdict = deviations.boundsWithoutMetrics ? outOfBounds(scale, input.spec) : undefined;
  if (verdict) return act(verdict, scale, input, record, input.windows.status.currentMetrics);
  const status = { ...input.windows.status, currentReplicas: scale.statusReplicas };
  return hold(input, record, {
    reason: "FailedComputeMetricsReplicas",
    message,
    dueAgainSeconds: PERIOD,
    failed: true,
    from: scale.specReplicas,
    status,
  });
};

const weighed = (combined: Combined, scale: ScaleRead, input: WatermarkInput, record: Recorder, deviations: Deviations): Decision => {
  const { spec, windows, nowMs } = input;
  const current = scale.specReplicas;
  const wanted = Math.max(combined.replicas, 0);
  record.step("propose", current, wanted);
  const normalised = normalise(current, wanted, combined.ready, spec, record);
  record.condition(limited(normalised.replicas !== wanted, normalised.reason));
  record.step("normalise", wanted, normalised.replicas, limitOf(normalised, wanted));
  const clock = { decisionMs: nowMs, wallMs: nowMs };
  const gate = shouldScale({ current, wanted: normalised.replicas }, combined.stable, windows.status.lastScaleMs, spec, clock, record);
  record.step("gates", normalised.replicas, gate.kind === "open" ? normalised.replicas : current, gateLimit(gate, current));
  if (current === 0) record.condition(scalingDisabled);
  const verdict = choose({ combined, wanted, normalised: normalised.replicas, gate, scale, spec, deviations });
  record.step("bounds", gate.kind === "open" ? normalised.replicas : current, verdict.to);
  const statuses = verdict.overridden ? windows.status.currentMetrics : combined.statuses;
  return act(verdict, scale, input, record, statuses);
};

const limitOf = ({ replicas, bound, limit }: Normalised, wanted: number): Limit | undefined =>
  replicas === wanted ? undefined : { reason: bound, value: limit, message: limitSentence(bound) };

const gateLimit = (gate: Gate, current: number): Limit | undefined =>
  gate.kind === "open" || gate.reason === "NoChange"
    ? undefined
    : {
        reason: gate.reason,
        value: current,
        message: gateSentence(gate.reason),
        ...(gate.untilMs === undefined ? {} : { untilMs: gate.untilMs }),
      };

/** Carries a verdict out: as a scale, as the report of a dry run, or as a hold. */
const act = (verdict: Verdict, scale: ScaleRead, input: WatermarkInput, record: Recorder, currentMetrics: Status["currentMetrics"]): Decision => {
  const { spec, windows, nowMs } = input;
  const status: Status = { ...windows.status, currentReplicas: scale.statusReplicas, currentMetrics };
  const because = { reason: verdict.reason, message: verdict.message };
  if (!verdict.rescale) {
    reportNotScaling(verdict, input, record);
    record.gauge("replicas_scaling_effective", scale.specReplicas);
    const held: Status = { ...status, desiredReplicas: scale.specReplicas };
    return hold(input, record, { ...because, dueAgainSeconds: PERIOD, failed: false, from: scale.specReplicas, status: held });
  }
  record.condition(readyForScale);
  if (spec.dryRun) {
    record.gauge("replicas_scaling_effective", verdict.to);
    const reported: Status = { ...status, desiredReplicas: verdict.to, lastScaleMs: wholeSeconds(nowMs) };
    const message = `Dry run: would scale to ${verdict.to}; ${verdict.message}`;
    return hold(input, record, { reason: "DryRun", message, dueAgainSeconds: PERIOD, failed: false, from: scale.specReplicas, status: reported });
  }
  return { ...decided(input, record, PERIOD, status), kind: "scale", from: scale.specReplicas, to: verdict.to, trigger: verdict.message, because };
};

const reportNotScaling = (verdict: Verdict, { spec, namespace, windows }: WatermarkInput, record: Recorder): void => {
  const target = `${spec.target.kind}/${namespace}/${spec.target.name}`;
  const last = windows.status.lastScaleMs === undefined ? "<nil>" : goTime(windows.status.lastScaleMs);
  if (spec.skipNotScalingEvents) record.condition(notScaling(target, verdict.wanted, last));
  else record.event("Normal", "NotScaling", `Decided not to scale ${target} to ${verdict.wanted} (last scale time was ${last} )`);
};

interface Held {
  readonly reason: string;
  readonly message: string;
  readonly dueAgainSeconds: number | null;
  readonly failed: boolean;
  readonly from?: number;
  readonly status?: Status;
}

const hold = (input: WatermarkInput, record: Recorder, held: Held): Decision => ({
  ...decided(input, record, held.dueAgainSeconds, held.status ?? input.windows.status),
  kind: "hold",
  ...(held.from === undefined ? {} : { from: held.from }),
  because: { reason: held.reason, message: held.message },
  failed: held.failed,
});

const decided = (input: WatermarkInput, record: Recorder, dueAgainSeconds: number | null, status: Status) => {
  record.gauge("scaling_active", isTrue(record.conditions(), "ScalingActive") ? 1 : 0);
  return {
    metrics: record.metrics(),
    steps: record.steps(),
    events: record.events(),
    gauges: record.gauges(),
    dueAgainSeconds,
    windows: { ...input.windows, status: { ...status, conditions: storedConditions(record) } } satisfies Windows,
  };
};

/** Transitions are stored in whole seconds, so a breach first judged by the full clock is later up to a second older (watermark.md 2.18 s). */
export const storedConditions = (record: Pick<Recorder, "conditions">): Status["conditions"] =>
  record.conditions().map((condition) => ({ ...condition, transitionMs: wholeSeconds(condition.transitionMs) }));
