import Table from "cli-table3";
import { readShippedTrace } from "../../lib/embedded/traces/read-trace.ts";
import { SHIPPED_TRACES } from "../../lib/embedded/traces/trace.ts";
import { DAY_MS } from "../../lib/rules/model/time-text.ts";
import { replay } from "../../lib/replay/replay.ts";
import { hpa, podAutoscaler } from "../replay/world.ts";
import { tracedRun } from "../replay/traced-run.ts";

/**
 * Each policy is played so often at least; the least CPU time counts, because others use the
 * machine too.
 */
const TIMES = 8;
/**
 * So much CPU time goes before a policy is counted, on each load: code is compiled while it runs,
 * and a day is replayed sooner than that.
 */
const WARM_UP_MS = 1_500;
const PERIOD_MS = 15_000;

const external = (average: number) => ({
  type: "External",
  external: {
    metric: { name: "load" },
    target: { type: "AverageValue", averageValue: `${average}` },
  },
});

/** What people compare: an HPA on CPU or on one value, and a PodAutoscaler with more steps. */
const POLICIES: Readonly<Record<string, (perPod: number) => object>> = {
  "HPA, cpu": () => hpa({ maxReplicas: 30 }),
  "HPA, external": (perPod) => hpa({ maxReplicas: 30, metrics: [external(perPod)] }),
  "PodAutoscaler, cpu": () =>
    podAutoscaler({
      maxReplicas: 30,
      metrics: [{ resource: { name: "cpu" }, target: 50, tolerance: { down: "0.2" } }],
      scaleUp: { sustainSeconds: 30 },
      scaleDown: { stabilizationWindowSeconds: 600 },
    }),
};

/** CPU time of some work. */
const cpuMsOf = (work: () => void): number => {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000;
};

/** The least CPU time of many plays, once the code is compiled. */
const leastMsOf = (play: () => void): number => {
  for (let spentMs = 0; spentMs < WARM_UP_MS; ) spentMs += cpuMsOf(play);
  return Math.min(...Array.from({ length: TIMES }, () => cpuMsOf(play)));
};

/**
 * Policy-days that a core replays in a second of CPU time, at a sync every 15 s. Work of others
 * makes a second of CPU time shorter too: run it on a machine without other work.
 */
export const run = async (): Promise<void> => {
  const table = new Table({
    head: ["load", "days", ...Object.keys(POLICIES).map((name) => `${name}: policy-days/s`)],
  });
  for (const name of SHIPPED_TRACES) {
    const traced = await readShippedTrace(name);
    const cells = Object.values(POLICIES).map((manifestOf) => {
      const { policy, workload, span } = tracedRun(traced, manifestOf, PERIOD_MS);
      const days = (span.untilMs - span.fromMs) / DAY_MS;
      const leastMs = leastMsOf(() => replay(policy, workload, span));
      return { days, perSecond: (days / leastMs) * 1_000 };
    });
    const [first] = cells;
    table.push([
      name,
      first?.days.toFixed(1) ?? "",
      ...cells.map(({ perSecond }) => perSecond.toFixed(1)),
    ]);
  }
  process.stdout.write(`${table.toString()}\n`);
};
