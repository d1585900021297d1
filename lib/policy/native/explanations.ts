import type { NativeMetric, NativeSpec, NativeRules } from "../../model/spec-native.ts";
import type { Explanations, MetricBand } from "../explanations.ts";
import { levelsText, toleranceOf } from "./metrics/measure.ts";
import { combinedOf, takesPart } from "./steps/combine.ts";
import { isAbsenceOf, BREACH, IDLE, missingType } from "./steps/sentences.ts";
import type { Condition, Memory, Windows } from "../../model/windows.ts";
import { lastingOf } from "../shared/steps.ts";
import { stabilizeBothWays } from "../shared/stabilization.ts";
import {
  type FlapState,
  forbiddenStates,
  type Moment,
  rateStates,
  stabilizationStates,
  type TimerState,
  timerState,
  type WindowStates,
} from "../shared/window-states.ts";
import { forbiddenOf } from "./steps/cool-down.ts";
import { flapOf } from "./steps/flap.ts";
import { windowsOf } from "./steps/stabilize.ts";

export const NATIVE_EXPLANATIONS: Explanations<NativeSpec> = {
  targets: ({ metrics }) =>
    metrics.filter(({ input }) => !input).map((metric) => ({ type: metric.source.type, name: metric.name, target: levelsText(metric) })),
  cpuPercent: ({ metrics }) => metrics.map(cpuPercentOf).find((percent) => percent !== undefined),
  behavior: () => undefined,
  publishesBands: false,
  combination: ({ combine }) => combine,
  combined: ({ combine }, proposals) => combinedOf(proposals, combine),
  takesPart: ({ metrics }, { name, proposal }, from) => {
    const metric = metrics.find((candidate) => candidate.name === name);
    return !metric || takesPart(metric, proposal, from);
  },
  band: ({ metrics }, { name }, { tolerance }) => bandOf(metrics.find((metric) => metric.name === name)?.band, tolerance),
  rest: ({ metrics, minReplicas }, from) => {
    if (from >= minReplicas) return undefined;
    const levels = metrics.flatMap(({ name, activationMilli }) => (activationMilli === undefined ? [] : [{ name, aboveMilli: activationMilli }]));
    return { wakesTo: minReplicas, levels };
  },
  stoppedBy: ({ metrics }, because) => {
    const metric = metrics.find(({ name }) => isAbsenceOf(name, because.message));
    if (!metric) return undefined;
    const { onMissing } = metric;
    return { name: metric.name, ...(onMissing.action === "fallback" && { fallback: onMissing }) };
  },
};

const bandOf = (band: NativeMetric["band"] | undefined, tolerance: number): MetricBand => {
  if (band?.kind !== "watermarks") return { kind: "target", ...toleranceOf(band ?? {}, { up: tolerance, down: tolerance }) };
  return { kind: "watermarks", up: 0, down: 0, widened: false, converges: false, ignoresZero: false, needsEverySample: false };
};

const cpuPercentOf = ({ source, measure, band }: NativeMetric): number | undefined =>
  source.type === "Resource" && source.name === "cpu" && source.of === "request" && measure === "Percent" && band.kind === "target"
    ? Number(band.milli) / 1000
    : undefined;

/** Every window of the native rules: recommendations, policies, time after a scale, what must last, and the flap budget. */
export const nativeWindows = (spec: NativeSpec, { memory, status }: Windows, { nowMs, count }: Moment): WindowStates => {
  const flap = flapState(spec, memory, nowMs);
  return {
    recommendations: memory.recommendations ?? [],
    stabilization: stabilizationStates(
      windowsOf(spec),
      memory,
      count,
      (runs, counts) => stabilizeBothWays(runs, counts, windowsOf(spec), nowMs).held,
    ),
    rates: [...rateStates("scaleUp", withValues(spec.scaleUp), memory, nowMs), ...rateStates("scaleDown", withValues(spec.scaleDown), memory, nowMs)],
    forbidden: forbiddenStates(forbiddenOf(spec, status.lastScaleMs, nowMs)),
    timers: timersOf(spec, status.conditions),
    ...(flap && { flap }),
  };
};

const withValues = (rules: NativeRules) => ({
  ...rules,
  policies: rules.policies.map(({ valueMilli, ...policy }) => ({ ...policy, value: valueMilli / 1000 })),
});

/** Breaches, rest, and a missing metric with a fallback. */
const timersOf = (spec: NativeSpec, conditions: readonly Condition[]): readonly TimerState[] => {
  const timer = (name: string, seconds: number, type: string): readonly TimerState[] =>
    timerState(name, seconds, lastingOf(conditions, type, seconds));
  return [
    ...timer("Scale up sustain", spec.scaleUp.sustainSeconds, BREACH.up),
    ...timer("Scale down sustain", spec.scaleDown.sustainSeconds, BREACH.down),
    ...(spec.idle ? timer("Out of use", spec.idle.afterSeconds, IDLE) : []),
    ...spec.metrics.flatMap(({ name, onMissing }) =>
      onMissing.action === "fallback" ? timer(`Fallback of ${name}`, onMissing.afterSeconds, missingType(name)) : [],
    ),
  ];
};

const flapState = ({ flapBudget }: NativeSpec, memory: Memory, nowMs: number): FlapState | undefined =>
  flapBudget && { ...flapBudget, ...flapOf(flapBudget, memory, nowMs) };
