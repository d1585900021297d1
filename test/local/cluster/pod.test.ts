import { describe, expect, it } from "vitest";
import { type WorkloadModel, workloadModel } from "../../../lib/embedded/cluster/definition.ts";
import {
  bornPod,
  podChanges,
  isGone,
  isReady,
  type SimulatedPod,
  victims,
} from "../../../lib/embedded/cluster/simulated-pod.ts";
import { START_MS, workload } from "./running-cluster.ts";

const model: WorkloadModel = workloadModel(workload({ startupMs: { min: 20_000, max: 40_000 } }), {
  seed: 5,
  startMs: START_MS,
});

const pod = (name: string, changes: Partial<SimulatedPod> = {}): SimulatedPod => ({
  name,
  uid: name,
  createdMs: START_MS,
  startedMs: START_MS + 500,
  runningMs: START_MS + 10_000,
  readyMs: START_MS + 30_000,
  version: 1,
  ...changes,
});

describe("bornPod()", () => {
  it("draws name, uid and durations from the seed alone", () => {
    const born = (seed: number) =>
      bornPod({ ...model, seed }, { ordinal: 3, createdMs: START_MS, version: 9 }, new Set());
    expect(born(5)).toEqual(born(5));
    expect(born(6).name).not.toBe(born(5).name);
    expect(born(5).name).toMatch(
      /^web-[bcdfghjklmnpqrstvwxz2456789]{10}-[bcdfghjklmnpqrstvwxz2456789]{5}$/,
    );
    expect(born(5).uid).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  it("never gives a name that lives", () => {
    const first = bornPod(model, { ordinal: 3, createdMs: START_MS, version: 9 }, new Set());
    const second = bornPod(
      model,
      { ordinal: 3, createdMs: START_MS, version: 9 },
      new Set([first.name]),
    );
    expect(second.name).not.toBe(first.name);
  });

  it("is ready after 20 to 40 s, having started and run before", () => {
    for (let ordinal = 0; ordinal < 200; ordinal++) {
      const { createdMs, startedMs, runningMs, readyMs } = bornPod(
        model,
        { ordinal, createdMs: START_MS, version: 9 },
        new Set(),
      );
      expect(readyMs - createdMs).toBeGreaterThanOrEqual(20_000);
      expect(readyMs - createdMs).toBeLessThanOrEqual(40_000);
      expect(createdMs).toBeLessThan(startedMs);
      expect(startedMs).toBeLessThan(runningMs);
      expect(runningMs).toBeLessThan(readyMs);
    }
  });
});

describe("victims()", () => {
  const chosen = (pods: readonly SimulatedPod[], count: number, atMs: number) =>
    [...victims(pods, count, atMs)].map(({ name }) => name);

  it("takes those on no node, then those not running, then those not ready, then the last to become ready", () => {
    const atMs = START_MS + 60_000;
    const pods = [
      pod("old", { readyMs: START_MS - 60_000 }),
      pod("new"),
      pod("starting", { readyMs: atMs + 1 }),
      pod("pulling", { runningMs: atMs + 1, readyMs: atMs + 2 }),
      pod("waiting", { startedMs: atMs + 1, runningMs: atMs + 2, readyMs: atMs + 3 }),
    ];
    expect(chosen(pods, 5, atMs)).toEqual(["waiting", "pulling", "starting", "new", "old"]);
    expect(chosen(pods, 2, atMs)).toEqual(["waiting", "pulling"]);
    expect(chosen(pods, 0, atMs)).toEqual([]);
  });

  it("takes the youngest of those equally far, and goes by name among twins", () => {
    const atMs = START_MS + 5000;
    expect(chosen([pod("a"), pod("c", { createdMs: START_MS + 1 }), pod("b")], 3, atMs)).toEqual([
      "c",
      "a",
      "b",
    ]);
  });
});

describe("a deleted pod", () => {
  it("is not ready any more, stays for its termination and is gone after it", () => {
    const deletedMs = START_MS + 40_000;
    const leaving = pod("a", { deletedMs });
    expect(isReady(leaving, deletedMs)).toBe(false);
    expect(isGone(leaving, deletedMs + 4999)).toBe(false);
    expect(isGone(leaving, deletedMs + 5000)).toBe(true);
    expect(podChanges(leaving)).toEqual([deletedMs + 5000]);
  });

  it("is gone at once when no node had taken it", () => {
    expect(isGone(pod("a", { deletedMs: START_MS + 100 }), START_MS + 100)).toBe(true);
  });
});
