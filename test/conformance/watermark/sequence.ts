import { watermarkSpecOf } from "../../../lib/rules/manifest/watermark/spec.ts";
import type { GaugeWrite } from "../../../lib/rules/model/decision.ts";
import type { ScaleRead } from "../../../lib/rules/model/observation.ts";
import type { WatermarkSpec } from "../../../lib/rules/model/spec-watermark.ts";
import { type Condition, NEW_WINDOWS, type Windows } from "../../../lib/rules/model/windows.ts";
import { decideWatermark } from "../../../lib/rules/policy/watermark/decide.ts";
import { readyPods } from "../../../lib/rules/policy/watermark/metrics/measure.ts";
import { recommenderRequest } from "../../../lib/rules/policy/watermark/metrics/recommender.ts";
import { afterWatermarkWrite } from "../../../lib/rules/policy/watermark/steps/after-write.ts";
import { type Difference, differences } from "../differences.ts";
import type { CaseRunner } from "../registry.ts";
import { specFrom } from "./raw.ts";
import {
  type Expected,
  type ExpectedCondition,
  type Manifest,
  observationOf,
  type RawScale,
  type Step,
} from "./world.ts";

interface Sequence {
  readonly autoscaler: Manifest;
  readonly config: { readonly skipNotScalingEvents?: boolean; readonly clusterName?: string };
  readonly steps: readonly Step[];
  readonly unsafeFrom?: number;
}

interface Outcome {
  readonly windows: Windows;
  readonly shown: Expected;
}

/** One autoscaler over consecutive syncs; from `unsafeFrom` on nothing is compared. */
export const runSequence: CaseRunner = (vector) => {
  const { autoscaler, config, steps, unsafeFrom } = vector as unknown as Sequence;
  let manifest = autoscaler;
  let scale: RawScale | undefined;
  let pods: NonNullable<Step["pods"]> = [];
  let windows = NEW_WINDOWS;
  const found: Difference[] = [];
  for (const [index, step] of steps.slice(0, unsafeFrom ?? steps.length).entries()) {
    manifest = step.autoscaler ?? manifest;
    scale = step.scale ?? scale;
    pods = step.pods ?? pods;
    if (!scale) throw new RangeError(`Step ${index} has no scale`);
    const outcome = runStep(step, manifest, config, { scale, pods }, windows);
    const expected = merged(
      step.expect,
      windows.status.conditions,
      outcome.windows.status.conditions,
    );
    found.push(...differences(expected, comparable(outcome.shown, step.expect), `steps.${index}`));
    windows = outcome.windows;
  }
  return found;
};

const runStep = (
  step: Step,
  manifest: Manifest,
  config: Sequence["config"],
  state: { readonly scale: RawScale; readonly pods: NonNullable<Step["pods"]> },
  windows: Windows,
): Outcome => {
  const options = {
    skipNotScalingEvents: config.skipNotScalingEvents ?? false,
    clusterName: config.clusterName ?? "",
  };
  const spec = watermarkSpecOf(
    specFrom(manifest.spec),
    manifest.metadata.annotations ?? {},
    options,
  );
  const nowMs = Date.parse(step.now);
  const observation = observationOf(state, step, spec.target);
  const { namespace, name } = manifest.metadata;
  const decision = decideWatermark({ spec, namespace, name, observation, windows, nowMs });
  const request = requestOf(spec, namespace, observation.scale, decision.windows, {
    observation,
    nowMs,
    step,
  });
  if (decision.kind === "hold") {
    return {
      windows: decision.windows,
      shown: shownOf(
        decision,
        decision.windows,
        { written: null },
        decision.events,
        decision.gauges ?? [],
        request,
      ),
    };
  }
  const refusal = state.scale.updateError;
  const after = afterWatermarkWrite({
    decision,
    outcome: refusal ? { kind: "refused", message: refusal.message } : { kind: "applied" },
    atMs: nowMs,
  });
  const counts = refusal ? { written: null, refused: decision.to } : { written: decision.to };
  return {
    windows: after.windows,
    shown: shownOf(decision, after.windows, counts, after.events, after.gauges ?? [], request),
  };
};

/** The body that observing would post; only where the original got as far as asking. */
const requestOf = (
  spec: WatermarkSpec,
  namespace: string,
  scale: { readonly kind: string },
  _windows: Windows,
  {
    observation,
    nowMs,
    step,
  }: {
    readonly observation: Parameters<typeof decideWatermark>[0]["observation"];
    readonly nowMs: number;
    readonly step: Step;
  },
): unknown => {
  if (
    step.expect.recommenderRequest === undefined ||
    spec.recommender === undefined ||
    scale.kind !== "read"
  )
    return undefined;
  const read = observation.scale as ScaleRead;
  const ready = readyPods({ spec, namespace, scale: read, observation, nowMs });
  return ready.kind === "counted"
    ? recommenderRequest(spec, spec.recommender, {
        namespace,
        current: read.specReplicas,
        ready: ready.value,
      })
    : undefined;
};

