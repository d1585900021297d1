import type { Decision } from "../rules/model/decision.ts";
import type { AutoscalerName, Namespace } from "../rules/model/ids.ts";
import type { SetByPeople } from "../rules/model/override.ts";
import type { ControllerSettings } from "../rules/model/spec-common.ts";
import type { AutoscalerSpec } from "../rules/model/spec.ts";
import { NEW_WINDOWS, type Windows } from "../rules/model/windows.ts";
import { decide } from "../rules/policy/decide.ts";
import { afterWrite, withOutsideChange } from "../rules/policy/dialects.ts";
import { ReplayedForecasts } from "./forecast/replayed.ts";
import { DAY_MS } from "../rules/model/time-text.ts";
import { type PodShare, type ReplayedMetric, RunningMetric } from "./load.ts";
import { MinuteRecord, type Minutes } from "./minutes.ts";
import { type Observe, observerOf } from "./observe.ts";
import { type PodTemplate, ReplayedPods } from "./pods.ts";
import type { OutsideCount } from "./recorded.ts";
import { InStep, type PodsSeen, type RecordedPods } from "./recorded-pods.ts";
import { ReplayedTime } from "./replayed-time.ts";
import { holdLasts, LastingHold } from "./lasting-hold.ts";
import { type Series, StepReader } from "./series.ts";
import { syncsOf } from "./syncs.ts";

/** What decides in a replay, as it would decide in production. */
export interface Policy {
  readonly namespace: Namespace;
  readonly name: AutoscalerName;
  readonly settings: ControllerSettings;
  readonly setByPeople?: SetByPeople;
  /** Its specs in order of time; the first one holds from the beginning. */
  readonly specs: readonly [ReplayedSpec, ...ReplayedSpec[]];
}

export interface ReplayedSpec {
  readonly fromMs: number;
  readonly spec: AutoscalerSpec;
  /** What its metrics read, in the order of the manifest. */
  readonly metrics: readonly ReplayedMetric[];
}

/** The workload, and what happens to it whatever policy decides. */
export interface ReplayedWorkload {
  readonly pods: PodTemplate;
  readonly initialReplicas: number;
  /** The target that counts for every policy, so that the same load is "above target" for all. */
  readonly target: readonly PodShare[];
  /** What one pod serves at most. Absent where it is not known. */
  readonly served?: PodShare;
  /** Instants of recorded syncs, in order of time. Absent where none was recorded. */
  readonly recordedMs?: Float64Array;
  /** What recorded syncs saw of the pods. Absent where pods are to start otherwise. */
  readonly seen?: PodsSeen;
  /** 1 while syncs came. On doubt, nothing: where it is unknown nothing is decided. */
  readonly synced?: Series;
  /** 1 while something outside the policy kept it from writing: a freeze, a pause. */
  readonly held?: Series;
  /** 1 while what was asked for was cut off. */
  readonly cutOff?: Series;
  /** Changes of the count that no policy made, in order of time. */
  readonly outside?: readonly OutsideCount[];
}

export interface ReplayOptions {
  readonly fromMs: number;
  readonly untilMs: number;
  /** Time from one sync to the next. */
  readonly periodMs: number;
  /** Decides in each sync, also where nothing has changed: for the test that this changes nothing. */
  readonly everySync?: true;
}

/** Everything that a replay needs: plain values, so that a thread can be given it. */
export interface ReplayJob {
  readonly policy: Policy;
  readonly workload: ReplayedWorkload;
  readonly span: ReplayOptions;
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
  { fromMs, untilMs, periodMs, everySync }: ReplayOptions,
  onShare: OnShare = () => {},
): Minutes => {
  const run = new Run(policy, workload, { fromMs, untilMs, ...(!everySync && { periodMs }) });
  const { recordedMs } = workload;
  let saidMs = fromMs;
  for (const nowMs of syncsOf({ fromMs, untilMs, periodMs, ...(recordedMs && { recordedMs }) })) {
    run.sync(nowMs);
    if (nowMs - saidMs < SAID_EACH_MS) continue;
    saidMs = nowMs;
    onShare((nowMs - fromMs) / (untilMs - fromMs));
  }
  onShare(1);
  return run.end(untilMs);
};

/** Hears which share of its time a replay has passed: each few days of it, and 1 at the end. */
export type OnShare = (share: number) => void;

/** So much is replayed in a part of a second. */
const SAID_EACH_MS = 5 * DAY_MS;

/** A replay while it goes on. */
class Run {
  readonly #policy: Policy;
  readonly #workload: ReplayedWorkload;
  readonly #pods: ReplayedPods;
  readonly #record: MinuteRecord;
  readonly #time: ReplayedTime;
  readonly #synced: StepReader | undefined;
  readonly #held: StepReader | undefined;
  readonly #inStep: InStep | undefined;
  /** What the last sync was given of the pods. */
  #seen: RecordedPods | undefined;
  #windows: Windows = NEW_WINDOWS;
  #spec = -1;
  #observe: Observe | undefined;
  #forecasts: ReplayedForecasts | undefined;
  #outside = 0;
  /** Absent: each sync decides. */
  readonly #periodMs: number | undefined;
  #hold: LastingHold | undefined;

