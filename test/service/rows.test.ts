import { type AttributeValue, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Rights } from "../../lib/rules/model/access.ts";
import { namespace, partitionName } from "../../lib/rules/model/ids.ts";
import type { QueryContext } from "../../lib/answers/service/context.ts";
import { openCommands, openQueries } from "../../lib/answers/service/open.ts";
import { rowOfView } from "../../lib/answers/service/views/row-view.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { getFleet, putCluster, putFleet } from "../../lib/stack/store/records/clusters.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { PURE_PART, type PurePart } from "../../lib/stack/sync/pure-part.ts";
import type { AutoscalerRow, ClusterRows } from "../../lib/answers/views/row.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { demandRules } from "../sync/demand-rules.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "../sync/world.ts";
import type { RowQuery } from "../../lib/answers/service/requests.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const MINUTE_MS = 60_000;

const manifestOf = (name: string): string =>
  JSON.stringify({
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name, namespace: "shop", labels: { app: name, tier: "front" } },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      minReplicas: 2,
      maxReplicas: 40,
      metrics: ["cpu", "memory", "disk"].map((metric) => ({
        type: "Resource",
        resource: { name: metric, target: { type: "Utilization", averageUtilization: 60 } },
      })),
    },
  });

const byDemand = ({ cluster }: World): PurePart => ({
  ...demandRules(cluster),
  specOf: PURE_PART.specOf,
});

/** A cluster of real manifests, synced so often that it has a summary. */
const readWorld = async (
  workloads: Readonly<Record<string, number>> = { api: 4, web: 4 },
  rulesOf: (world: World) => PurePart = byDemand,
) => {
  const world = await newWorld(engine.client, engine.tables, workloads, { manifestOf });
  const rules = rulesOf(world);
  const worker = world.worker({ rules });
  const sync = async (): Promise<void> => {
    world.nowMs += PERIOD_MS;
    await world.sync(worker);
  };
  // The fourth sync opens a minute.
  for (let count = 0; count < 4; count++) await sync();
  return { world, sync };
};

const contextOf = (world: World, more: Partial<QueryContext> = {}): QueryContext => ({
  tables: world.tables,
  clock: () => world.nowMs,
  ...more,
});

const rowsOf = async (
  world: World,
  query: RowQuery = {},
  more: Partial<QueryContext> = {},
): Promise<ClusterRows> => {
  const [first] = await Array.fromAsync(
    openQueries(contextOf(world, more)).rows({ cluster: world.record.name, ...query }),
  );
  if (!first) throw new Error("there is no cluster");
  return first;
};

/** The row of an autoscaler as the list of whole autoscalers has it. */
const viewedRows = async (world: World): Promise<readonly AutoscalerRow[]> =>
  (
    await Array.fromAsync(openQueries(contextOf(world)).autoscalers({ cluster: world.record.name }))
  ).map((view) => rowOfView(view, "default"));

/** Times are seconds in a summary, and its metrics are of its minute. */
const withoutTimes = ({ lastScaleAt, measuredAt: _measured, ...row }: AutoscalerRow): object => ({
  ...row,
  ...(lastScaleAt !== undefined && { lastScaleAt: lastScaleAt.replace(/\.\d+Z/, ".000Z") }),
});

const commandsOf = (world: World) =>
  openCommands({
    tables: world.tables,
    clock: () => world.nowMs,
    insert: insertByStatement(world.tables),
    by: "ada",
    newUid: () => `uid-new-${world.nowMs}`,
  });

/** Tables that count requests by command. */
const counting = (tables: Tables) => {
  const requests: Record<string, number> = {};
  const client = around(tables.client as never, async (command, send) => {
    requests[command] = (requests[command] ?? 0) + 1;
    return send();
  });
  return { tables: { ...tables, client }, requests };
};

const HEAD_AND_CLUSTER = { GetItemCommand: 2, BatchGetItemCommand: 1 };

