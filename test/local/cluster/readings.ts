import { isDark, lastScrapeMs, RESOLUTION_MS } from "../../../lib/embedded/cluster/reading.ts";
import { isReady } from "../../../lib/embedded/cluster/simulated-pod.ts";
import { cpuPercent, openSegment } from "../../../lib/embedded/cluster/simulated-workload.ts";
import type { SimulatedWorkload } from "../../../lib/embedded/cluster/simulation.ts";

/** One workload as it is now. */
export interface WorkloadFigures {
  readonly namespace: string;
  readonly name: string;
  /** What the trace asks for at this instant, in its unit. */
  readonly demand: number;
  readonly unit: string;
  /** Share of the demand that finds no capacity at this instant, 0 to 1. */
  readonly unservedShare: number;
  /** `spec.replicas`. */
  readonly replicas: number;
  readonly ready: number;
  /**
   * CPU of the ready pods in percent of their request, at this instant; absent without ready pods.
   */
  readonly cpuPercent?: number;
  readonly targetCpuPercent?: number;
  /** False while the metrics of the workload are dark. */
  readonly scraped: boolean;
}

export const reading = (
  { model, state, live }: SimulatedWorkload,
  nowMs: number,
): WorkloadFigures => {
  const { demand, load } = openSegment(state);
  const ready = live.filter((pod) => isReady(pod, nowMs)).length;
  const percent = cpuPercent(model, load, ready);
  const atMs = lastScrapeMs(nowMs);
  return {
    namespace: model.namespace,
    name: model.name,
    demand,
    unit: model.trace.unit,
    unservedShare: demand > 0 ? load.unserved / demand : 0,
    replicas: state.replicas,
    ready,
    ...(percent !== undefined && { cpuPercent: percent }),
    ...(model.targetCpuPercent !== undefined && { targetCpuPercent: model.targetCpuPercent }),
    scraped: !isDark(model, atMs) && !isDark(model, atMs - RESOLUTION_MS),
  };
};