  constructor(
    policy: Policy,
    workload: ReplayedWorkload,
    { fromMs, untilMs, periodMs }: Omit<ReplayOptions, "periodMs"> & { readonly periodMs?: number },
  ) {
    this.#periodMs = policy.setByPeople?.overrides.length ? undefined : periodMs;
    this.#policy = policy;
    this.#workload = workload;
    this.#pods = new ReplayedPods(workload.pods, workload.initialReplicas, fromMs);
    this.#record = new MinuteRecord(fromMs, untilMs);
    this.#time = new ReplayedTime(workload, this.#pods, this.#record, fromMs);
    this.#synced = workload.synced && new StepReader(workload.synced);
    this.#held = workload.held && new StepReader(workload.held);
    this.#inStep = workload.seen && new InStep(workload.seen);
  }

  sync(nowMs: number): void {
    this.#passOutside(nowMs);
    this.#time.passTo(nowMs);
    const isSynced = !this.#synced || this.#synced.seek(nowMs) === 1;
    const { spec } = isSynced ? this.#specAt(nowMs) : { spec: undefined };
    const seen = this.#seenAt(nowMs);
    if (spec && this.#hold?.goesOn(nowMs, this.#time)) {
      this.#record.decided(nowMs, this.#hold.reason, this.#hold.bounds);
      return;
    }
    this.#endHold();
    const observation = spec && this.#observe?.(nowMs, seen);
    if (!observation) return;
    const forecast = this.#forecasts?.at(nowMs);
    const known = { ...this.#policy, spec, observation, windows: this.#windows, nowMs };
    const decision = decide(forecast ? { ...known, forecast } : known);
    const bounds = boundsOf(decision, spec);
    this.#record.decided(nowMs, decision.because.reason, bounds);
    this.#windows = decision.windows;
    if (decision.kind === "hold") {
      if (this.#periodMs !== undefined && holdLasts(spec, decision, nowMs, this.#periodMs))
        this.#hold = new LastingHold(decision, bounds, nowMs);
      return;
    }
    if (this.#held?.seek(nowMs) === 1) return;
    const { from, to } = decision;
    this.#record.scaled({ atMs: nowMs, from, to, reason: decision.because.reason });
    this.#pods.scale(to, nowMs);
    const report = { atMs: nowMs, earliestMs: nowMs, eventId: `replayed:${nowMs}` };
    this.#windows = afterWrite({ spec, decision, outcome: { kind: "applied" }, ...report }).windows;
  }

  /** The pods that the recorded sync of now saw, as long as this replay has them. */
  #seenAt(nowMs: number): RecordedPods | undefined {
    const seen = this.#inStep?.at(nowMs, this.#pods);
    if (seen !== this.#seen) this.#endHold();
    this.#seen = seen;
    return seen;
  }

  #endHold(): void {
    if (this.#hold) this.#windows = this.#hold.windows();
    this.#hold = undefined;
  }

  end(untilMs: number): Minutes {
    this.#time.passTo(untilMs);
    return this.#record.minutes();
  }

  /** The spec that holds, with what observes for it. */
  #specAt(nowMs: number): ReplayedSpec {
    const { specs, namespace } = this.#policy;
    const before = this.#spec;
    this.#spec = Math.max(0, before);
    while ((specs[this.#spec + 1]?.fromMs ?? Number.POSITIVE_INFINITY) <= nowMs) this.#spec++;
    const spec = specs[this.#spec] ?? specs[0];
    if (this.#spec !== before) {
      this.#endHold();
      const metrics = spec.metrics.map((metric) => new RunningMetric(metric));
      this.#time.measure(metrics, nowMs);
      const { pods, cutOff } = this.#workload;
      const { container } = pods;
      this.#observe = observerOf({ pods: this.#pods, metrics, container }, namespace);
      this.#forecasts = spec.spec.advice
        ? new ReplayedForecasts(spec.metrics, { namespace, pods, cutOff })
        : undefined;
    }
    return spec;
  }

  /** A count that others set, at its time, and in the windows as production finds it. */
  #passOutside(nowMs: number): void {
    const { outside = [] } = this.#workload;
    for (; (outside[this.#outside]?.atMs ?? Number.POSITIVE_INFINITY) <= nowMs; this.#outside++) {
      const { atMs, to } = outside[this.#outside] ?? { atMs: nowMs, to: this.#pods.count };
      this.#time.passTo(Math.max(atMs, this.#time.atMs));
      const from = this.#pods.count;
      if (from === to) continue;
      this.#endHold();
      this.#pods.scale(to, this.#time.atMs);
      const change = { from, to, atMs, earliestMs: 0, eventId: `outside:${atMs}`, beside: false };
      const { spec } = this.#policy.specs[Math.max(0, this.#spec)] ?? this.#policy.specs[0];
      this.#windows = withOutsideChange(this.#windows, spec, change);
    }
  }
}

const boundsOf = (
  { bounds }: Pick<Decision, "bounds">,
  { minReplicas, maxReplicas }: AutoscalerSpec,
): { readonly min: number; readonly max: number } =>
  bounds
    ? { min: bounds.min.replicas, max: bounds.max.replicas }
    : { min: minReplicas, max: maxReplicas };