describe("rows of autoscalers", () => {
  it("say what the whole autoscalers say, without their manifests and their journal", async () => {
    const { world, sync } = await readWorld({ api: 4, many: 9, web: 4 });
    workloadOf(world, "web").demand = 6;
    await sync();
    const { tables, requests } = counting(world.tables);
    const { rows, partitions } = await rowsOf(world, {}, { tables });
    expect(requests).toEqual({ GetItemCommand: 3, QueryCommand: 1, BatchGetItemCommand: 1 });
    expect(rows.map(withoutTimes)).toEqual((await viewedRows(world)).map(withoutTimes));
    expect(rows.map(({ name }) => name)).toEqual(["api", "many", "web"]);
    expect(rows[2]).toMatchObject({
      currentReplicas: 4,
      desiredReplicas: 6,
      labels: { app: "web" },
      moreTargets: 1,
    });
    expect(partitions).toEqual([
      expect.objectContaining({
        name: "default",
        syncedAt: new Date(world.nowMs).toISOString(),
        ageSeconds: 0,
      }),
    ]);
  });

  it("are of the newest sync, also where the summary is of the minute before, and say since when their metrics are", async () => {
    const { world, sync } = await readWorld();
    await sync();
    const measured = (await rowsOf(world)).rows[0]?.measuredAt;
    workloadOf(world, "web").demand = 9;
    await sync();
    const { rows, partitions } = await rowsOf(world);
    expect(rows[1]).toMatchObject({
      name: "web",
      desiredReplicas: 9,
      measuredAt: partitions[0]?.syncedAt,
    });
    expect(rows[0]).toMatchObject({ name: "api", measuredAt: measured });
  });

  it("have the bounds in force beside those of the manifest, where an override sets them", async () => {
    const { world, sync } = await readWorld({ api: 4, web: 4 }, () => PURE_PART);
    const by = {
      id: "o1",
      fromMs: world.nowMs,
      untilMs: world.nowMs + MINUTE_MS,
      reason: "sale",
      by: "ada",
      atMs: world.nowMs,
    };
    await putCluster(
      world.tables,
      { ...world.record, version: 2, overrides: [{ ...by, set: { min: 5 } }] },
      1,
    );
    await sync();
    const { rows } = await rowsOf(world);
    expect(rows).toMatchObject([
      { minReplicas: 2, maxReplicas: 40, minInForce: 5, overridden: true },
      { minReplicas: 2, maxReplicas: 40, minInForce: 5, overridden: true },
    ]);
    expect(rows[0]).not.toHaveProperty("maxInForce");
    expect(rows.map(withoutTimes)).toEqual((await viewedRows(world)).map(withoutTimes));
    world.nowMs += MINUTE_MS;
    await sync();
    const [ended] = (await rowsOf(world)).rows;
    expect(ended).not.toHaveProperty("minInForce");
    expect(ended).not.toHaveProperty("overridden");
  });

  it("say which autoscalers have a schedule, also while it sets nothing and before a sync", async () => {
    const { world, sync } = await readWorld({ api: 4 }, () => PURE_PART);
    const office = {
      apiVersion: "tidemark.dev/v1",
      kind: "PodAutoscaler",
      metadata: { name: "office", namespace: "shop" },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "api" },
        minReplicas: 2,
        maxReplicas: 40,
        metrics: [{ resource: { name: "cpu" }, target: 60 }],
        schedule: [
          { name: "never", timeZone: "Etc/UTC", dates: ["2099-01-01"], from: "08:00", to: "09:00" },
        ].map((entry) => ({ ...entry, minReplicas: 9 })),
      },
    };
    await commandsOf(world).apply([{ file: "office", text: JSON.stringify(office) }], {
      cluster: world.record.name,
      dryRun: false,
    });
    for (const goOn of [async () => undefined, sync]) {
      await goOn();
      const { rows } = await rowsOf(world);
      expect(rows.map(({ name, scheduled }) => [name, scheduled])).toEqual([
        ["api", undefined],
        ["office", true],
      ]);
      const viewed = await viewedRows(world);
      expect(viewed.map(({ scheduled }) => scheduled)).toEqual([undefined, true]);
    }
  });

  it("are never from before an edit, although no sync has seen it yet", async () => {
    const { world } = await readWorld();
    const commands = commandsOf(world);
    await commands.apply([{ file: "a", text: manifestOf("new") }], {
      cluster: world.record.name,
      dryRun: false,
    });
    await commands.delete({ cluster: world.record.name, namespace: "shop", name: "api" });
    await commands.pause({ cluster: world.record.name, namespace: "shop", name: "web" });
    const { rows, partitions } = await rowsOf(world);
    expect(rows).toMatchObject([
      { name: "new", state: "waiting" },
      { name: "web", state: "paused", paused: { by: "ada" } },
    ]);
    expect(partitions[0]).not.toHaveProperty("mark");
    expect(rows.map(withoutTimes)).toEqual((await viewedRows(world)).map(withoutTimes));
  });

  it("say of a freeze and of a paused cluster at once, and no longer when a pause has ended by itself", async () => {
    const { world, sync } = await readWorld();
    const commands = commandsOf(world);
    await commands.pause(
      { cluster: world.record.name, namespace: "shop", name: "web" },
      world.nowMs + MINUTE_MS,
    );
    await sync();
    const { rows: paused, partitions } = await rowsOf(world);
    expect(paused.map(({ state }) => state)).toEqual(["active", "paused"]);
    world.nowMs += MINUTE_MS;
    const had = { known: partitions[0]?.mark ?? "" };
    const { rows: ended, partitions: after } = await rowsOf(world, had);
    expect(ended.map(({ state }) => state)).toEqual(["active", "waiting"]);
    expect(after[0]).not.toHaveProperty("unchanged");
    expect(after[0]?.mark).not.toBe(partitions[0]?.mark);
    await commands.freeze("drill");
    expect((await rowsOf(world)).partitions[0]?.mark).not.toBe(after[0]?.mark);
    expect(
      (await rowsOf(world, { known: after[0]?.mark ?? "" })).rows.map(({ state }) => state),
    ).toEqual(["frozen", "frozen"]);
    await commands.thaw();
  });

  it("have another mark after a restore, and when a pause of their cluster has ended by itself", async () => {
    const { world, sync } = await readWorld();
    const markNow = async (): Promise<string> =>
      (await rowsOf(world)).partitions[0]?.mark ?? "none";
    await putCluster(
      world.tables,
      {
        ...world.record,
        version: world.record.version + 1,
        paused: { by: "ada", atMs: world.nowMs, untilMs: world.nowMs + 10 * MINUTE_MS },
      },
      world.record.version,
    );
    await sync();
    const marks = [await markNow()];
    world.nowMs += 10 * MINUTE_MS;
    marks.push(await markNow());
    const restored = { ...(await getFleet(world.tables)), restores: 1 };
    // Tests before this one have edited the fleet.
    for (let version = 0; (await putFleet(world.tables, restored, version)).kind === "conflict"; )
      version++;
    marks.push(await markNow());
    expect(marks).not.toContain("none");
    expect(new Set(marks).size).toBe(3);
  });

  it("are not repeated where the caller has them, and then cost the head alone", async () => {
    const { world, sync } = await readWorld();
    await sync();
    const first = await rowsOf(world);
    const known = first.partitions[0]?.mark ?? "";
    await sync();
    const { tables, requests } = counting(world.tables);
    const next = await rowsOf(world, { known }, { tables });
    expect(requests).toEqual(HEAD_AND_CLUSTER);
    expect(next).toMatchObject({
      rows: [],
      partitions: [{ unchanged: true, mark: known, syncedAt: new Date(world.nowMs).toISOString() }],
    });
    expect(next.partitions[0]?.version).toBeGreaterThan(first.partitions[0]?.version ?? 0);
    workloadOf(world, "web").demand = 9;
    await sync();
    expect((await rowsOf(world, { known })).rows).toMatchObject([
      { name: "api" },
      { name: "web", desiredReplicas: 9 },
    ]);
  });

  it("read no summary where the fields are all of the manifest, nor where a selector or a name has no row", async () => {
    const { world } = await readWorld();
    const read: string[] = [];
    const watched = () => {
      const client = around(world.tables.client as never, async (_command, send, input) => {
        const { RequestItems, ExpressionAttributeValues } = input as {
          readonly RequestItems?: Readonly<
            Record<string, { readonly Keys: readonly { readonly sk: { readonly S: string } }[] }>
          >;
          readonly ExpressionAttributeValues?: Readonly<Record<string, { readonly S: string }>>;
        };
        const [first, last] = [
          ExpressionAttributeValues?.[":head"],
          ExpressionAttributeValues?.[":index"],
        ];
        if (first && last) read.push(first.S, last.S);
        for (const { Keys } of Object.values(RequestItems ?? {}))
          read.push(...Keys.map(({ sk }) => sk.S));
        return send();
      });
      return { tables: { ...world.tables, client } };
    };
    const { rows } = await rowsOf(world, { fields: ["kind", "labels"] }, watched());
    expect(rows.map(({ name, kind }) => [name, kind])).toEqual(
      (await rowsOf(world)).rows.map(({ name, kind }) => [name, kind]),
    );
    expect((await rowsOf(world, { selector: "app=none" }, watched())).rows).toEqual([]);
    expect((await rowsOf(world, { name: "none" }, watched())).rows).toEqual([]);
    expect((await rowsOf(world, { kinds: ["None"] }, watched())).rows).toEqual([]);
    expect(new Set(read)).toEqual(new Set(["head", "index"]));
    expect((await rowsOf(world, { name: "api" }, watched())).rows).toEqual(
      (await rowsOf(world)).rows.filter(({ name }) => name === "api"),
    );
    expect(read).toContain("summary");
  });

  it("of a later page use the heads that were read since the first page, for some seconds and in the same environment", async () => {
    const { world, sync } = await readWorld();
    const { tables, requests } = counting(world.tables);
    const firstMs = world.nowMs;
    const page = async (since?: number): Promise<string | undefined> => {
      const [shown] = await Array.fromAsync(
        openQueries(contextOf(world, { tables })).rows({ cluster: world.record.name }, "", since),
      );
      return shown?.partitions[0]?.syncedAt;
    };
    const before = await page();
    await sync();
    const asked = requests["BatchGetItemCommand"];
    expect(await page(firstMs)).toBe(before);
    expect(requests["BatchGetItemCommand"]).toBe(asked);
    expect(await page()).not.toBe(before);
    expect(await page(world.nowMs + 1)).not.toBe(before);
    world.nowMs += MINUTE_MS;
    await sync();
    expect(await page(firstMs)).toBe(new Date(world.nowMs).toISOString());
  });

  it("say how many metrics are missing, also those that a table leaves out", async () => {
    const failed = (name: string) => ({
      kind: "failed" as const,
      name,
      reason: "No",
      message: "not now",
      type: "Resource",
      target: "60%",
    });
    const lacking = (world: World): PurePart => {
      const rules = byDemand(world);
      return {
        ...rules,
        decide: (input) => ({
          ...rules.decide(input),
          metrics: ["cpu", "memory", "disk"].map(failed),
        }),
      };
    };
    const { world } = await readWorld({ many: 4 }, lacking);
    expect((await rowsOf(world)).rows).toMatchObject([
      { name: "many", moreTargets: 1, missingMetrics: 3 },
    ]);
    expect(await viewedRows(world)).toMatchObject([{ name: "many", missingMetrics: 3 }]);
  });

  it("are read from the autoscalers where the newest sync wrote no summary, and have no mark", async () => {
    const world = await newWorld(engine.client, engine.tables, { web: 4 }, { manifestOf });
    const { rows, partitions } = await rowsOf(world);
    expect(rows).toMatchObject([
      {
        name: "web",
        state: "waiting",
        targets: ["<unknown>/60%", "<unknown>/60%"],
        moreTargets: 1,
      },
    ]);
    expect(partitions).toEqual([{ name: "default", version: 0 }]);
  });

  it("with a later summary than the head that was read have the time of that summary", async () => {
    const { world, sync } = await readWorld();
    await sync();
    const { tables } = counting(world.tables);
    const before = await itemOf(world, "head");
    workloadOf(world, "web").demand = 9;
    world.nowMs += MINUTE_MS;
    await sync();
    const { rows, partitions } = await rowsOf(
      world,
      {},
      { tables: withOld(tables, "head", before) },
    );
    expect(partitions).toMatchObject([{ syncedAt: new Date(world.nowMs).toISOString() }]);
    expect(rows[1]).toMatchObject({ desiredReplicas: 9 });
    expect(partitions[0]).not.toHaveProperty("mark");
  });

  it("are never of an index that is older than the head which was read with it", async () => {
    const { world, sync } = await readWorld();
    const before = await itemOf(world, "index");
    await commandsOf(world).apply([{ file: "a", text: manifestOf("new") }], {
      cluster: world.record.name,
      dryRun: false,
    });
    await sync();
    const { tables, requests } = counting(withOld(world.tables, "index", before));
    const { rows } = await rowsOf(world, { fields: ["kind"] }, { tables });
    expect(rows.map(({ name }) => name)).toEqual(["api", "new", "web"]);
    expect(requests).toMatchObject({ QueryCommand: 1, BatchGetItemCommand: 1 });
  });

  it("of an environment that knows the index are not made of an older one that another question has read", async () => {
    const { world, sync } = await readWorld();
    const before = await itemOf(world, "index");
    await commandsOf(world).apply([{ file: "a", text: manifestOf("new") }], {
      cluster: world.record.name,
      dryRun: false,
    });
    await sync();
    // Both questions find that nothing is known, and the one whose answer is old comes last.
    let answerOld: (() => void) | undefined;
    const isRead = new Promise<void>((resolve) => {
      answerOld = resolve;
    });
    let queries = 0;
    const client = around(world.tables.client as never, async (command, send) => {
      const answer = (await send()) as { readonly Items?: readonly StoredItem[] };
      if (command !== "QueryCommand" || ++queries !== 1) return answer;
      await isRead;
      return {
        ...answer,
        Items: answer.Items?.map((item) => (item["sk"]?.S === "index" ? before : item)),
      };
    });
    const counted = counting({ ...world.tables, client });
    const { tables, requests } = {
      tables: { ...world.tables, client: counted.tables.client },
      requests: counted.requests,
    };
    const names = async () =>
      (await rowsOf(world, { fields: ["kind"] }, { tables })).rows.map(({ name }) => name);
    const late = names();
    await expect.poll(() => queries).toBe(1);
    expect(await names()).toEqual(["api", "new", "web"]);
    answerOld?.();
    expect(await late).toEqual(["api", "new", "web"]);
    expect(requests).not.toHaveProperty("BatchGetItemCommand");
  });

  it("are those that labels, kinds, a namespace or a name choose", async () => {
    const { world } = await readWorld();
    const names = async (query: RowQuery) =>
      (await rowsOf(world, query)).rows.map(({ name }) => name);
    expect(await names({ selector: "app=web" })).toEqual(["web"]);
    expect(await names({ selector: "tier in (front),app!=web" })).toEqual(["api"]);
    expect(await names({ kinds: ["PodAutoscaler"] })).toEqual([]);
    expect(await names({ kinds: ["HorizontalPodAutoscaler"], name: "api" })).toEqual(["api"]);
    expect(await names({ namespace: "lab" })).toEqual([]);
    await expect(rowsOf(world, { selector: "a b" })).rejects.toMatchObject({
      code: "service.invalid",
    });
  });

  it("of namespaces that the caller may not look at are left out", async () => {
    const { world } = await readWorld();
    const rights = {
      limited: true,
      caller: "ops",
      grants: [],
      touches: () => true,
      allows: () => undefined,
    } as unknown as Rights;
    expect((await rowsOf(world, {}, { rights })).rows).toEqual([]);
  });

  it("say nothing of other namespaces by their mark and version, whether those scale or are edited", async () => {
    const { world, sync } = await readWorld();
    const rights = {
      limited: true,
      caller: "ops",
      grants: [],
      touches: () => true,
      allows: (_role: string, { namespace: inside }: { readonly namespace?: string }) =>
        inside === "quiet" ? {} : undefined,
    } as unknown as Rights;
    const seen = async () => (await rowsOf(world, {}, { rights })).partitions[0];
    await sync();
    const first = await seen();
    await sync();
    const second = await seen();
    await commandsOf(world).pause({ cluster: world.record.name, namespace: "shop", name: "api" });
    expect(await seen()).toEqual(second);
    workloadOf(world, "web").demand = 9;
    await sync();
    const third = await seen();
    expect([second?.mark, third?.mark]).toEqual([first?.mark, first?.mark]);
    const steps = [first, second, third].map((one) => one?.version ?? 0);
    expect((steps[2] ?? 0) - (steps[1] ?? 0)).toBe((steps[1] ?? 0) - (steps[0] ?? 0));
    expect(await rowsOf(world, { known: first?.mark ?? "" }, { rights })).toMatchObject({
      rows: [],
      partitions: [{ unchanged: true }],
    });
  });

  it("of a namespace that no partition has are there, although nothing scales them", async () => {
    const { world } = await readWorld();
    await putCluster(
      world.tables,
      {
        ...world.record,
        version: 2,
        partitions: [{ name: partitionName("lab"), namespaces: [namespace("lab")] }],
      },
      1,
    );
    const { rows, partitions } = await rowsOf(world);
    expect(rows.map(({ name, partition }) => [name, partition])).toEqual([
      ["api", undefined],
      ["web", undefined],
    ]);
    expect(partitions).toMatchObject([{ name: "lab" }]);
    expect((await rowsOf(world, { namespace: "shop" })).rows).toHaveLength(2);
  });
});

type StoredItem = Readonly<Record<string, AttributeValue>>;

const itemOf = async (world: World, sk: string): Promise<StoredItem> => {
  const Key = { pk: { S: `partition#${world.record.name}#default` }, sk: { S: sk } };
  const { Item = {} } = await world.tables.client.send(
    new GetItemCommand({ TableName: world.tables.stateTable, Key }),
  );
  return Item;
};

/** Tables whose queries of head and index show an item as it was. */
const withOld = (tables: Tables, sk: string, before: StoredItem): Tables => {
  const client = around(tables.client as never, async (command, send) => {
    const answer = (await send()) as { readonly Items?: readonly StoredItem[] };
    if (command !== "QueryCommand") return answer;
    return {
      ...answer,
      Items: answer.Items?.map((item) => (item["sk"]?.S === sk ? before : item)),
    };
  });
  return { ...tables, client };
};
