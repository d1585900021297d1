import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { namespace } from "../../lib/rules/model/ids.ts";
import type { Rival, RivalLook } from "../../lib/rules/model/observation.ts";
import type { SpecKindName } from "../../lib/rules/model/spec.ts";
import { putAutoscaler, raiseSpecVersion } from "../../lib/stack/store/records/autoscalers.ts";
import { getCluster, putCluster } from "../../lib/stack/store/records/clusters.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { newestJournalPage } from "../store/newest-journal-page.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";
import type { Evaluation } from "../../lib/rules/model/scale-records.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const KIND = "HorizontalPodAutoscaler";
const HPA: Rival = { kind: KIND, name: "web", uid: "u-1", desiredReplicas: 4 };
const REFUSED = {
  kind: KIND,
  outcome: "refused",
  message: "it is forbidden",
  everywhere: true,
  lost: false,
} as const;
const answered = (rivals: readonly Rival[] = []): RivalLook => ({
  kind: KIND,
  outcome: "answered",
  rivals,
});

/** The other controllers that the cluster shows, or why it shows none. */
const show = ({ cluster }: World, look: RivalLook): void => {
  cluster.looks = () => [look];
  cluster.rivals.set(
    "web",
    look.outcome === "answered" ? look.rivals.map(({ kind, name }) => ({ kind, name })) : [],
  );
};

const worldOf = async (): Promise<World> => {
  const world = await newWorld(engine.client, engine.tables, { web: 2 });
  workloadOf(world, "web").demand = 5;
  return world;
};

/** The next sync, in a new process unless another is given, and what its journal says. */
const next = async (world: World, ports = world.worker()): Promise<Evaluation | undefined> => {
  world.nowMs += PERIOD_MS;
  await world.sync(ports);
  return (await newestJournalPage(world.tables, world.partition, 0, world.nowMs))?.evaluations.find(
    ({ name }) => name === "web",
  );
};

const state = async (world: World): Promise<Record<string, unknown>> => {
  const { because, rivals } = (await next(world)) ?? {};
  return { reason: because?.reason, rivals, replicas: workloadOf(world, "web").replicas };
};

/** The reason of an autoscaler in its first sync. */
const added = async (world: World, inside: string): Promise<string | undefined> => {
  world.cluster.workloads.set("api", { ...workloadOf(world, "web"), uid: "uid-of-api", demand: 3 });
  await putAutoscaler(
    world.tables,
    { ...world.autoscaler("api"), namespace: namespace(inside) },
    undefined,
  );
  await raiseSpecVersion(world.tables, world.partition);
  world.nowMs += PERIOD_MS;
  await world.sync(world.worker());
  const page = await newestJournalPage(world.tables, world.partition, 0, world.nowMs);
  return page?.evaluations.find(({ name }) => name === "api")?.because.reason;
};

describe("a 403 or 404 of the LIST of other controllers", () => {
  it("drops none that was seen: a new process holds beside it until an answer is without it", async () => {
    const world = await worldOf();
    show(world, answered([HPA]));
    expect(await state(world)).toMatchObject({ reason: "RivalController" });
    show(world, REFUSED);
    const seen = {
      reason: "RivalController",
      rivals: [{ kind: KIND, name: "web", uid: "u-1" }],
      replicas: 2,
    };
    expect([await state(world), await state(world)]).toEqual([seen, seen]);
    show(world, answered());
    expect(await state(world)).toMatchObject({ rivals: undefined, replicas: 5 });
  });

  it("holds where the LIST was answered before, and says what to do", async () => {
    const world = await worldOf();
    workloadOf(world, "web").demand = 2;
    show(world, answered());
    await next(world);
    workloadOf(world, "web").demand = 5;
    show(world, REFUSED);
    expect((await next(world))?.because).toEqual({
      reason: "RivalsUnknown",
      message: expect.stringMatching(
        /^it is not known whether another controller scales .* any more: it is forbidden; see tidemark cluster check, or state the connection again/,
      ),
    });
    expect(workloadOf(world, "web").replicas).toBe(2);
  });

  it("holds an autoscaler that is new, where the LIST was answered for another one", async () => {
    const world = await worldOf();
    show(world, answered());
    await next(world);
    show(world, REFUSED);
    expect(await added(world, "shop")).toBe("RivalsUnknown");
  });

  it("holds nothing where it was never answered: a cluster may grant no right to look", async () => {
    const world = await worldOf();
    show(world, REFUSED);
    expect(await state(world)).toMatchObject({ replicas: 5 });
  });

  it("holds nothing once a person has stated the connection again", async () => {
    const world = await worldOf();
    show(world, answered([HPA]));
    await next(world);
    const record = await getCluster(world.tables, world.record.name);
    if (!record) throw new TypeError("there is no cluster");
    await putCluster(
      world.tables,
      { ...record, connectionVersion: record.version + 1, version: record.version + 1 },
      record.version,
    );
    show(world, REFUSED);
    expect(await state(world)).toMatchObject({ rivals: undefined, replicas: 5 });
  });

  it("drops none that was seen when other kinds are read from the cluster; objects of a kind that is read are no other controllers", async () => {
    const world = await worldOf();
    const read = async (...kinds: readonly SpecKindName[]): Promise<void> => {
      const record = await getCluster(world.tables, world.record.name);
      if (!record) throw new TypeError("there is no cluster");
      await putCluster(
        world.tables,
        { ...record, specsFromCluster: kinds, version: record.version + 1 },
        record.version,
      );
    };
    const WPA = { kind: "WatermarkPodAutoscaler", name: "web" } as const;
    world.cluster.looks = () => [{ kind: WPA.kind, outcome: "answered", rivals: [WPA] }];
    world.cluster.rivals.set("web", [WPA]);
    expect(await state(world)).toMatchObject({ reason: "RivalController" });
    world.cluster.looks = () => [{ ...REFUSED, kind: WPA.kind }];
    world.cluster.rivals.clear();
    await read("PodAutoscaler");
    expect(await state(world)).toMatchObject({ reason: "RivalController", replicas: 2 });
    world.cluster.looks = () => [];
    await read("WatermarkPodAutoscaler");
    expect(await state(world)).toMatchObject({ rivals: undefined, replicas: 5 });
  });

  it("of one namespace says nothing about another, where the LIST was never answered", async () => {
    const world = await worldOf();
    show(world, answered());
    await next(world);
    workloadOf(world, "web").demand = 2;
    show(world, { ...REFUSED, everywhere: false });
    expect(await added(world, "pay")).not.toBe("RivalsUnknown");
    expect((await next(world))?.because.reason).toBe("RivalsUnknown");
  });
});
