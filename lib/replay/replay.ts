import type { Decision } from "../rules/model/decision.ts";
import type { AutoscalerName, Namespace } from "../rules/model/ids.ts";
import type { SetByPeople } from "../rules/model/override.ts";
import type { ControllerSettings } from "../rules/model/spec-common.ts";
import type { AutoscalerSpec } from "../rules/model/spec.ts";
import { NEW_WINDOWS, type Windows } from "../rules/model/windows.ts";
import { decide } from "../rules/policy/decide.ts";
import { afterWrite } from "../rules/policy/dialects.ts";
import { type PodShare, type ReplayedMetric, RunningMetric } from "./load.ts";
import { MinuteRecord, type Minutes, type SteadySpan } from "./minutes.ts";
import { observerOf } from "./observe.ts";
import { type PodTemplate, ReplayedPods } from "./pods.ts";
import { StepReader } from "./series.ts";

/** What decides in a replay, as it would decide in production. */
export interface Policy {
  readonly namespace: Namespace;
  readonly name: AutoscalerName;
  readonly spec: AutoscalerSpec;
  readonly settings: ControllerSettings;
  readonly setByPeople?: SetByPeople;
  /** What its metrics read, in the order of the manifest. */
  readonly metrics: readonly ReplayedMetric[];
}

/** The workload, and what is asked of it whatever policy decides. */
export interface ReplayedWorkload {
  readonly pods: PodTemplate;
  readonly initialReplicas: number;
  /** The target that counts for every policy, so that the same load is "above target" for all. */
  readonly target: readonly PodShare[];
  /** What one pod serves at most. Absent where it is not known. */
  readonly served?: PodShare;
}

export interface ReplayOptions {
  readonly fromMs: number;
  readonly untilMs: number;
  /** Time from one sync to the next. */
  readonly periodMs: number;
}

/**
 * Lets a policy decide a workload under a load, sync by sync, as production does: the decisions,
 * and what a scale leaves in the windows, are the functions of lib/rules/policy. The loop is
 * closed: the pods that a decision makes share the load in the next sync. Pure: it reads no clock
 * and waits for nothing.
 */
export const replay = (
  policy: Policy,
  workload: ReplayedWorkload,
  options: ReplayOptions,
): Minutes => {
  const { fromMs, untilMs, periodMs } = options;
  const pods = new ReplayedPods(workload.pods, workload.initialReplicas, fromMs);
  const metrics = policy.metrics.map((metric) => new RunningMetric(metric));
  const observe = observerOf(
    { pods, metrics, container: workload.pods.container },
    policy.namespace,
  );
  const record = new MinuteRecord(fromMs, untilMs);
  const time = new ReplayedTime(workload, pods, metrics, record);
  let windows: Windows = NEW_WINDOWS;
  for (let nowMs = fromMs; nowMs < untilMs; nowMs += periodMs) {
    time.passTo(nowMs);
    const decision = decide({ ...policy, observation: observe(nowMs), windows, nowMs });
    record.decided(nowMs, decision.because.reason, boundsOf(decision, policy.spec));
    windows = decision.windows;
    if (decision.kind === "hold") continue;
    const { from, to } = decision;
    record.scaled({ atMs: nowMs, from, to, reason: decision.because.reason });
    pods.scale(to, nowMs);
    const report = { atMs: nowMs, earliestMs: nowMs, eventId: `replayed:${nowMs}` };
    const outcome = { kind: "applied" } as const;
    windows = afterWrite({ spec: policy.spec, decision, outcome, ...report }).windows;
  }
  time.passTo(untilMs);
  return record.minutes();
};

const boundsOf = (
  { bounds }: Pick<Decision, "bounds">,
  { minReplicas, maxReplicas }: AutoscalerSpec,
): { readonly min: number; readonly max: number } =>
  bounds
    ? { min: bounds.min.replicas, max: bounds.max.replicas }
    : { min: minReplicas, max: maxReplicas };

/** Lets time pass from one change of the load or of the pods to the next. */
class ReplayedTime {
  readonly #pods: ReplayedPods;
  readonly #metrics: readonly RunningMetric[];
  readonly #record: MinuteRecord;
  readonly #target: readonly { readonly reader: StepReader; readonly perPod: number }[];
  readonly #served: { readonly reader: StepReader; readonly perPod: number } | undefined;
  readonly #readers: readonly StepReader[];
  #atMs: number | undefined;

  constructor(
    { target, served }: ReplayedWorkload,
    pods: ReplayedPods,
    metrics: readonly RunningMetric[],
    record: MinuteRecord,
  ) {
    const reading = ({ load, perPod }: PodShare) => ({ reader: new StepReader(load), perPod });
    this.#pods = pods;
    this.#metrics = metrics;
    this.#record = record;
    this.#target = target.map(reading);
    this.#served = served && reading(served);
    this.#readers = [
      ...metrics.map(({ reader }) => reader),
      ...this.#target.map(({ reader }) => reader),
      ...(this.#served ? [this.#served.reader] : []),
    ];
  }

  /** The readers stand at `toMs` then. */
  passTo(toMs: number): void {
    for (let fromMs = this.#atMs ?? toMs; fromMs < toMs; ) {
      let nextMs = Math.min(toMs, this.#pods.nextMs);
      for (const reader of this.#readers) nextMs = Math.min(nextMs, reader.untilMs);
      const { ready } = this.#pods;
      for (const metric of this.#metrics) metric.pass(fromMs, nextMs, ready);
      this.#record.pass(fromMs, nextMs, this.#segment());
      this.#pods.pass(nextMs);
      for (const reader of this.#readers) reader.seek(nextMs);
      fromMs = nextMs;
    }
    if (this.#atMs === undefined) this.#begin(toMs);
    this.#atMs = toMs;
  }

  /** Before the first instant all is taken to have been as it is then. */
  #begin(atMs: number): void {
    for (const reader of this.#readers) reader.seek(atMs);
    for (const metric of this.#metrics) metric.pass(atMs, atMs, this.#pods.ready);
  }

  #segment(): SteadySpan {
    const { count, ready } = this.#pods;
    let needed = this.#target.length === 0 ? Number.NaN : 0;
    for (const { reader, perPod } of this.#target) needed = Math.max(needed, reader.value / perPod);
    const load = this.#served?.reader.value ?? 0;
    const unserved = this.#served ? Math.max(0, load - ready * this.#served.perPod) : 0;
    return { count, ready, needed, isCutOff: false, load, unserved };
  }
}
