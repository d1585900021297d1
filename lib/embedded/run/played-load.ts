import { IDLE, POD, type WorkloadDefinition } from "../cluster/definition.ts";
import type { SimulatedIdentity } from "../folder/identity.ts";
import { ordinaryHigh, type Trace } from "../traces/trace.ts";

/** What a pod uses at 60 % of its request. */
const TARGET_MILLICORES = 300;
/**
 * Pods that an ordinary peak of an unknown trace needs at that use: enough to show scaling, few
 * enough to read.
 */
const PODS_AT_HIGH = 12;

/** Pods of a workload at its beginning, where its manifest says no number. */
export const INITIAL_REPLICAS = 2;

/** What a unit of a trace costs a pod, where nothing else is said: twelve serve an ordinary high. */
export const usualPod = (
  trace: Trace,
): Pick<WorkloadDefinition, "requests" | "limits" | "cpuMillicoresPerUnit"> => ({
  ...POD,
  cpuMillicoresPerUnit: (TARGET_MILLICORES * PODS_AT_HIGH) / ordinaryHigh(trace),
});

/**
 * With `--capacity` a pod is at 100 % of its request when it serves so much, and serves no more: a
 * target of 60 % is 60 % of the capacity. With `--pod-start` each pod takes as long.
 */
export const measured = <Of extends ReturnType<typeof usualPod>>(
  { capacity, podStartMs }: Pick<SimulatedIdentity, "capacity" | "podStartMs">,
  definition: Of,
): Of => {
  const { requests, limits } = definition;
  return {
    ...definition,
    ...(podStartMs !== undefined && { startupMs: { min: podStartMs, max: podStartMs } }),
    ...(capacity !== undefined && {
      cpuMillicoresPerUnit: (requests.cpuMillicores - IDLE.cpuMillicores) / capacity,
      limits: { ...limits, cpuMillicores: requests.cpuMillicores },
    }),
  };
};
