import { demandAt } from "../traces/trace.ts";
import { type WorkloadModel, drawer } from "./definition.ts";
import { isLive, type SimulatedPod } from "./simulated-pod.ts";
import { cpuUsedAt, type Totals, totalsAt, type WorkloadState } from "./simulated-workload.ts";
import type { SimulatedWorkload } from "./simulation.ts";

/**
 * What the metrics server knows of one pod: the mean CPU between two scrapes and the memory at the
 * later one.
 */
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

export const lastScrapeMs = (nowMs: number): number =>
  Math.floor(nowMs / RESOLUTION_MS) * RESOLUTION_MS;

/**
 * The usage of each live pod as of the last scrape, if there is one. `noise`: relative amplitude.
 */
export const scrape = (
  model: WorkloadModel,
  state: WorkloadState,
  nowMs: number,
  noise: number,
): readonly PodUsage[] => {
  const atMs = lastScrapeMs(nowMs);
  // Usage is what two scrapes in a row differ by: after an outage the first one says nothing.
  if (isDark(model, atMs) || isDark(model, atMs - RESOLUTION_MS)) return [];
  return state.pods.filter(isLive).flatMap((pod) => {
    const fromMs = Math.max(atMs - RESOLUTION_MS, pod.runningMs);
    const fresh = pod.runningMs > atMs - RESOLUTION_MS;
    if (fromMs >= atMs || (fresh && atMs - fromMs < FRESHEST_MS)) return [];
    return [usageOf({ model, state, noise }, pod, { fromMs, atMs })];
  });
};

/** True within an outage and within a gap of the trace. */
export const isDark = (model: WorkloadModel, atMs: number): boolean => {
  const sinceMs = atMs - model.startMs;
  return (
    model.outages.some(({ fromMs, toMs }) => sinceMs >= fromMs && sinceMs < toMs) ||
    demandAt(model.trace, sinceMs + model.traceOffsetMs).missing
  );
};

const usageOf = (
  {
    model,
    state,
    noise,
  }: { readonly model: WorkloadModel; readonly state: WorkloadState; readonly noise: number },
  pod: SimulatedPod,
  { fromMs, atMs }: { readonly fromMs: number; readonly atMs: number },
): PodUsage => {
  const readyMs = Math.min(atMs, Math.max(fromMs, pod.readyMs));
  const used =
    model.idle.cpuMillicores * (readyMs - fromMs) +
    cpuUsedAt(state, atMs) -
    cpuUsedAt(state, readyMs);
  const draw = drawer(model.seed, "noise", model.namespace, pod.name, atMs);
  const factor = noise === 0 ? 1 : 1 + (noise * draw(-NOISE_STEPS, NOISE_STEPS)) / NOISE_STEPS;
  const loaded =
    pod.readyMs <= atMs
      ? (state.segments.findLast((segment) => segment.fromMs <= atMs) ?? state.segments[0])
      : undefined;
  return {
    pod,
    timestampMs: atMs,
    windowMs: atMs - fromMs,
    cpuNanocores: BigInt(Math.round((used / (atMs - fromMs)) * factor * NANO_PER_MILLI)),
    memoryBytes: Math.round(loaded?.load.memoryBytes ?? model.idle.memoryBytes),
  };
};

export interface Statistics extends Totals {
  readonly namespace: string;
  readonly name: string;
  /**
   * Of the trace: usually a rate, of which the totals are no amount (lib/embedded/view/summary.ts).
   */
  readonly unit: string;
  /** Distance of two samples of the trace. */
  readonly stepMs: number;
  /** Absent without a target; no time then counts as above it. */
  readonly targetCpuPercent?: number;
}

export const statistics = ({ model, state }: SimulatedWorkload, nowMs: number): Statistics => ({
  namespace: model.namespace,
  name: model.name,
  unit: model.trace.unit,
  stepMs: model.trace.stepMs,
  ...(model.targetCpuPercent !== undefined && { targetCpuPercent: model.targetCpuPercent }),
  ...totalsAt(model, state, nowMs),
});
