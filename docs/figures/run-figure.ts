import type { WorkloadDefinition } from "../../lib/embedded/cluster/definition.ts";
import { demonstrationWorkloads } from "../../lib/embedded/run/world.ts";
import { demandAt } from "../../lib/embedded/traces/trace.ts";
import type { PlayedScale, PlayedScales } from "./played-scales.ts";
import { type ChartedWorkload, runChart } from "./run-chart.ts";

/** How much of the demonstration the picture shows: three virtual hours. */
export const SHOWN_MINUTES = 180;
const MINUTE_MS = 60_000;

const TITLES: Readonly<Record<string, string>> = {
  daily: "a day's ramp, calls per minute of one Azure function",
  steps: "steps, and five minutes without metrics, calls per minute of another",
  crowd: "requests per minute to NASA's web server around a launch",
};

/**
 * The picture of the README as SVG text: the scales of a run over the recorded load of the
 * demonstration.
 */
export const runFigure = async (scales: PlayedScales): Promise<string> => {
  const workloads = await demonstrationWorkloads();
  return runChart(
    workloads.map((definition) => charted(definition, scales[definition.name] ?? [])),
    SHOWN_MINUTES,
  );
};

const charted = (
  definition: WorkloadDefinition,
  scales: readonly PlayedScale[],
): ChartedWorkload => {
  const {
    name,
    trace,
    traceOffsetMs = 0,
    outages = [],
    requests,
    targetCpuPercent = 100,
    cpuMillicoresPerUnit,
    initialReplicas,
  } = definition;
  const unitsPerPod = (requests.cpuMillicores * targetCpuPercent) / 100 / cpuMillicoresPerUnit;
  const needed = Array.from({ length: SHOWN_MINUTES + 1 }, (_, minute) => {
    const atMs = minute * MINUTE_MS;
    const { value, missing } = demandAt(trace, traceOffsetMs + atMs);
    const unseen = missing || outages.some(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs);
    return { minute, pods: unseen ? undefined : value / unitsPerPod };
  });
  return {
    name,
    title: TITLES[name] ?? "",
    needed,
    initialReplicas,
    scales: scales.map(({ afterMs, from, to }) => ({ minute: afterMs / MINUTE_MS, from, to })),
  };
};
