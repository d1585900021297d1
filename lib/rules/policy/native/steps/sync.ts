import type { Because } from "../../../model/decision.ts";
import type { Pod } from "../../../model/observation.ts";
import type { Selector } from "../../../model/selector.ts";
import { HPA_VERSIONS, type HpaVersion } from "../../../model/spec-common.ts";
import type { NativeRules, NativeSpec } from "../../../model/spec-native.ts";
import type { RecommendationRun, Windows } from "../../../model/windows.ts";
import type { RulesInput } from "../../dialect.ts";
import type { MetricContext } from "../../shared/metrics/measurement.ts";
import { type StepState, startedWith } from "../../shared/steps.ts";
import type { Moment, WindowStates } from "../../shared/window-states.ts";
import { countingPods } from "../metrics/counting-pods.ts";
import { type KnownAnswers, knownAnswers } from "../metrics/kept-answers.ts";
import { type CountReading, inputsOf } from "../metrics/measure.ts";

export type NativeInput = RulesInput<NativeSpec>;

/**
 * One sync of the native rules on its way through the steps; each step returns the next state of
 * it.
 */
export interface NativeSync extends StepState<NativeInput, Ending> {
  readonly recommendations: readonly RecommendationRun[];
  /** What was answered in this sync, and what is still known. */
  readonly known: KnownAnswers;
  readonly selectorText: string | undefined;
  readonly selector: Selector;
  readonly pods: readonly Pod[];
  readonly readings: readonly CountReading[];
  /** spec.replicas of the scale. */
  readonly current: number;
  /** The count on its way from proposal to what is written. */
  readonly count: number;
  readonly trigger: string;
  /** The workload is out of use: only the cool-down still has a say in its count. */
  readonly resting: boolean;
}

/**
 * Why the remaining steps are left out: "settled" keeps the count reached, the others the current
 * one.
 */
export interface Ending {
  readonly kind: "unreadable" | "failed" | "settled";
  readonly because: Because;
}

export type NativeStep = (sync: NativeSync) => NativeSync;

/** The window of a step, as it is shown to people. */
export interface StepWindow {
  /** What it holds at an instant, and until when: by the function by which the step decides. */
  readonly states: (spec: NativeSpec, windows: Windows, moment: Moment) => Partial<WindowStates>;
  /** True for the type of a condition by which the step measures time. */
  readonly timesBy?: (conditionType: string) => boolean;
}

export const started = (input: NativeInput): NativeSync => ({
  ...startedWith(input),
  known: knownAnswers(input.spec.metrics, input.observation.answers, {
    kept: input.windows.memory.answers,
    nowMs: input.nowMs,
  }),
  recommendations: [],
  selectorText: input.windows.memory.selector,
  selector: [],
  pods: [],
  readings: [],
  current: 0,
  count: 0,
  trigger: "",
  resting: false,
});

/** Which way the count moves, and by which rules. */
export interface Move {
  readonly direction: "scaleUp" | "scaleDown";
  readonly up: boolean;
  readonly rules: NativeRules;
}

/** The move from the current count to the one reached so far; `undefined` while the count stays. */
export const moveOf = ({
  input: { spec },
  count,
  current,
}: Pick<NativeSync, "input" | "count" | "current">): Move | undefined => {
  const direction = count > current ? "scaleUp" : count < current ? "scaleDown" : undefined;
  return direction && { direction, up: direction === "scaleUp", rules: spec[direction] };
};

export const contextOf = (sync: NativeSync): MetricContext => {
  const context = contextWithoutInputs(sync);
  const { metrics } = sync.input.spec;
  return metrics.some(({ source }) => source.type === "Formula")
    ? { ...context, inputs: inputsOf(metrics, context) }
    : context;
};

/** Own rules have what Kubernetes has mended, whatever release the cluster is of (hpa.md 0.2). */
const releaseOf = ({ spec, settings }: NativeInput): HpaVersion =>
  spec.pods === "asHpa" ? (settings.hpaVersion ?? HPA_VERSIONS[0]) : "1.38";

const contextWithoutInputs = ({
  input,
  current,
  selector,
  pods,
  known,
}: NativeSync): MetricContext => {
  const context = {
    namespace: input.namespace,
    currentReplicas: current,
    // A value is shared by the pods that were asked for: a status that lags behind would propose
    // the old count again.
    statusReplicas: Math.max(1, current),
    podSelector: selector,
    answers: known.answers,
    tolerance: { up: input.settings.tolerance, down: input.settings.tolerance },
    readiness: { ...input.settings, hpaVersion: releaseOf(input), nowMs: input.nowMs },
  };
  const { pods: counting, own } = countingPods(input.spec, pods, current);
  return own ? { ...context, pods: counting, own } : { ...context, pods: counting };
};
