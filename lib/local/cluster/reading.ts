import { demandAt } from "../traces/trace.ts";
import { type WorkloadModel, drawer } from "./definition.ts";
import { isLive, type SimulatedPod, isReady } from "./simulated-pod.ts";
import { cpuUsedAt, type WorkloadState, cpuPercent, openSegment, type Totals, totalsAt } from "./simulated-workload.ts";
import type { SimulatedWorkload } from "./simulation.ts";

/** What the metrics server knows of one pod: the mean CPU between two scrapes and the memory at the later one. */
export interface PodUsage {
  readonly pod: SimulatedPod;
  readonly timestampMs: number;
  readonly windowMs: number;
  readonly cpuNanocores: bigint;
  readonly memoryBytes: number;
}

/** The metrics server's default resolution; scrapes happen at multiples of it. */
export const RESOLUTION_MS = 15_000;
/** A container younger than this at its first scrape waits for the second. */
const FRESHEST_MS = 10_000;
/** Noise is drawn in steps of a thousandth of its amplitude. */
const NOISE_STEPS = 1000;
const NANO_PER_MILLI = 1e6;

export const lastScrapeMs = (nowMs: number): number => Math.floor(nowMs / RESOLUTION_MS) * RESOLUTION_MS;

/** The usage of each live pod as of the last scrape, if there is one. `noise`: relative amplitude. */
export const scrape = (model: WorkloadModel, state: WorkloadState, nowMs: number, noise: number): readonly PodUsage[] => {
  const atMs = lastScrapeMs(nowMs);
  if (!isScraped(model, nowMs)) return [];
  return state.pods.filter(isLive).flatMap((pod) => {
    const fromMs = Math.max(atMs - RESOLUTION_MS, pod.runningMs);
    const fresh = pod.runningMs > atMs - RESOLUTION_MS;
    if (fromMs >= atMs || (fresh && atMs - fromMs < FRESHEST_MS)) return [];
    return [usageOf({ model, state, noise }, pod, { fromMs, atMs })];
  });
};

/** Usage is what two scrapes in a row differ by: after an outage the first one says nothing. */
const isScraped = (model: WorkloadModel, nowMs: number): boolean => {
  const atMs = lastScrapeMs(nowMs);
  return !isDark(model, atMs) && !isDark(model, atMs - RESOLUTION_MS);
};

/** True within an outage and within a gap of the trace. */
export const isDark = (model: WorkloadModel, atMs: number): boolean => {
  const sinceMs = atMs - model.startMs;
  return (
    model.outages.some(({ fromMs, toMs }) => sinceMs >= fromMs && sinceMs < toMs) || demandAt(model.trace, sinceMs + model.traceOffsetMs).missing
  );
};

const usageOf = (
  { model, state, noise }: { readonly model: WorkloadModel; readonly state: WorkloadState; readonly noise: number },
  pod: SimulatedPod,
  { fromMs, atMs }: { readonly fromMs: number; readonly atMs: number },
): PodUsage => {
  const readyMs = Math.min(atMs, Math.max(fromMs, pod.readyMs));
  const used = model.idle.cpuMillicores * (readyMs - fromMs) + cpuUsedAt(state, atMs) - cpuUsedAt(state, readyMs);
  const draw = drawer(model.seed, "noise", model.namespace, pod.name, atMs);
  const factor = noise === 0 ? 1 : 1 + (noise * draw(-NOISE_STEPS, NOISE_STEPS)) / NOISE_STEPS;
  const loaded = pod.readyMs <= atMs ? (state.segments.findLast((segment) => segment.fromMs <= atMs) ?? state.segments[0]) : undefined;
  return {
    pod,
    timestampMs: atMs,
    windowMs: atMs - fromMs,
    cpuNanocores: BigInt(Math.round((used / (atMs - fromMs)) * factor * NANO_PER_MILLI)),
    memoryBytes: Math.round(loaded?.load.memoryBytes ?? model.idle.memoryBytes),
  };
};

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
