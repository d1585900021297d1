import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openQueries } from "../../lib/answers/service/open.ts";
import { MINUTE_MS } from "../../lib/rules/model/time-text.ts";
import { countSetBy } from "../../lib/stack/cluster/scale.ts";
import { CONTESTED_FROM, SERIES_APART_MS } from "../../lib/stack/sync/keep/contested.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";

let engine: Engine;
beforeEach(async () => {
  engine = await startMemory();
});
afterEach(() => engine.close());

/** So long after the last sync, with a sync in each period until then. */
const next = async (world: World, afterMs = PERIOD_MS, change = () => {}): Promise<void> => {
  const untilMs = world.nowMs + afterMs;
  while (world.nowMs + PERIOD_MS < untilMs) {
    world.nowMs += PERIOD_MS;
    await world.sync();
  }
  change();
  world.nowMs = untilMs;
  await world.sync();
};

/** A world whose rules want 5, and a program that sets 9 so often. */
const fought = async (changes: number, everyMs = MINUTE_MS): Promise<World> => {
  const world = await newWorld(engine.client, engine.tables, { web: 5 });
  await next(world);
  for (let change = 0; change < changes; change++) {
    await next(world, everyMs, () => setByOthers(world, 9));
  }
  return world;
};

const setByOthers = (world: World, replicas: number): void => {
  const workload = workloadOf(world, "web");
  workload.countSetBy = "argocd-controller";
  workload.replicas = replicas;
  workload.resourceVersion++;
  workload.generation++;
};

const statusOf = async (world: World) => {
  const queries = openQueries({ tables: world.tables, clock: () => world.nowMs });
  const { healthy, problems } = await queries.status();
  return { healthy, problems: problems.map(({ kind, message }) => [kind, message]) };
};

describe("a count that others set again and again", () => {
  it("makes the status unhealthy and names who: 12 changes in 13 minutes", async () => {
    const world = await fought(12, 65_000);
    expect(await statusOf(world)).toEqual({
      healthy: false,
      problems: [
        [
          "contested",
          `Autoscaler "${world.record.name}/shop/web" has a count that others set again and again, and Tidemark sets back: "argocd-controller" was the last to change it`,
        ],
      ],
    });
    const [event] = await world.outside();
    expect(event).toMatchObject({
      by: "argocd-controller",
      message: 'changed outside Tidemark, 5 → 9, by "argocd-controller"',
    });
  });

  it.each([
    [CONTESTED_FROM - 1, MINUTE_MS, false],
    [CONTESTED_FROM, MINUTE_MS, true],
    [CONTESTED_FROM + 3, SERIES_APART_MS - PERIOD_MS, true],
    [CONTESTED_FROM + 3, SERIES_APART_MS, false],
  ])("is fought over after %d changes, one every %d ms: %s", async (changes, everyMs, isFought) => {
    const world = await fought(changes, everyMs);
    const { contested } = (await world.head()).troubles.of;
    expect(contested?.first === "shop/web").toBe(isFought);
  });

  it("is at peace again when nobody has changed it for twenty minutes", async () => {
    const world = await fought(CONTESTED_FROM);
    await next(world, SERIES_APART_MS - PERIOD_MS);
    expect((await statusOf(world)).healthy).toBe(false);
    await next(world);
    expect(await statusOf(world)).toEqual({ healthy: true, problems: [] });
  });

  it("is no fight while another controller of the workload makes the changes, nor after its takeover", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 5 });
    const rivals = [{ kind: "HorizontalPodAutoscaler", name: "web" }];
    world.cluster.rivals.set("web", rivals);
    await next(world);
    for (let change = 0; change < CONTESTED_FROM; change++) {
      setByOthers(world, 6 + change);
      await next(world);
    }
    world.cluster.rivals.clear();
    world.cluster.looks = () => [
      { kind: "HorizontalPodAutoscaler", outcome: "answered", rivals: [] },
    ];
    await next(world);
    expect((await world.head()).troubles.of.contested).toBeUndefined();
  });
});

describe("countSetBy()", () => {
  const entry = (manager: string, fields: object, subresource?: string) => ({
    manager,
    fieldsV1: fields,
    ...(subresource !== undefined && { subresource }),
  });
  const COUNT = { "f:spec": { "f:replicas": {} } };
  const raw = (fields: object) => Buffer.from(JSON.stringify(fields));

  it.each([
    ["nobody", [], undefined],
    ["who wrote the object with a count", [entry("helm", {}), entry("argocd", COUNT)], "argocd"],
    ["the same in protobuf", [entry("argocd", raw(COUNT)), entry("helm", raw({}))], "argocd"],
    ["who wrote the scale", [entry("kubectl", COUNT), entry("keda", COUNT, "scale")], "keda"],
    [
      "not who wrote the status, which has a count too",
      [entry("kube-controller-manager", raw({ "f:status": { "f:replicas": {} } }), "status")],
      undefined,
    ],
  ])("is %s", (_who, managedFields, manager) => {
    expect(countSetBy({ managedFields })).toBe(manager);
  });
});
