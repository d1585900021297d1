import type { TimeSpan } from "../../replay/figures.ts";
import { happened } from "../../replay/happened.ts";
import { isUse, shareAtLevel } from "../../replay/load.ts";
import type { Minutes } from "../../replay/minutes.ts";
import {
  cutOffSeries,
  heldSeries,
  outsideOf,
  overridesIn,
  raisedWhere,
  syncedSeries,
} from "../../replay/recorded.ts";
import { podsSeen } from "../../replay/recorded-pods.ts";
import { podStartOf, podStartsOf } from "../../replay/pod-starts.ts";
import {
  type ChosenModels,
  RECORDED_REQUEST_MILLI,
  recordedLoads,
  recordedMetrics,
} from "../../replay/recorded-metrics.ts";
import type {
  OnShare,
  Policy,
  ReplayedSpec,
  ReplayedWorkload,
  ReplayJob,
} from "../../replay/replay.ts";
import { productOf, type Series } from "../../replay/series.ts";
import { autoscalerName, namespace } from "../../rules/model/ids.ts";
import type { AutoscalerSpec } from "../../rules/model/spec.ts";
import { lengthMs } from "../options/time-options.ts";
import { usage } from "../usage-error.ts";
import { containerOf, metricsOrThrow, refuseShort, targetText } from "./candidates.ts";
import type { ReadHistory } from "./read-history.ts";
import type { ReplayAll } from "./replay-threads.ts";

const DEFAULT_POD_START_MS = 30_000;
/** What demand may have been where it was cut off: nobody knows how much more was asked for. */
const RAISED = [1.25, 1.5] as const;

/** An autoscaler whose history was replayed, and what replays it with another spec. */
export interface ReplayedHistory {
  readonly read: ReadHistory;
  readonly spec: AutoscalerSpec;
  readonly target: string;
  readonly podStartMs: number;
  /** What a pod uses of its request without a load. Absent where no metric is such a percentage. */
  readonly idlePercent?: number;
  readonly fromMs: number;
  readonly counted: TimeSpan;
  readonly real: Minutes;
  readonly unchanged: ReplayedPolicy;
  /** The other policies that were asked for, in their order. */
  readonly others: readonly ReplayedPolicy[];
  /** What replays another spec, and the policy as it was. */
  readonly jobWith: (label: string, spec: AutoscalerSpec) => ReplayJob;
  readonly unchangedJob: ReplayJob;
  /** What replays a job with so many times the load where it was cut off; none where it never was. */
  readonly raisedJobs: (job: ReplayJob) => readonly (readonly [factor: number, ReplayJob])[];
}

/** The minutes of a policy, and what they would be if more had been asked for where it was cut off. */
export interface ReplayedPolicy {
  readonly minutes: Minutes;
  readonly raised: readonly { readonly factor: number; readonly minutes: Minutes }[];
}

export interface HistorySettings {
  readonly sinceMs: number;
  readonly models: ChosenModels;
  readonly podStart: string | undefined;
  readonly idlePercent: number;
}

/** Another policy, by what messages call it. */
export interface OtherPolicy {
  readonly label: string;
  readonly spec: AutoscalerSpec;
}

/** What replays the policies, and hears how much of all of them is done. */
export interface Replaying {
  readonly replayAll: ReplayAll;
  readonly onShare?: OnShare;
}

