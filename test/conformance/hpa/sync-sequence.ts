import { admit, admitOrThrow } from "../../../lib/rules/manifest/admit.ts";
import type { ControllerEvent, WriteOutcome } from "../../../lib/rules/model/decision.ts";
import { autoscalerName, namespace } from "../../../lib/rules/model/ids.ts";
import type { Observation, ScaleReading } from "../../../lib/rules/model/observation.ts";
import type { ControllerSettings } from "../../../lib/rules/model/spec-common.ts";
import type { AutoscalerSpec } from "../../../lib/rules/model/spec.ts";
import {
  type Condition,
  NEW_WINDOWS,
  type Status,
  type Windows,
} from "../../../lib/rules/model/windows.ts";
import { decide } from "../../../lib/rules/policy/decide.ts";
import { afterWrite, questions } from "../../../lib/rules/policy/dialects.ts";
import { type Difference, differences } from "../differences.ts";
import type { VectorCase, VectorHead } from "../vector-file.ts";
import { podIndex, type RawAnswers, readAnswers } from "./observed.ts";
import { throughStore } from "./through-store.ts";
import { askedOf } from "../../answers.ts";
import { readFailure } from "../../cluster/read/answers.ts";

interface SequenceCase {
  readonly config: RawConfig;
  readonly autoscaler: RawManifest;
  readonly steps: readonly RawStep[];
}

interface RawConfig {
  readonly tolerance: number;
  readonly cpuInitializationPeriodSeconds: number;
  readonly initialReadinessDelaySeconds: number;
  readonly downscaleStabilizationSeconds: number;
}

interface RawManifest {
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

interface RawPod {
  readonly metadata: { readonly name: string };
}

interface RawError {
  readonly code: number;
  readonly message: string;
}

interface RawStep {
  readonly now: string;
  readonly restart?: boolean;
  readonly autoscaler?: RawManifest;
  readonly otherAutoscalers?: readonly { readonly name: string; readonly selector: string }[];
  readonly scale:
    | { readonly specReplicas: number; readonly statusReplicas: number; readonly selector: string }
    | { readonly error: RawError };
  readonly scaleWrites?: readonly RawError[];
  readonly statusWrite?: RawError;
  readonly pods?: readonly RawPod[];
  readonly podsChanged?: readonly RawPod[];
  readonly podsGone?: readonly string[];
  readonly answers?: RawAnswers;
  readonly expect: {
    readonly conditions: readonly RawCondition[];
    readonly [member: string]: unknown;
  };
}

interface RawCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message?: string;
  readonly transition?: boolean;
}

/**
 * What persists from step to step: the stored object, its windows, and the inputs that a step may
 * leave out.
 */
interface Progress {
  readonly manifest: RawManifest;
  readonly spec: AutoscalerSpec;
  /** Raised by every real change of the spec; the status names the one it was written for. */
  readonly generation: number;
  readonly observedGeneration: number;
  readonly windows: Windows;
  readonly pods: readonly RawPod[];
  readonly answers: RawAnswers;
}

/**
 * One autoscaler over consecutive syncs: raw answers → observation → decide → PUT → after the
 * write, windows through the store's codec in between.
 */
export const runSequence = (vector: VectorCase, head: VectorHead): readonly Difference[] => {
  const { config, autoscaler, steps } = vector as unknown as SequenceCase;
  const settings: ControllerSettings = {
    tolerance: config.tolerance,
    cpuInitializationPeriodMs: config.cpuInitializationPeriodSeconds * 1000,
    initialReadinessDelayMs: config.initialReadinessDelaySeconds * 1000,
    downscaleStabilizationMs: config.downscaleStabilizationSeconds * 1000,
  };
  let progress: Progress = {
    manifest: autoscaler,
    spec: admitOrThrow({ document: autoscaler, where: vector.id }).spec,
    generation: 1,
    observedGeneration: 0,
    windows: NEW_WINDOWS,
    pods: [],
    answers: {},
  };
  return steps.flatMap((step, index) => {
    const before = prepared(progress, step);
    const { after, shown } = sync(before, step, settings);
    progress = { ...after, windows: throughStore(after.windows) };
    return differences(expectation(step, head), shown, `steps.${index}`);
  });
};

const prepared = (progress: Progress, step: RawStep): Progress => {
  const manifest = step.autoscaler ?? progress.manifest;
  const { spec, changed } = step.autoscaler
    ? updated(progress.manifest, step.autoscaler)
    : { spec: progress.spec, changed: false };
  const windows = step.restart
    ? { ...progress.windows, memory: NEW_WINDOWS.memory }
    : progress.windows;
  return {
    ...progress,
    manifest,
    spec,
    generation: progress.generation + (changed ? 1 : 0),
    windows,
    pods: podsOf(step, progress.pods),
    answers: step.answers ?? progress.answers,
  };
};

/** A replaced manifest; the generation rises only when its meaning changes. */
const updated = (
  old: RawManifest,
  manifest: RawManifest,
): { readonly spec: AutoscalerSpec; readonly changed: boolean } => {
  const admission = admit(manifest, { old });
  if (!admission.ok)
    throw new RangeError(`the new manifest is refused: ${JSON.stringify(admission.problems)}`);
  return admission;
};

