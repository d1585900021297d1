import { cpuPercent, openSegment, type Totals, totalsAt } from "./simulated-workload.ts";
import { isScraped } from "./scrape.ts";
import { isReady } from "./simulated-pod.ts";
import type { SimulatedWorkload } from "./simulation.ts";

/** One workload for the live view. */
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
  /** CPU of the ready pods in percent of their request, at this instant; absent without ready pods. */
  readonly cpuPercent?: number;
  readonly targetCpuPercent?: number;
  /** False while the metrics of the workload are dark. */
  readonly scraped: boolean;
}

export interface Statistics extends Totals {
  readonly namespace: string;
  readonly name: string;
  /** Of the trace: usually a rate, of which the totals are no amount (lib/local/view/summary.ts). */
  readonly unit: string;
  /** Distance of two samples of the trace. */
  readonly stepMs: number;
  /** Absent without a target; no time then counts as above it. */
  readonly targetCpuPercent?: number;
}

export const reading = ({ model, state, live }: SimulatedWorkload, nowMs: number): WorkloadFigures => {
  const { demand, load } = openSegment(state);
  const ready = live.filter((pod) => isReady(pod, nowMs)).length;
  const percent = cpuPercent(model, load, ready);
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
    scraped: isScraped(model, nowMs),
  };
};

export const statistics = ({ model, state }: SimulatedWorkload, nowMs: number): Statistics => ({
  namespace: model.namespace,
  name: model.name,
  unit: model.trace.unit,
  stepMs: model.trace.stepMs,
  ...(model.targetCpuPercent !== undefined && { targetCpuPercent: model.targetCpuPercent }),
  ...totalsAt(model, state, nowMs),
});
