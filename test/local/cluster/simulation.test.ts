import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type WorkloadDefinition,
  workloadModel,
} from "../../../lib/embedded/cluster/definition.ts";
import { statistics, scrape } from "../../../lib/embedded/cluster/reading.ts";
import { isReady } from "../../../lib/embedded/cluster/simulated-pod.ts";
import { Simulation } from "../../../lib/embedded/cluster/simulation.ts";
import { constantTrace, START_MS, workload } from "./running-cluster.ts";
import { runs } from "../../runs.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;

const begin = (definitions: readonly WorkloadDefinition[] = [workload()], seed = 1) => {
  const time = { nowMs: START_MS };
  const simulation = new Simulation(
    definitions.map((definition) => workloadModel(definition, { seed, startMs: START_MS })),
    START_MS,
    () => time.nowMs,
  );
  const web = () => {
    simulation.now();
    const found = simulation.workload("shop", "web");
    if (!found) throw new RangeError("No workload");
    return found;
  };
  const at = (sinceMs: number) => {
    time.nowMs = START_MS + sinceMs;
    return web();
  };
  return {
    simulation,
    time,
    web,
    at,
    scale: (replicas: number) => [
      simulation.now(),
      simulation.write({ namespace: "shop", name: "web", replicas }),
    ],
  };
};

describe("Simulation", () => {
  it("finds the first pods ready, older than every initialization period", () => {
    const { live } = begin().web();
    expect(live).toHaveLength(2);
    for (const pod of live) expect(START_MS - pod.startedMs).toBeGreaterThan(5 * MINUTE_MS);
  });

  it("lets new pods become ready only after their start-up, and raises generation and version", () => {
    const { at, scale } = begin([workload({ startupMs: { min: 30_000, max: 30_000 } })]);
    const before = at(10 * SECOND_MS);
    scale(5);
    const after = at(10 * SECOND_MS);
    expect(after.state.generation).toBe(before.state.generation + 1);
    expect(after.state.version).toBeGreaterThan(before.state.version);
    const ready = (sinceMs: number) =>
      at(sinceMs).live.filter((pod) => isReady(pod, START_MS + sinceMs)).length;
    expect(after.live).toHaveLength(5);
    expect(ready(39_999)).toBe(2);
    expect(ready(40_000)).toBe(5);
    expect(at(40_000).state.version).toBeGreaterThan(after.state.version);
  });

  it("keeps deleted pods for their termination, then forgets them", () => {
    const { at, scale } = begin();
    scale(1);
    expect(at(0).live).toHaveLength(1);
    expect(at(4999).state.pods).toHaveLength(2);
    expect(at(5000).state.pods).toHaveLength(1);
  });

  it("counts replica time, demand served and not served, and time above the target", () => {
    // 60 calls per minute are served by two pods, 240 are 121 too many.
    const { at } = begin([workload({ trace: constantTrace(58, 240) })]);
    const { model, state, live } = at(90 * SECOND_MS);
    expect(statistics({ model, state, live }, START_MS + 90 * SECOND_MS)).toEqual({
      namespace: "shop",
      name: "web",
      unit: "calls per minute",
      stepMs: 60_000,
      targetCpuPercent: 60,
      elapsedMs: 90_000,
      replicaMs: 180_000,
      readyMs: 180_000,
      demand: 58 + 120,
      served: 58 + 59.5,
      unserved: 60.5,
      worst: { atMs: START_MS + 60_000, unserved: 121 },
      aboveTargetMs: 30_000,
    });
  });

  it("does not run backwards with the clock", () => {
    const { simulation, time } = begin();
    time.nowMs = START_MS + 60_000;
    simulation.now();
    time.nowMs = START_MS;
    expect(simulation.now()).toBe(START_MS + 60_000);
  });

  it("refuses two workloads of one name", () => {
    expect(() => begin([workload(), workload()])).toThrow(
      new RangeError('Cannot simulate "shop/web": it is defined twice'),
    );
  });

  it("refuses to scale what it does not have", () => {
    expect(() =>
      begin().simulation.write({ namespace: "shop", name: "none", replicas: 1 }),
    ).toThrow(new RangeError('There is no workload "shop/none" to scale'));
  });
});