const podsOf = (
  { pods, podsChanged = [], podsGone = [] }: RawStep,
  before: readonly RawPod[],
): readonly RawPod[] => {
  const kept = (pods ?? before).filter(({ metadata }) => !podsGone.includes(metadata.name));
  const changed = new Map(podsChanged.map((pod) => [pod.metadata.name, pod]));
  const replaced = kept.map((pod) => changed.get(pod.metadata.name) ?? pod);
  const known = new Set(kept.map(({ metadata }) => metadata.name));
  return [...replaced, ...podsChanged.filter(({ metadata }) => !known.has(metadata.name))];
};

const sync = (before: Progress, step: RawStep, settings: ControllerSettings) => {
  const nowMs = Date.parse(step.now);
  const { metadata } = before.manifest;
  const [ownNamespace, name] = [
    namespace(metadata.namespace ?? "default"),
    autoscalerName(metadata.name),
  ];
  const scale = scaleOf(step.scale);
  const asked = askedOf(questions(before.spec, ownNamespace, scale));
  const observation: Observation = {
    scale,
    pods: podIndex(before.pods),
    answers: readAnswers(before.answers, asked.custom, asked.external),
    others: (step.otherAutoscalers ?? []).map((other) => ({
      name: autoscalerName(other.name),
      selector: other.selector,
    })),
  };
  const { spec, windows } = before;
  const decision = decide({
    namespace: ownNamespace,
    name,
    spec,
    settings,
    observation,
    windows,
    nowMs,
  });
  const outcome = putScale(step.scaleWrites ?? []);
  const settled =
    decision.kind === "scale"
      ? afterWrite({ spec, decision, outcome, atMs: nowMs })
      : { windows: decision.windows, events: decision.events };
  const stored = putStatus(before, settled.windows, step.statusWrite);
  return {
    after: { ...before, ...stored.progress },
    shown: shownStep(stored.progress.windows.status, nowMs, {
      written: decision.kind === "scale" && outcome.kind === "applied" ? decision.to : null,
      events:
        stored.failure === undefined
          ? settled.events
          : withFailedStatus(settled.events, stored.failure),
    }),
  };
};

const scaleOf = (raw: RawStep["scale"]): ScaleReading =>
  "error" in raw
    ? { kind: "failed", failure: readFailure(raw.error) }
    : { kind: "read", ...raw, uid: "", resourceVersion: "" };

/** Tries of one PUT while it meets conflicts (hpa.md 2.4 step 6). */
const TRIES = 5;

const putScale = (errors: readonly RawError[]): WriteOutcome => {
  const met = errors.slice(0, TRIES);
  const decisive =
    met.find(({ code }) => code !== 409) ?? (met.length === TRIES ? met.at(-1) : undefined);
  return decisive ? { kind: "refused", message: decisive.message } : { kind: "applied" };
};

/**
 * The imitated controller keeps status in an object of its own, whose write can fail while memory
 * moves on (hpa.md 2.4 step 7).
 */
const putStatus = (before: Progress, windows: Windows, error: RawError | undefined) => {
  const old = before.windows.status;
  const changed =
    before.observedGeneration !== before.generation ||
    differences(statusForm(old), statusForm(windows.status)).length > 0;
  if (!changed) return { progress: { windows: { memory: windows.memory, status: old } } };
  if (!error) return { progress: { windows, observedGeneration: before.generation } };
  return { progress: { windows: { memory: windows.memory, status: old } }, failure: error.message };
};

const statusForm = ({ conditions, lastScaleMs, ...rest }: Status): unknown => ({
  ...rest,
  lastScale: lastScaleMs === undefined ? undefined : inSeconds(lastScaleMs),
  conditions: conditions.map(({ transitionMs, ...condition }) => ({
    ...condition,
    transition: inSeconds(transitionMs),
  })),
});

/**
 * The failed status comes before the failed computation, which is told last of all (hpa.md 2.4 step
 * 5).
 */
const withFailedStatus = (
  events: readonly ControllerEvent[],
  message: string,
): readonly ControllerEvent[] => {
  const failed: ControllerEvent = { type: "Warning", reason: "FailedUpdateStatus", message };
  const computed = events.at(-1)?.reason === "FailedComputeMetricsReplicas";
  return computed ? [...events.slice(0, -1), failed, ...events.slice(-1)] : [...events, failed];
};

const inSeconds = (atMs: number): string => `${new Date(atMs).toISOString().slice(0, 19)}Z`;

/** What the vector expects, with the messages that its reasons always have. */
const expectation = ({ expect }: RawStep, { standardMessages = {} }: VectorHead): unknown => ({
  ...expect,
  conditions: expect.conditions.map((condition) => ({
    ...condition,
    message: condition.message ?? standardMessages[condition.reason],
    transition: condition.transition ?? false,
  })),
});

const shownStep = (
  status: Status,
  nowMs: number,
  outside: { readonly written: number | null; readonly events: readonly ControllerEvent[] },
): unknown => ({
  written: outside.written,
  desiredReplicas: status.desiredReplicas,
  currentReplicas: status.currentReplicas,
  lastScaleTime: status.lastScaleMs === undefined ? undefined : inSeconds(status.lastScaleMs),
  conditions: status.conditions.map((condition) => shownCondition(condition, nowMs)),
  currentMetrics: status.currentMetrics,
  events: outside.events,
});

const shownCondition = ({ transitionMs, ...condition }: Condition, nowMs: number): unknown => ({
  ...condition,
  transition: inSeconds(transitionMs) === inSeconds(nowMs),
});