/** Replays a history as it was, and with other policies. */
export const replayedHistory = async (
  read: ReadHistory,
  { sinceMs, models, podStart, idlePercent }: HistorySettings,
  others: readonly OtherPolicy[],
  { replayAll, onShare = () => {} }: Replaying,
): Promise<ReplayedHistory> => {
  const { view, recorded, settings } = read;
  const inside = view.namespace;
  const measured = recordedLoads(recorded, inside, models, idlePercent);
  const named = `${view.namespace}/${view.name}`;
  // What forecasts asked for then is in the recorded bounds, and is not worked out again.
  const hasForecasts = recorded.specs.some(({ spec }) => spec.advice !== undefined);
  const [first, ...later] = recorded.specs.map(
    ({ fromMs, spec }): ReplayedSpec => ({
      fromMs,
      spec: hasForecasts ? withoutAdvice(spec) : spec,
      metrics: metricsOrThrow(named, recordedMetrics(spec, measured, inside)),
    }),
  );
  if (!first) throw usage(`Cannot replay "${named}": it has no manifest`);
  const { spec, metrics } = later.at(-1) ?? first;
  const podStartMs =
    podStart === undefined
      ? (podStartOf(recorded) ?? DEFAULT_POD_START_MS)
      : lengthMs("--pod-start", podStart, 0);
  const target = metrics.flatMap((metric) => shareAtLevel(metric, RECORDED_REQUEST_MILLI));
  const [firstSample] = recorded.samples;
  const fromMs = firstSample?.atMs ?? sinceMs;
  const counted = { fromMs: Math.max(fromMs, sinceMs), untilMs: recorded.untilMs };
  refuseShort(named, counted, "give an earlier --since, or wait for more syncs");
  const cutOff = cutOffSeries(recorded);
  const workload: ReplayedWorkload = {
    pods: {
      target: spec.target,
      container: containerOf([first, ...later]),
      requests: { cpu: BigInt(RECORDED_REQUEST_MILLI) },
      limits: { cpu: BigInt(RECORDED_REQUEST_MILLI) },
      startMs: podStartMs,
      ...(podStart === undefined && { starts: podStartsOf(recorded) }),
    },
    initialReplicas: firstSample?.current ?? spec.minReplicas,
    target,
    cutOff,
    recordedMs: Float64Array.from(recorded.samples, ({ atMs }) => atMs),
    ...(podStart === undefined && { seen: podsSeen(recorded) }),
    synced: syncedSeries(recorded),
    held: heldSeries(recorded),
    outside: outsideOf(recorded).filter(({ atMs }) => atMs >= fromMs),
  };
  const span = { fromMs, untilMs: recorded.untilMs, periodMs: recorded.periodMs };
  const jobOf = (specs: Policy["specs"], forecasts: boolean): ReplayJob => ({
    policy: {
      ...{ namespace: namespace(view.namespace), name: autoscalerName(view.name), settings },
      setByPeople: {
        overrides: overridesIn(recorded, { forecasts }),
        calendars: recorded.calendars,
      },
      specs,
    },
    workload,
    span,
  });
  const raisedJobs: ReplayedHistory["raisedJobs"] = (job) =>
    (cutOff.values.includes(1) ? RAISED : []).map((factor) => [
      factor,
      raisedJob(job, raisedWhere(cutOff, factor)),
    ]);
  const unchangedJob = jobOf([first, ...later], true);
  const jobWith: ReplayedHistory["jobWith"] = (label, changed) =>
    jobOf(
      [
        {
          fromMs: 0,
          spec: hasForecasts ? withoutAdvice(changed) : changed,
          metrics: metricsOrThrow(label, recordedMetrics(changed, measured, inside)),
        },
      ],
      changed.advice !== undefined,
    );
  const policies = [unchangedJob, ...others.map((other) => jobWith(other.label, other.spec))];
  const [unchanged, ...replayedOthers] = await replayedPolicies(
    replayAll,
    policies.map((job) => [job, raisedJobs(job)]),
    onShare,
  );
  if (!unchanged) throw new RangeError("The unchanged policy is replayed");
  return {
    ...(metrics.some(hasIdle) && { idlePercent }),
    ...{ read, podStartMs, fromMs, counted, unchangedJob, jobWith, raisedJobs },
    spec: recorded.specs.at(-1)?.spec ?? spec,
    target: targetText(spec),
    real: happened(recorded, target, span),
    ...{ unchanged, others: replayedOthers },
  };
};

/** Policies and what they would do with more demand, all of them side by side. */
const replayedPolicies = async (
  replayAll: ReplayAll,
  policies: readonly (readonly [ReplayJob, ReturnType<ReplayedHistory["raisedJobs"]>])[],
  onShare: OnShare,
): Promise<readonly ReplayedPolicy[]> => {
  const jobs = policies.flatMap(([job, raised]) => [job, ...raised.map(([, more]) => more)]);
  const minutes = await replayAll(jobs, onShare);
  const minutesOf = new Map(jobs.map((job, at) => [job, minutes[at]]));
  return policies.flatMap(([job, raised]) => {
    const own = minutesOf.get(job);
    if (!own) return [];
    return {
      minutes: own,
      raised: raised.flatMap(([factor, more]) => {
        const raisedMinutes = minutesOf.get(more);
        return raisedMinutes ? [{ factor, minutes: raisedMinutes }] : [];
      }),
    };
  });
};

const hasIdle = ({ level }: ReplayedSpec["metrics"][number]): boolean =>
  isUse(level) && level.measure === "Percent";

const withoutAdvice = ({ advice: _taken, ...spec }: AutoscalerSpec): AutoscalerSpec => spec;

/** A replay with so many times the load where it was cut off. */
const raisedJob = ({ policy, workload, span }: ReplayJob, more: Series): ReplayJob => {
  const raised = <Of extends { readonly load: Series }>(of: Of): Of => ({
    ...of,
    load: productOf(of.load, more),
  });
  const raisedSpec = (one: ReplayedSpec): ReplayedSpec => ({
    ...one,
    metrics: one.metrics.map(({ level, model }) => ({ level, model: raised(model) })),
  });
  const [first, ...later] = policy.specs;
  return {
    policy: { ...policy, specs: [raisedSpec(first), ...later.map(raisedSpec)] },
    workload: { ...workload, target: workload.target.map(raised) },
    span,
  };
};
