import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { workloadModel } from "../../lib/embedded/cluster/definition.ts";
import { spread } from "../../lib/embedded/cluster/simulated-workload.ts";
import { deploymentsOf } from "../../lib/embedded/run/manifest-files.ts";
import { workloadsOf } from "../../lib/embedded/run/world.ts";
import { demandAt } from "../../lib/embedded/traces/trace.ts";
import { admitOrThrow } from "../../lib/rules/manifest/admit.ts";
import { readManifests } from "../../lib/rules/manifest/documents.ts";
import { NEW_WINDOWS } from "../../lib/rules/model/windows.ts";
import { NOON } from "../noon.ts";
import type { AppliedSync } from "../policy/applied-sync.ts";
import { pod, sync } from "../policy/native/world.ts";

const FILE = "noisy.yaml";
const text = readFileSync(join(import.meta.dirname, "../../examples", FILE), "utf8");
const deployments = deploymentsOf([{ file: FILE, text }]);
const workloads = await workloadsOf({
  kind: "simulated",
  seed: 1,
  startMs: NOON,
  deployments: [...deployments],
});
const specs = readManifests(text, FILE).map((given) => admitOrThrow(given).spec);

const PERIOD_MS = 15_000;
const DAY_MS = 86_400_000;

/** The counts of a day under the recorded load, every pod ready at once and using its share. */
const dayOf = (index: number): readonly number[] => {
  const [definition, spec] = [workloads[index], specs[index]];
  if (!definition || !spec) throw new RangeError(`There is no workload ${index}`);
  const model = workloadModel(definition, { seed: 1, startMs: NOON });
  let state: Pick<AppliedSync, "count" | "windows"> = {
    count: definition.initialReplicas,
    windows: NEW_WINDOWS,
  };
  return Array.from({ length: DAY_MS / PERIOD_MS }, (_, at) => {
    const { cpuMillicores } = spread(
      model,
      demandAt(model.trace, at * PERIOD_MS).value,
      state.count,
    );
    const owned = {
      owners: [{ kind: "ReplicaSet", name: `${definition.name}-1`, uid: "r", controller: true }],
      labels: { app: definition.name },
    };
    const pods = Array.from({ length: state.count }, (__, nth) => ({
      ...pod(`web-${nth}`, { request: BigInt(definition.requests.cpuMillicores) }),
      ...owned,
    }));
    const usage = Object.fromEntries(
      pods.map(({ name }) => [name, BigInt(Math.round(cpuMillicores))]),
    );
    const seen = {
      replicas: state.count,
      pods,
      usage,
      app: definition.name,
      nowMs: NOON + at * PERIOD_MS,
      windows: state.windows,
      unstored: true,
    } as const;
    state = sync(spec, seen);
    return state.count;
  });
};

const movesOf = (
  counts: readonly number[],
): { readonly scales: number; readonly reversals: number } => {
  const moves = counts.flatMap((count, at) =>
    at > 0 && count !== counts[at - 1] ? [Math.sign(count - (counts[at - 1] ?? count))] : [],
  );
  return {
    scales: moves.length,
    reversals: moves.filter((way, at) => at > 0 && way !== moves[at - 1]).length,
  };
};

describe("examples/noisy.yaml, a day of noisy, flat CPU", () => {
  it("is the same load on the same pods, from the same count", () => {
    const { name: _name, targetCpuPercent: _target, ...first } = workloads[0] ?? { name: "" };
    expect(workloads).toHaveLength(3);
    for (const { name: _own, targetCpuPercent: _aim, ...workload } of workloads)
      expect(workload).toEqual(first);
  });

  it("makes an HPA follow the noise", () => {
    const { scales, reversals } = movesOf(dayOf(0));
    expect(scales).toBeGreaterThan(50);
    expect(reversals).toBeGreaterThan(30);
  });

  it("makes a good watermark policy do nothing", () =>
    expect(movesOf(dayOf(1))).toEqual({ scales: 0, reversals: 0 }));

  it("makes marks under the native rules do nothing either", () =>
    expect(movesOf(dayOf(2))).toEqual({ scales: 0, reversals: 0 }));
});
