import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { workloadModel } from "../../../lib/embedded/cluster/definition.ts";
import { capacityPerPod } from "../../../lib/embedded/cluster/simulated-workload.ts";
import { Simulation } from "../../../lib/embedded/cluster/simulation.ts";
import {
  CROWD_OFFSET_MS,
  DAILY_OFFSET_MS,
  demonstrationWorkloads,
  STEPS_OFFSET_MS,
  workloadsOf,
} from "../../../lib/embedded/run/world.ts";
import { demandAt } from "../../../lib/embedded/traces/trace.ts";
import { reading } from "./readings.ts";
import { START_MS } from "./running-cluster.ts";

const MINUTE_MS = 60_000;
/** An HPA at 60 % with the usual tolerance of 10 % does nothing up to here. */
const LEFT_ALONE_PERCENT = 66;

const definitions = await demonstrationWorkloads();
const find = (name: string) => {
  const found = definitions.find((definition) => definition.name === name);
  if (!found) throw new RangeError(`No workload "${name}"`);
  return found;
};

describe("demonstrationWorkloads()", () => {
  it("begins the crowd one hour before the steepest five minutes of launch day", () => {
    const { points } = find("crowd").trace;
    const rises = points.map(({ value }, index) => (points[index + 5]?.value ?? 0) - value);
    const steepest = rises.indexOf(Math.max(...rises));
    expect([points[steepest]?.value, points[steepest + 5]?.value]).toEqual([114, 405]);
    expect(CROWD_OFFSET_MS).toBe((steepest - 60) * MINUTE_MS);
  });

  it("loses the metrics of the steps for the whole of the recorded drop-out", () => {
    const { trace, outages = [] } = find("steps");
    const empty = trace.points.flatMap(({ value }, minute) => (value === 0 ? [minute] : []));
    expect(empty).toEqual([275, 276, 277, 278, 279]);
    expect(outages).toEqual([
      { fromMs: 275 * MINUTE_MS - STEPS_OFFSET_MS, toMs: 280 * MINUTE_MS - STEPS_OFFSET_MS },
    ]);
  });

  it("begins the day where it starts to climb", () => {
    const { trace } = find("daily");
    const hourly = [0, 60, 120, 180].map(
      (minutes) => demandAt(trace, DAILY_OFFSET_MS + minutes * MINUTE_MS).value,
    );
    expect(hourly).toEqual([19, 113, 229, 332]);
  });

  it.each(["daily", "steps", "crowd"])(
    "has too few pods for %s within the first five minutes",
    (name) => {
      let nowMs = START_MS;
      const simulation = new Simulation(
        [workloadModel(find(name), { seed: 1, startMs: START_MS })],
        START_MS,
        () => nowMs,
      );
      const seen: number[] = [];
      for (; nowMs < START_MS + 5 * MINUTE_MS; nowMs += 15_000) {
        simulation.now();
        for (const found of simulation.workloads())
          seen.push(reading(found, nowMs).cpuPercent ?? 0);
      }
      expect(Math.max(...seen)).toBeGreaterThan(LEFT_ALONE_PERCENT);
    },
  );

  it("needs between 1 and 30 pods at the target, so that manifests may ask for that", () => {
    for (const { trace, cpuMillicoresPerUnit, requests } of definitions) {
      const most = Math.max(...trace.points.map(({ value }) => value)) * cpuMillicoresPerUnit;
      expect(Math.ceil(most / (0.6 * requests.cpuMillicores))).toBeLessThanOrEqual(30);
    }
  });
});

const DAY_MS = 1_440 * MINUTE_MS;
/**
 * Of the five seconds that a start over a week of history may take, most are for the code of the
 * run itself.
 */
const REPLAY_CPU_MS_MAX = 1_500;

describe("the past of the demonstration", () => {
  it("is played again as fast as a start needs: a week with 1,440 scales in less than a third of its five seconds, and a second week in no more than the first", () => {
    const cpuMsOf = (days: number): number => {
      const began = process.cpuUsage();
      const simulation = new Simulation(
        definitions.map((definition) => workloadModel(definition, { seed: 1, startMs: START_MS })),
        START_MS,
        () => START_MS + days * DAY_MS,
      );
      for (let minute = 7; minute < days * 1_440; minute += 7)
        simulation.replay({
          atMs: START_MS + minute * MINUTE_MS,
          namespace: "shop",
          name: definitions[minute % 3]?.name ?? "",
          replicas: 2 + (minute % 30),
        });
      expect(simulation.now()).toBe(START_MS + days * DAY_MS);
      const { user, system } = process.cpuUsage(began);
      return (user + system) / 1_000;
    };
    // The first one also compiles.
    cpuMsOf(1);
    const week = cpuMsOf(7);
    expect(week).toBeLessThan(REPLAY_CPU_MS_MAX);
    expect(cpuMsOf(14)).toBeLessThan(4 * week);
  });
});

it("The pods of the example of a Prometheus serve what its target asks of them, and a half more", async () => {
  const text = await readFile("examples/prometheus.yaml", "utf8");
  const { metadata, spec } = parse(text);
  const [workload] = await workloadsOf({
    deployments: [
      {
        namespace: "shop",
        name: "storefront",
        trace: metadata.annotations["tidemark.dev/simulated-trace"],
      },
    ],
  } as never);
  if (!workload) throw new RangeError("it has a workload");
  const model = workloadModel(workload, { seed: 1, startMs: START_MS });
  const perSecond = capacityPerPod(model) / (model.trace.stepMs / 1_000);
  const target = Number.parseInt(spec.metrics[0].target, 10) / 1_000;
  expect(perSecond).toBeGreaterThan(1.5 * target);
  expect(text).toContain(`which serve ${perSecond.toFixed(2)} requests a second at most`);
});

it("A workload of the manifests begins with their replicas, whatever it plays", async () => {
  const made = await workloadsOf({
    kind: "simulated",
    seed: 1,
    startMs: START_MS,
    deployments: [
      { namespace: "shop", name: "other", replicas: 7 },
      { namespace: "shop", name: "steps", replicas: 9 },
      { namespace: "shop", name: "traced", trace: "azurefn-steps-1m", replicas: 3 },
      { namespace: "shop", name: "daily" },
    ],
  });
  expect(made.map(({ initialReplicas }) => initialReplicas)).toEqual([
    7,
    9,
    3,
    find("daily").initialReplicas,
  ]);
});
