import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { besides, type CloudEvent } from "../../lib/answers/cloud-events/kinds.ts";
import { lookAround } from "../../lib/answers/cloud-events/look.ts";
import { noticeEventOf } from "../../lib/answers/cloud-events/notice.ts";
import { openCommands } from "../../lib/answers/service/open.ts";
import type { Decision } from "../../lib/rules/model/decision.ts";
import type { NoticeKind } from "../../lib/rules/model/notices.ts";
import { noticesOfCluster } from "../../lib/stack/store/history/notices.ts";
import { insertByStatement, type InsertHistory } from "../../lib/stack/store/history/item.ts";
import { storeOpenNotices } from "../../lib/stack/store/records/open-notices.ts";
import type { SyncPorts } from "../../lib/stack/sync/sync-ports.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { demandRules } from "../sync/demand-rules.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "../sync/world.ts";

const MINUTE_MS = 60_000;

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const manifestOf = (name: string): string =>
  JSON.stringify({
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name, namespace: "shop", labels: { team: "blue" } },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      minReplicas: 1,
      maxReplicas: 40,
      metrics: [
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
        },
      ],
    },
  });

/** What the rules say of an autoscaler beside its count, by its name. */
type Facets = Map<string, Partial<Decision>>;

interface Looked {
  readonly world: World;
  readonly facets: Facets;
  /** Syncs and looks as a stack does, for so many minutes. */
  readonly minutes: (count: number) => Promise<void>;
  readonly look: (insert?: InsertHistory) => Promise<void>;
  /** The events of all notices so far, in the order in which they are stored. */
  readonly told: () => Promise<readonly CloudEvent[]>;
}

const lookedAt = async (workloads: Readonly<Record<string, number>>): Promise<Looked> => {
  // Nothing of another test is remembered.
  const world = await newWorld(engine.client, engine.tables, workloads, { manifestOf });
  await storeOpenNotices(world.tables, { open: [], stormsMs: 0 });
  const facets: Facets = new Map();
  const rules: SyncPorts["rules"] = {
    ...demandRules(world.cluster),
    specOf: PURE_PART.specOf,
    decide: (input) =>
      ({
        ...demandRules(world.cluster).decide(input),
        ...facets.get(input.spec.target.name),
      }) as Decision,
  };
  const worker = world.worker({ rules });
  const insert = insertByStatement(world.tables);
  const look = async (by: InsertHistory = insert): Promise<void> => {
    await lookAround({ tables: world.tables, insert: by });
  };
  return {
    world,
    facets,
    look,
    minutes: async (count) => {
      for (let minute = 0; minute < count; minute++) {
        for (let sync = 0; sync < 4; sync++) {
          world.nowMs += PERIOD_MS;
          await world.sync(worker);
        }
        await look();
      }
    },
    told: async () => {
      const stretch = { sinceMs: 0, untilMs: world.nowMs + MINUTE_MS };
      const all = await Array.fromAsync(noticesOfCluster(world.tables, world.record.name, stretch));
      return all.map(noticeEventOf);
    },
  };
};

const kindsOf = (events: readonly CloudEvent[]): readonly string[] =>
  events.map(
    (one) => `${one.kind} ${"phase" in one ? one.phase : ""} ${"name" in one ? one.name : ""}`,
  );

const atMaxOf = (max: number): Partial<Decision> => ({
  bounds: {
    min: { replicas: 1, source: { kind: "manifest" } },
    max: { replicas: max, source: { kind: "manifest" } },
    holds: [],
  },
  steps: [
    {
      ...{ step: "bounds", before: 9, after: max },
      limit: { reason: "TooManyReplicas", value: max, message: "m" },
    },
  ],
});
const AT_MAX = atMaxOf(4);

const UNMEASURED: Partial<Decision> = {
  metrics: [{ name: "cpu", type: "Resource", kind: "failed", reason: "R", message: "m" }],
};

