import type { NativeRules, NativeSpec } from "../../model/spec-native.ts";
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
import { BREACH, IDLE, missingType } from "./steps/sentences.ts";
import { windowsOf } from "./steps/stabilize.ts";

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
