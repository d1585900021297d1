import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { workloadModel } from "../../../lib/embedded/cluster/definition.ts";
import {
  capacityPerPod,
  cpuPercent,
  isAboveTarget,
  spread,
} from "../../../lib/embedded/cluster/simulated-workload.ts";
import { START_MS, workload } from "./running-cluster.ts";

// Without load a pod uses 5m; each unit costs 10m; the limit of 600m is met at 59.5 units.
const model = workloadModel(workload(), { seed: 1, startMs: START_MS });

describe("spread()", () => {
  it.each([
    ["below its limit", 118, 2, 595, 118, 0],
    ["at its limit", 119, 2, 600, 119, 0],
    ["above its limit", 121, 2, 600, 119, 2],
    ["without load", 0, 2, 5, 0, 0],
  ])("gives each pod its share: %s", (_, demand, ready, cpuMillicores, served, unserved) => {
    expect(spread(model, demand, ready)).toMatchObject({ cpuMillicores, served, unserved });
  });

  it("leaves all demand unserved when no pod is ready", () => {
    expect(spread(model, 50, 0)).toMatchObject({ perPod: 0, served: 0, unserved: 50 });
  });

  it("never serves more than is asked or than fits, never loses a unit and never exceeds a limit", () => {
    fc.assert(
      fc.property(fc.nat(100_000), fc.nat(500), (demand, ready) => {
        const load = spread(model, demand, ready);
        expect(load.served + load.unserved).toBeCloseTo(demand, 6);
        expect(load.served).toBeLessThanOrEqual(Math.min(demand, ready * capacityPerPod(model)));
        expect(load.cpuMillicores).toBeLessThanOrEqual(model.limits.cpuMillicores);
        expect(load.memoryBytes).toBeLessThanOrEqual(model.limits.memoryBytes);
      }),
    );
  });
});

describe("cpuPercent()", () => {
  it("is the share of the request, which may be more than all of it", () => {
    expect(cpuPercent(model, spread(model, 119, 2), 2)).toBe(120);
    expect(cpuPercent(model, spread(model, 50, 0), 0)).toBeUndefined();
  });
});

describe("isAboveTarget()", () => {
  it.each([
    ["below", 58, 2, false],
    ["at", 59, 2, false],
    ["above", 60, 2, true],
    ["asked of no pod", 1, 0, true],
    ["nothing asked of no pod", 0, 0, false],
  ])("compares with the target of 60 %%: %s", (_, demand, ready, above) => {
    expect(isAboveTarget(model, demand, spread(model, demand, ready), ready)).toBe(above);
  });

  it("says nothing without a target", () => {
    const { targetCpuPercent: _, ...untargeted } = model;
    expect(isAboveTarget(untargeted, 1000, spread(model, 1000, 1), 1)).toBe(false);
  });
});

describe("workloadModel()", () => {
  it.each([
    [
      { name: "we b" },
      'Cannot simulate "shop/we b": the namespace must be a DNS label, and the name has 63 letters, digits, "-" and "." at most',
    ],
    [{ initialReplicas: -1 }, 'Cannot simulate "shop/web": initialReplicas must be 0 to 10000'],
    [{ initialReplicas: 10_001 }, 'Cannot simulate "shop/web": initialReplicas must be 0 to 10000'],
    [{ initialReplicas: 1.5 }, 'Cannot simulate "shop/web": initialReplicas must be 0 to 10000'],
    [
      { cpuMillicoresPerUnit: 0 },
      'Cannot simulate "shop/web": cpuMillicoresPerUnit must be greater than 0',
    ],
    [
      { limits: { cpuMillicores: 5, memoryBytes: 1 } },
      'Cannot simulate "shop/web": the CPU limit must be greater than the 5m used without load',
    ],
    [
      { startupMs: { min: 2, max: 1 } },
      'Cannot simulate "shop/web": startupMs must be a range of at least 0',
    ],
    [
      { traceOffsetMs: Number.NaN },
      'Cannot simulate "shop/web": traceOffsetMs must be a number of milliseconds',
    ],
  ])("refuses %j", (changes, message) => {
    expect(() => workloadModel(workload(changes), { seed: 1, startMs: START_MS })).toThrow(
      new RangeError(message),
    );
  });
});