const shownOf = (
  decision: { readonly dueAgainSeconds?: number | null },
  { status }: Windows,
  counts: { readonly written: number | null; readonly refused?: number },
  events: Expected["events"],
  gauges: readonly GaugeWrite[],
  request: unknown,
): Expected => ({
  ...counts,
  desiredReplicas: status.desiredReplicas,
  ...(status.lastScaleMs === undefined ? {} : { lastScaleTime: timeOf(status.lastScaleMs) }),
  requeueAfterSeconds: decision.dueAgainSeconds ?? null,
  conditions: status.conditions.map(conditionOf),
  events,
  gauges: seriesOf(gauges),
  ...(request === undefined ? {} : { recommenderRequest: request }),
});

const timeOf = (timeMs: number): string => new Date(timeMs).toISOString().replace(".000Z", "Z");

const conditionOf = ({
  type,
  status,
  reason,
  message,
  transitionMs,
}: Condition): ExpectedCondition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: timeOf(transitionMs),
});

/**
 * Series of the gauges that the vectors show, the last write of each; what was taken away again is
 * gone.
 */
const LEFT_OUT = new Set([
  "min_replicas",
  "max_replicas",
  "high_watermark",
  "low_watermark",
  "high_watermak",
  "low_watermak",
  "labels_info",
  "dry_run",
  "conditions",
]);

const seriesOf = (gauges: readonly GaugeWrite[]): Expected["gauges"] => {
  const series = new Map<string, number>();
  for (const { name, labels, value } of gauges) {
    if (LEFT_OUT.has(name)) continue;
    const [label] = Object.entries(labels);
    const key = label ? `${name}{${label[0]}=${label[1]}}` : name;
    if (value === null) series.delete(key);
    else series.set(key, value);
  }
  return Object.fromEntries(series);
};

/**
 * The vectors list only conditions that changed; all the others must be as they were. Order is not
 * asserted.
 */
const merged = (
  expected: Expected,
  before: readonly Condition[],
  after: readonly Condition[],
): unknown => {
  const byType = new Map(before.map((condition) => [condition.type, conditionOf(condition)]));
  for (const condition of expected.conditions) byType.set(condition.type, condition);
  const transitions = new Map(after.map(({ type, transitionMs }) => [type, timeOf(transitionMs)]));
  const conditions = Object.fromEntries(
    [...byType.values()].map((condition) => [
      condition.type,
      expectedCondition(condition, transitions.get(condition.type)),
    ]),
  );
  return {
    ...expected,
    conditions,
    events: expected.events.map(eventKey),
    gauges: roundedGauges(expected.gauges),
    recoveredPanic: undefined,
  };
};

const POSITIONS = new Set(["AboveHighWatermark", "BelowLowWatermark"]);

const expectedCondition = (
  { status, reason, message, lastTransitionTime, type }: ExpectedCondition,
  actualTransition: string | undefined,
) => ({
  status,
  reason,
  message: message === undefined || reason.startsWith("Failed") ? "not compared" : message,
  lastTransitionTime: POSITIONS.has(type) ? lastTransitionTime : actualTransition,
});

/**
 * The original writes it outside the band alone, where it is 0; the dialect writes it inside as
 * well.
 */
const WITHIN_BOUNDS = "restricted_scaling{reason=within_bounds}";

const comparable = (shown: Expected, expected: Expected): unknown => {
  const messages = new Map(expected.conditions.map(({ type, message }) => [type, message]));
  const conditions = Object.fromEntries(
    shown.conditions.map(({ type, status, reason, message, lastTransitionTime }) => {
      const listed = messages.has(type);
      const skipped = reason.startsWith("Failed") || (listed && messages.get(type) === undefined);
      return [
        type,
        { status, reason, message: skipped ? "not compared" : message, lastTransitionTime },
      ];
    }),
  );
  const { [WITHIN_BOUNDS]: within, ...gauges } = shown.gauges;
  const compared = within !== undefined && WITHIN_BOUNDS in expected.gauges ? shown.gauges : gauges;
  return {
    ...shown,
    conditions,
    events: shown.events.map(eventKey),
    gauges: roundedGauges(compared),
  };
};

const eventKey = ({ type, reason, message }: Expected["events"][number]) => ({
  type,
  reason,
  ...(reason === "Scaling" ? { message } : {}),
});

/** Nine significant digits stand for the relative tolerance of 1e-9 that the vectors ask for. */
const roundedGauges = (gauges: Expected["gauges"]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(gauges).map(([key, value]) => [
      key,
      Number(value === "+Inf" ? Infinity : value === "-Inf" ? -Infinity : value).toPrecision(9),
    ]),
  );
