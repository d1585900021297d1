import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { partitionName } from "../../lib/rules/model/ids.ts";
import { HOUR_MS, MINUTE_MS } from "../../lib/rules/model/time-text.ts";
import { PERIOD_MS, type SeriesWorld, seriesWorld } from "../service/series-world.ts";
import { inside } from "./inside.ts";

const QUARTER_MS = 15 * MINUTE_MS;
const QUARTER = QUARTER_MS / PERIOD_MS;
const GAP_MINUTES = 20;
const MAX = 12;

const web = (averageValue: string, spec: object = {}): string =>
  JSON.stringify({
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "web", namespace: "shop" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      ...{ minReplicas: 1, maxReplicas: MAX },
      metrics: [
        {
          type: "External",
          external: { metric: { name: "lag" }, target: { type: "AverageValue", averageValue } },
        },
      ],
      behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
      ...spec,
    },
  });

let world: SeriesWorld;
let folder: string;
let beganMs = 0;
const path = (name: string): string => join(folder, name);

/** A quarter of an hour of a load, of which each pod takes 200 before the edit and 100 after it. */
const quarter = async (load: number): Promise<void> => {
  world.milli = BigInt(load) * 1_000n;
  await world.play(QUARTER);
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-hard-"));
  writeFileSync(path("half.yaml"), web("50"));
  world = await seriesWorld({ web: 2 }, web("200"));
  const { service } = world;
  beganMs = world.nowMs;
  await quarter(800);
  await quarter(1_600);
  // A person raises the minimum for a quarter of an hour.
  await service.setOverride({
    ...{ cluster: "eu-1", namespace: "shop", name: "web", min: 10 },
    ...{ untilMs: world.nowMs + QUARTER_MS, reason: "TV spot" },
  });
  await quarter(800);
  // The manifest is edited.
  await service.apply([{ file: "web.yaml", text: web("100") }], { cluster: "eu-1", dryRun: false });
  await quarter(800);
  // Another environment goes on, then none does for a while, in which the load changes.
  world.forget();
  await quarter(500);
  world.wait(GAP_MINUTES * MINUTE_MS);
  world.forget();
  await quarter(1_000);
  // The namespace moves to a partition of its own, which is renamed later.
  for (const name of ["pay", "paid"]) {
    await service.replaceCluster({ name: "eu-1", partitions: [{ name, namespaces: ["shop"] }] });
    world.partition = partitionName(name);
    await quarter(name === "pay" ? 600 : 900);
  }
  // More than the maximum serves.
  await quarter(3_000);
  await quarter(700);
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

const replayed = (words: string, files: readonly string[] = []) => {
  const open = async () => ({
    ...{ service: world.service, place: "folder of a test", nowMs: world.nowMs },
    ...{ clock: () => world.nowMs, close: async () => {} },
  });
  return inside(
    [
      ...["replay", "web", "--since", new Date(beganMs).toISOString()],
      ...words.split(" ").filter((word) => word !== ""),
      ...files.flatMap((file) => ["-f", path(file)]),
    ],
    { open: open as unknown as NonNullable<Parameters<typeof inside>[1]>["open"] & object },
  );
};
const json = async (files: readonly string[] = []) => {
  const { code, out, err } = await replayed("-o json", files);
  expect([code, err]).toEqual([0, ""]);
  return JSON.parse(out);
};

describe("the replay of a history with an override, an edit, restarts, a gap and moves", () => {
  it("has the count of the unchanged policy in 99 % of the minutes", async () => {
    const { fidelity } = await json();
    expect(fidelity.sameMinutes).toBeGreaterThanOrEqual(0.99);
    expect(Math.abs(fidelity.hoursOff)).toBeLessThan(0.01);
  });

  it("keeps the override of people for another policy, and only in its time", async () => {
    const { out } = await replayed("-o csv", ["half.yaml"]);
    const [head = "", ...rows] = out.trimEnd().split("\n");
    const columns = head.split(",");
    const minimum = columns.indexOf("half.yaml min");
    const minima = rows.map((row) => row.split(",")[minimum]);
    expect(minima.filter((min) => min === "10").length).toBeGreaterThanOrEqual(14);
    expect(minima.filter((min) => min === "10").length).toBeLessThanOrEqual(16);
    // Of the gap nothing is known, also no bounds.
    expect(new Set(minima)).toEqual(new Set(["1", "10", ""]));
    expect(minima.filter((min) => min === "").length).toBeGreaterThan(GAP_MINUTES - 4);
  });

  it("leaves the gap unknown, and says how much that is", async () => {
    const { policies } = await json(["half.yaml"]);
    const wholeMinutes = (9 * QUARTER_MS) / MINUTE_MS + GAP_MINUTES;
    for (const { coverage } of policies) {
      expect(coverage).toBeGreaterThan((wholeMinutes - GAP_MINUTES) / wholeMinutes - 0.02);
      expect(coverage).toBeLessThan((wholeMinutes - GAP_MINUTES) / wholeMinutes + 0.02);
    }
  });

  it("marks where demand was cut off at the maximum, with more demand there and not elsewhere", async () => {
    const { policies } = await json(["half.yaml"]);
    for (const { cutOff, raised, replicaHours } of policies) {
      expect(cutOff * 9 * 15).toBeGreaterThan(10);
      expect(cutOff * 9 * 15).toBeLessThan(16);
      expect(raised.map(({ factor }: { factor: number }) => factor)).toEqual([1.25, 1.5]);
      // The maximum is reached in any case.
      for (const more of raised) expect(more.replicaHours).toBeCloseTo(replicaHours, 1);
    }
    expect((await replayed("")).out).toMatch(/1\.25 times/);
  });

  it("refuses a backlog, because what arrived is not stored", async () => {
    const { code, err } = await replayed("--model lag=backlog");
    expect([code, err]).toEqual([2, expect.stringContaining("what waits is recorded")]);
  });

  it("is the same for one hour of it, whatever came before", async () => {
    const words = `--until ${new Date(beganMs + HOUR_MS).toISOString()} -o json`;
    const { fidelity, policies } = JSON.parse((await replayed(words)).out);
    expect(fidelity.sameMinutes).toBeGreaterThanOrEqual(0.98);
    expect(policies[0].coverage).toBe(1);
  });
});
