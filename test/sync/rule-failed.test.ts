import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { logLines } from "../../lib/stack/report/log-lines.ts";
import { syncMetrics, type CompletedSync } from "../../lib/stack/report/sync-report.ts";
import type { PurePart } from "../../lib/stack/sync/pure-part.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { scaleRead } from "../observation.ts";
import { newestJournalPage } from "../store/newest-journal-page.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

/** Two workloads that want 5 instead of 2. */
const worldOf = async (): Promise<World> => {
  const world = await newWorld(
    engine.client,
    engine.tables,
    { web: 2, api: 2 },
    { rateWindowMs: 4 * PERIOD_MS },
  );
  for (const name of ["web", "api"]) workloadOf(world, name).demand = 5;
  return world;
};

const mistake = (): never => {
  throw new TypeError("undefined has no length");
};

/** A sync whose rules make a mistake about "web". */
const syncWith = async (
  world: World,
  broken: (rules: PurePart) => Partial<PurePart>,
): Promise<CompletedSync> => {
  const { rules } = world.worker();
  const report = await world.sync(world.worker({ rules: { ...rules, ...broken(rules) } }));
  if (report.kind !== "completed") throw new Error(`the sync was dropped: ${report.why}`);
  return report;
};

const replicas = (world: World): readonly number[] =>
  ["web", "api"].map((name) => workloadOf(world, name).replicas);

const decisionFails = ({ decide }: PurePart): Partial<PurePart> => ({
  decide: (input) => (input.name === "web" ? mistake() : decide(input)),
});

describe("a rule that throws for one autoscaler", () => {
  it("holds that autoscaler with a reason that says to report it, and the others scale", async () => {
    const world = await worldOf();
    const report = await syncWith(world, decisionFails);
    expect(replicas(world)).toEqual([2, 5]);
    expect(report).toMatchObject({
      evaluated: 1,
      unreadable: [],
      ruleFailures: [{ namespace: "shop", name: "web", error: expect.any(TypeError) }],
    });
    const page = await newestJournalPage(world.tables, world.partition, 0, world.nowMs);
    expect(page?.evaluations.find(({ name }) => name === "web")).toMatchObject({
      failed: true,
      because: {
        reason: "RuleFailed",
        message: expect.stringMatching(
          /^a rule of Tidemark failed for it \(TypeError: undefined has no length\): .* please report it/,
        ),
      },
    });
  });

  it("is in the log with its stack, and counted", async () => {
    const report = await syncWith(await worldOf(), decisionFails);
    const [whole, line] = logLines(report);
    expect([whole?.level, line?.level, line?.message]).toEqual([
      "error",
      "error",
      expect.stringMatching(/^A rule failed for "shop\/web" in cluster .*please report it$/),
    ]);
    expect(String(line?.fields["stack"])).toMatch(
      /^TypeError: undefined has no length\n +at mistake /,
    );
    expect(syncMetrics(report, "few")).toEqual(
      expect.arrayContaining(
        ["RuleFailures", "Unreadable"].map((name) => ({ name, unit: "Count", value: 1 })),
      ),
    );
  });

  it("has five lines of a bounded length at the most, however many autoscalers it meets", async () => {
    const report = await syncWith(await worldOf(), decisionFails);
    const error = Object.assign(new Error("long"), { stack: "x".repeat(100_000) });
    const lines = logLines({
      ...report,
      events: [],
      changed: [],
      ruleFailures: Array.from({ length: 1_000 }, (_, at) => ({
        namespace: "shop",
        name: `web-${at}`,
        error,
      })),
    });
    expect(lines).toHaveLength(6);
    expect(
      lines.slice(1).map(({ fields }) => [String(fields["stack"]).length, fields["ruleFailures"]]),
    ).toEqual(Array.from({ length: 5 }, () => [4_000, 1_000]));
  });

  it("holds it where the conversion of its manifest throws", async () => {
    const world = await worldOf();
    const report = await syncWith(world, ({ specOf }) => ({
      specOf: (manifest) => (manifest === "web" ? mistake() : specOf(manifest)),
    }));
    expect(replicas(world)).toEqual([2, 5]);
    expect(report.ruleFailures).toMatchObject([{ name: "web" }]);
  });

  it("counts a scale that was made, where it throws while the scale is recorded", async () => {
    const world = await worldOf();
    const report = await syncWith(world, ({ afterWrite }) => ({
      afterWrite: (write) => (write.eventId.startsWith("uid-web") ? mistake() : afterWrite(write)),
    }));
    expect(replicas(world)).toEqual([5, 5]);
    expect(report.ruleFailures).toMatchObject([{ name: "web" }]);
    for (const name of ["web", "api"]) workloadOf(world, name).demand = 9;
    world.nowMs += PERIOD_MS;
    await world.sync();
    expect(replicas(world)).toEqual([5, 5]);
    world.nowMs += 4 * PERIOD_MS;
    await world.sync();
    expect(replicas(world)).toEqual([9, 9]);
  });

  it("holds it where its questions throw, and it goes on once they do not", async () => {
    const world = await worldOf();
    const { client } = world.cluster;
    const asking: typeof client = {
      ...client,
      observe: (watched, limits) => {
        for (const { questions } of watched) questions(scaleRead(2));
        return client.observe(watched, limits);
      },
    };
    const { rules } = world.worker();
    const hpa = {
      dialect: "hpa",
      target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 1,
      maxReplicas: 9,
      metrics: null,
    };
    const specOf: PurePart["specOf"] = (manifest) =>
      manifest === "web" ? { kind: "spec", spec: hpa as never } : rules.specOf(manifest);
    const report = await world.sync(
      world.worker({ connect: () => Promise.resolve(asking), rules: { ...rules, specOf } }),
    );
    expect(report).toMatchObject({ kind: "completed", ruleFailures: [{ name: "web" }] });
    expect(replicas(world)).toEqual([2, 5]);
    world.nowMs += PERIOD_MS;
    await world.sync();
    expect(replicas(world)).toEqual([5, 5]);
  });
});