describe("scrape()", () => {
  const cpu = (found: ReturnType<ReturnType<typeof begin>["at"]>, sinceMs: number, noise = 0) =>
    scrape(found.model, found.state, START_MS + sinceMs, noise).map(
      ({ cpuNanocores, windowMs, timestampMs }) => ({
        millicores: Number(cpuNanocores) / 1e6,
        windowMs,
        sinceMs: timestampMs - START_MS,
      }),
    );

  it("gives the mean between the last two scrapes, not the present", () => {
    // At 60 s the load of each pod rises from 10 to 30 units: from 105m to 305m.
    const { at } = begin([workload({ trace: constantTrace(20, 60) })]);
    expect(cpu(at(74_999), 74_999)[0]).toEqual({
      millicores: 105,
      windowMs: 15_000,
      sinceMs: 60_000,
    });
    expect(cpu(at(75_000), 75_000)[0]).toEqual({
      millicores: 305,
      windowMs: 15_000,
      sinceMs: 75_000,
    });
  });

  it("mixes what lay in the window by its duration", () => {
    const { at, scale } = begin([workload({ trace: constantTrace(60) })]);
    at(5 * SECOND_MS);
    scale(1);
    // 5 s at 305m and 10 s at the limit of 600m.
    expect(cpu(at(15_000), 15_000)).toEqual([
      { millicores: 501.666667, windowMs: 15_000, sinceMs: 15_000 },
    ]);
  });

  it("shows a new pod from its first scrape of 10 s or more, with a window that began when it ran", () => {
    const { at, scale } = begin([workload({ startupMs: { min: 30_000, max: 30_000 } })]);
    scale(3);
    const pod = at(0).live.find(({ createdMs }) => createdMs === START_MS);
    const runsAfterMs = (pod?.runningMs ?? 0) - START_MS;
    expect(runsAfterMs).toBeGreaterThan(5000);
    expect(cpu(at(15_000), 15_000)).toHaveLength(2);
    const found = cpu(at(30_000), 30_000).find(({ windowMs }) => windowMs !== 15_000);
    expect(found === undefined ? 15_000 : found.windowMs).toBe(
      Math.min(15_000, 30_000 - runsAfterMs),
    );
    expect(cpu(at(30_000), 30_000)).toHaveLength(3);
  });

  it.each([
    [59_999, 2],
    [60_000, 0],
    [119_999, 0],
    [120_000, 0],
    [134_999, 0],
    [135_000, 2],
  ])(
    "gives nothing during an outage, nor from one scrape alone after it: at %i ms %i pods",
    (sinceMs, pods) => {
      const { at } = begin([workload({ outages: [{ fromMs: 60_000, toMs: 120_000 }] })]);
      expect(cpu(at(sinceMs), sinceMs)).toHaveLength(pods);
    },
  );

  it("gives nothing in a gap of the trace", () => {
    const points = [
      { atMs: 0, value: 60 },
      { atMs: 60_000, value: 60 },
      { atMs: 300_000, value: 60 },
    ];
    const { at } = begin([workload({ trace: { points, unit: "calls", stepMs: 60_000 } })]);
    expect(cpu(at(105_000), 105_000)).toHaveLength(2);
    expect(cpu(at(120_000), 120_000)).toHaveLength(0);
    expect(cpu(at(315_000), 315_000)).toHaveLength(2);
  });

  it("makes the same noise within its amplitude every time", () => {
    const { at } = begin();
    const readings = Array.from({ length: 40 }, (_, index) =>
      cpu(at(index * 15_000), index * 15_000, 0.02),
    ).flat();
    for (const { millicores } of readings)
      expect(Math.abs(millicores / 305 - 1)).toBeLessThanOrEqual(0.02);
    expect(new Set(readings.map(({ millicores }) => millicores)).size).toBeGreaterThan(20);
    const again = begin();
    expect(
      Array.from({ length: 40 }, (_, index) =>
        cpu(again.at(index * 15_000), index * 15_000, 0.02),
      ).flat(),
    ).toEqual(readings);
  });
});

describe("the state of a simulation", () => {
  const writes = fc.array(fc.record({ afterMs: fc.nat(120_000), replicas: fc.nat(12) }), {
    maxLength: 12,
  });
  const looks = fc.array(fc.nat(1_500_000), { maxLength: 40 });
  const trace = fc
    .array(fc.nat(400), { minLength: 1, maxLength: 10 })
    .map((values) => constantTrace(...values));
  const endMs = 1_500_000;

  const play = (
    definition: WorkloadDefinition,
    seed: number,
    planned: readonly { afterMs: number; replicas: number }[],
    looked: readonly number[],
  ) => {
    const run = begin(
      [definition, workload({ name: "other", trace: constantTrace(5, 90, 13) })],
      seed,
    );
    let dueMs = 0;
    const steps = planned.map(({ afterMs, replicas }) => {
      dueMs += afterMs;
      return { dueMs, replicas };
    });
    const instants = [
      ...steps,
      ...looked.map((atMs) => ({ dueMs: atMs, replicas: undefined })),
    ].toSorted((a, b) => a.dueMs - b.dueMs);
    for (const { dueMs: atMs, replicas } of instants) {
      run.at(atMs);
      if (replicas !== undefined) run.scale(replicas);
    }
    run.at(endMs);
    return { workloads: run.simulation.workloads(), version: run.simulation.version };
  };

  it("never depends on how often and when it is read", () => {
    fc.assert(
      fc.property(trace, fc.nat(), writes, looks, (played, seed, planned, looked) => {
        const definition = workload({ trace: played });
        expect(play(definition, seed, planned, looked)).toEqual(
          play(definition, seed, planned, []),
        );
      }),
      runs(10),
    );
  });

  it("always follows from its accepted writes", () => {
    fc.assert(
      fc.property(trace, fc.nat(), writes, (played, seed, planned) => {
        const original = begin([workload({ trace: played })], seed);
        let dueMs = 0;
        const accepted = planned.map(({ afterMs, replicas }) => {
          dueMs += afterMs;
          original.at(dueMs);
          return original.simulation.write({ namespace: "shop", name: "web", replicas });
        });
        const restored = begin([workload({ trace: played })], seed);
        for (const write of accepted) restored.simulation.replay(write);
        expect(restored.at(endMs)).toEqual(original.at(endMs));
        expect(restored.simulation.version).toBe(original.simulation.version);
      }),
      runs(10),
    );
  });

  it("always has as many live pods as replicas and never loses demand", () => {
    fc.assert(
      fc.property(trace, fc.nat(), writes, looks, (played, seed, planned, looked) => {
        const { workloads } = play(workload({ trace: played }), seed, planned, looked);
        for (const found of workloads) {
          expect(found.live).toHaveLength(found.state.replicas);
          const { demand, served, unserved, elapsedMs } = statistics(found, START_MS + endMs);
          expect(served + unserved).toBeCloseTo(demand, 5);
          expect(elapsedMs).toBe(endMs);
        }
      }),
      runs(10),
    );
  });
});
