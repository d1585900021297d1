import { INITIAL_REPLICAS, measured, usualPod } from "../../lib/embedded/run/played-load.ts";
import { IDLE } from "../../lib/embedded/cluster/definition.ts";
import type { Trace } from "../../lib/embedded/traces/trace.ts";
import { seriesOfTrace } from "../../lib/command/replay/trace-input.ts";
import type { Policy, ReplayOptions, ReplayedWorkload } from "../../lib/replay/replay.ts";
import { capacityOf, type LoadedPod, targetOf } from "../../lib/replay/traced.ts";
import { policyOf, tracedOf } from "./world.ts";

/** A policy on a recorded load, with the pods that a run on this machine would have. */
export const tracedRun = (
  trace: Trace,
  manifestOf: (unitsPerPod: number) => object,
  periodMs: number,
  podStartMs = 30_000,
): {
  readonly policy: Policy;
  readonly workload: ReplayedWorkload;
  readonly span: ReplayOptions;
} => {
  const { requests, limits, cpuMillicoresPerUnit } = measured({}, usualPod(trace));
  const pod: LoadedPod = {
    requestMilli: requests.cpuMillicores,
    limitMilli: limits.cpuMillicores,
    idleMilli: IDLE.cpuMillicores,
    eachMilli: cpuMillicoresPerUnit,
  };
  const load = seriesOfTrace(trace);
  const traced = tracedOf(load, { pod, stepMs: trace.stepMs });
  const perPod = Math.max(1, Math.round((requests.cpuMillicores * 0.6) / cpuMillicoresPerUnit));
  const policy = policyOf(manifestOf(perPod), traced);
  const [{ spec, metrics }] = policy.specs;
  return {
    policy,
    workload: {
      pods: {
        target: spec.target,
        container: "app",
        requests: { cpu: BigInt(pod.requestMilli) },
        limits: { cpu: BigInt(pod.limitMilli) },
        startMs: podStartMs,
      },
      initialReplicas: Math.max(INITIAL_REPLICAS, spec.minReplicas),
      target: targetOf(metrics, traced),
      served: { load, perPod: capacityOf(pod) },
    },
    span: { fromMs: load.times[0] ?? 0, untilMs: load.endMs, periodMs },
  };
};
