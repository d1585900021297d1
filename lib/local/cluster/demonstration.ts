import { readShippedTrace } from "../traces/shipped.ts";
import type { WorkloadDefinition } from "./definition.ts";

const MINUTE_MS = 60_000;
const MEBIBYTE = 2 ** 20;
export const DEMONSTRATION_NAMESPACE = "shop";
/** Percent of the request; the costs below are chosen for it. */
const TARGET_CPU_PERCENT = 60;
/** 60 % of the request are 300m; a pod serves twice the load of its target before its limit throttles it. */
const POD = {
  requests: { cpuMillicores: 500, memoryBytes: 256 * MEBIBYTE },
  limits: { cpuMillicores: 600, memoryBytes: 512 * MEBIBYTE },
  targetCpuPercent: TARGET_CPU_PERCENT,
} as const;

/** From 13:00 on the trace climbs from a score of calls per minute to more than 400. */
export const DAILY_OFFSET_MS = 780 * MINUTE_MS;
/** Five minutes before the recorded drop-out, 100 before the first step. */
export const STEPS_OFFSET_MS = 270 * MINUTE_MS;
/** The drop-out itself, at 04:35 for five minutes: the recorder lost its samples, and so do the metrics. */
const STEPS_OUTAGE = { fromMs: 5 * MINUTE_MS, toMs: 10 * MINUTE_MS };
/** One hour before 13 July, 09:44 local time, when within five minutes 114 requests per minute become 405. */
export const CROWD_OFFSET_MS = 4844 * MINUTE_MS;

/**
 * The three workloads of the demonstration. What one unit costs is chosen so that a pod at its target carries 15, 8 and 20 units; the first pods are too few for the load
 * that they meet, so that the first scales come within minutes.
 */
export const demonstrationWorkloads = async (): Promise<readonly WorkloadDefinition[]> => {
  const [daily, steps, crowd] = await Promise.all([
    readShippedTrace("azurefn-diurnal-1m"),
    readShippedTrace("azurefn-steps-1m"),
    readShippedTrace("nasa-http-launch-week-1m"),
  ]);
  const namespace = DEMONSTRATION_NAMESPACE;
  return [
    { ...POD, namespace, name: "daily", trace: daily, traceOffsetMs: DAILY_OFFSET_MS, initialReplicas: 2, cpuMillicoresPerUnit: 20 },
    {
      ...POD,
      namespace,
      name: "steps",
      trace: steps,
      traceOffsetMs: STEPS_OFFSET_MS,
      initialReplicas: 6,
      cpuMillicoresPerUnit: 37,
      outages: [STEPS_OUTAGE],
    },
    { ...POD, namespace, name: "crowd", trace: crowd, traceOffsetMs: CROWD_OFFSET_MS, initialReplicas: 8, cpuMillicoresPerUnit: 15 },
  ];
};