const CASES: readonly [NoticeKind, Partial<Decision>, number, RegExp, object][] = [
  [
    "held",
    { because: { reason: "HeldByOverride", message: "m" }, withoutHold: { to: 9 } } as object,
    5,
    /^shop\/web in eu-\d+: held for 5 minutes by override \(HeldByOverride\)\. Why: tidemark explain shop\/web --cluster eu-\d+ --at /,
    { data: { heldBy: "override" } },
  ],
  [
    "flapBudget",
    { because: { reason: "FlapBudget", message: "m" } },
    1,
    /its flap budget is spent: it stays at 4/,
    { reason: "FlapBudget" },
  ],
  [
    "atMax",
    AT_MAX,
    15,
    /at its maximum of 40 for 15 minutes, and its metrics want more/,
    { data: { maxReplicas: 40, currentReplicas: 4 } },
  ],
  [
    "unmeasured",
    UNMEASURED,
    15,
    /1 metric could not be read for 15 minutes; nothing shrinks meanwhile/,
    { data: { missingMetrics: 1 } },
  ],
];

describe("a look at the fleet", () => {
  it.each(CASES)(
    "has %s begin once it has lasted, and end once it is over",
    async (kind, facet, lastsMinutes, words, parts) => {
      const { world, facets, minutes, told } = await lookedAt({ web: 4, api: 4 });
      await minutes(2);
      facets.set("web", facet);
      await minutes(lastsMinutes - 1);
      expect(kindsOf(await told())).toEqual([]);
      await minutes(4);
      expect(kindsOf(await told())).toEqual([`${kind} began web`]);
      const [began] = await told();
      expect(began).toMatchObject({
        ...{ type: `dev.tidemark.${kind}`, cluster: world.record.name, namespace: "shop" },
        ...{ subject: `${world.record.name}/shop/web`, data: { labels: { team: "blue" } } },
      });
      expect(began).toMatchObject(parts);
      expect(began?.data.text).toMatch(words);
      facets.clear();
      await minutes(3);
      expect(kindsOf(await told())).toEqual([`${kind} began web`, `${kind} ended web`]);
    },
  );

  it("has a refused scale begin after 15 minutes, and end once it scales", async () => {
    const { world, minutes, told } = await lookedAt({ web: 4 });
    await minutes(1);
    workloadOf(world, "web").demand = 6;
    Object.assign(world.cluster, { denial: 403 });
    for (let puts = 0; puts < 200; puts++) world.cluster.faults.push("denied");
    await minutes(17);
    expect(kindsOf(await told())).toEqual(["refused began web"]);
    world.cluster.faults.length = 0;
    await minutes(2);
    expect(kindsOf(await told())).toEqual(["refused began web", "refused ended web"]);
  });

  it("says once that a cluster cannot be read, nothing of each of its autoscalers, and when it is back", async () => {
    const { world, facets, minutes, told } = await lookedAt({ web: 4, api: 4 });
    facets.set("web", AT_MAX);
    await minutes(17);
    expect(kindsOf(await told())).toEqual(["atMax began web"]);
    world.cluster.broken = true;
    await minutes(20);
    expect(kindsOf(await told())).toEqual(["atMax began web", "unreachable began "]);
    expect((await told())[1]).toMatchObject({ subject: world.record.name });
    expect((await told())[1]?.data.text).toMatch(
      /^cluster eu-\d+: it cannot be read for 5 minutes/,
    );
    world.cluster.broken = false;
    await minutes(2);
    expect(kindsOf(await told())).toEqual([
      ...["atMax began web", "unreachable began ", "unreachable ended "],
    ]);
  });

  it("does not say that a maximum is over while the metric is missing that asked for more", async () => {
    const { facets, minutes, told } = await lookedAt({ web: 4 });
    facets.set("web", AT_MAX);
    await minutes(17);
    facets.set("web", UNMEASURED);
    await minutes(3);
    expect(kindsOf(await told())).toEqual(["atMax began web"]);
    facets.clear();
    await minutes(2);
    expect(kindsOf(await told())).toEqual(["atMax began web", "atMax ended web"]);
  });

  it("ends nothing while the fleet is frozen, or while its partition is not known", async () => {
    const { world, facets, minutes, look, told } = await lookedAt({ web: 4 });
    facets.set("web", AT_MAX);
    await minutes(17);
    const commands = openCommands({
      ...{ tables: world.tables, clock: () => world.nowMs, by: "ada", newUid: () => "uid" },
      insert: insertByStatement(world.tables),
    });
    await commands.freeze("a test");
    facets.clear();
    await minutes(3);
    expect(kindsOf(await told())).toEqual(["atMax began web"]);
    await commands.thaw();
    // An edit raises the version of the names, and no sync has stored them since.
    await commands.pause({ name: "shop/web", cluster: world.record.name });
    await look();
    expect(kindsOf(await told())).toEqual(["atMax began web"]);
    await commands.resume({ name: "shop/web", cluster: world.record.name });
    await minutes(2);
    expect(kindsOf(await told())).toEqual(["atMax began web", "atMax ended web"]);
  });

  it("ends what an autoscaler had that was deleted", async () => {
    const { world, facets, minutes, told } = await lookedAt({ web: 4, api: 4 });
    facets.set("web", AT_MAX);
    await minutes(17);
    const commands = openCommands({
      ...{ tables: world.tables, clock: () => world.nowMs, by: "ada", newUid: () => "uid" },
      insert: insertByStatement(world.tables),
    });
    await commands.delete({ name: "shop/web", cluster: world.record.name });
    await minutes(2);
    expect(kindsOf(await told())).toEqual(["atMax began web", "atMax ended web"]);
  });

  it("that died after its notices were stored makes them again with the same ids", async () => {
    const { world, facets, minutes, look, told } = await lookedAt({ web: 4 });
    facets.set("web", AT_MAX);
    await minutes(14);
    world.nowMs += 3 * MINUTE_MS;
    await world.sync(
      world.worker({
        rules: {
          ...demandRules(world.cluster),
          specOf: PURE_PART.specOf,
          decide: (input) =>
            ({ ...demandRules(world.cluster).decide(input), ...AT_MAX }) as Decision,
        },
      }),
    );
    const insert = insertByStatement(world.tables);
    const dies: InsertHistory = async (items) => {
      await insert(items);
      throw new Error("the function died");
    };
    await expect(look(dies)).rejects.toThrow("died");
    world.nowMs += MINUTE_MS;
    await look();
    const ids = (await told()).map(({ id }) => id);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
  });

  it("makes one storm of the scales of a cluster and minute, and marks those after the first five", async () => {
    const names = Array.from({ length: 9 }, (_, at) => `w-${at}`);
    const { world, minutes, told } = await lookedAt(
      Object.fromEntries(names.map((name) => [name, 2])),
    );
    await minutes(2);
    for (const name of names) workloadOf(world, name).demand = name === "w-3" ? 30 : 4;
    await minutes(3);
    const storms = await told();
    expect(storms).toMatchObject([
      {
        ...{ kind: "storm", what: "scale", type: "dev.tidemark.storm", subject: world.record.name },
        data: {
          count: 9,
          namespaces: [{ namespace: "shop", count: 9 }],
          scales: { up: 9, added: 44 },
        },
      },
    ]);
    expect(storms[0]?.data.text).toMatch(
      /^cluster eu-\d+: 9 scale events in the minute of 12:0\d UTC: 9 up \(\+44\); largest shop\/w-3 2 → 30, .*\. By namespace: shop 9\. Which: tidemark events --all --cluster eu-\d+ --since /,
    );
    const { inStorm } = besides(world.tables);
    const marks = await Promise.all((await world.events()).map(inStorm));
    expect(marks.filter((one) => one)).toHaveLength(4);
  });

  it("counts the same news of many autoscalers in one storm, and marks those after the first five", async () => {
    const names = Array.from({ length: 8 }, (_, at) => `w-${at}`);
    const { facets, minutes, told } = await lookedAt(
      Object.fromEntries(names.map((name) => [name, 2])),
    );
    for (const name of names) facets.set(name, atMaxOf(2));
    await minutes(18);
    const events = await told();
    expect(events.filter(({ kind }) => kind === "atMax")).toHaveLength(8);
    expect(events.filter((one) => one.kind === "atMax" && one.storm)).toHaveLength(3);
    const [storm] = events.filter(({ kind }) => kind === "storm");
    expect(storm).toMatchObject({ what: "atMax", phase: "began", data: { count: 8 } });
  });

  it("says no storm of a minute with as many scales as people read", async () => {
    const names = Array.from({ length: 5 }, (_, at) => `w-${at}`);
    const { world, minutes, told } = await lookedAt(
      Object.fromEntries(names.map((name) => [name, 2])),
    );
    await minutes(2);
    for (const name of names) workloadOf(world, name).demand = 4;
    await minutes(3);
    expect(await told()).toEqual([]);
    const { inStorm } = besides(world.tables);
    expect(await Promise.all((await world.events()).map(inStorm))).not.toContain(true);
  });
});
