import { createHash } from "node:crypto";
import { DeleteItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { autoscalerUid } from "../../lib/rules/model/ids.ts";
import { storeIntents } from "../../lib/stack/store/head/store-intents.ts";
import { deletePage, readPage } from "../../lib/stack/store/pages/pages.ts";
import {
  deleteAutoscaler,
  putAutoscaler,
  raiseSpecVersion,
} from "../../lib/stack/store/records/autoscalers.ts";
import { compress } from "../../lib/stack/store/table/compressed.ts";
import { headKey, itemKey, pageKey } from "../../lib/stack/store/table/keys.ts";
import type { SyncPorts } from "../../lib/stack/sync/sync-ports.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { newestJournalPage } from "../store/newest-journal-page.ts";
import { bodiesOf, intent } from "../store/records.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "./world.ts";
import type { Evaluation } from "../../lib/rules/model/scale-records.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

/**
 * A sync may know specs that are 60 s old, and its PUT lands within 39 s of its decision; clocks
 * differ by 4 s.
 */
const LONG_AFTER_EDIT_MS = 300_000 + 39_000 + 4_000 + PERIOD_MS;

const world2 = async (): Promise<World> => {
  const world = await newWorld(engine.client, engine.tables, { web: 2, api: 2 });
  workloadOf(world, "web").demand = 5;
  workloadOf(world, "api").demand = 5;
  return world;
};

const next = async (world: World) => {
  world.nowMs += PERIOD_MS;
  return world.sync();
};

const replicas = (world: World): readonly number[] =>
  ["web", "api"].map((name) => workloadOf(world, name).replicas);

/** What the newest journal page says of an autoscaler. */
const told = async (world: World, name: string): Promise<Evaluation | undefined> =>
  (await newestJournalPage(world.tables, world.partition, 0, world.nowMs))?.evaluations.find(
    (one) => one.name === name,
  );

describe("everything holds, and says why,", () => {
  it("while the cluster cannot be reached, without failing the sync", async () => {
    const world = await world2();
    const report = await world.sync(
      world.worker({ connect: () => Promise.reject(new Error("no such secret")) }),
    );
    expect(report).toMatchObject({ kind: "completed", evaluated: 2, failed: 2, events: [] });
    expect(await told(world, "web")).toMatchObject({
      failed: true,
      because: { reason: "FailedGetScale", message: "no such secret" },
    });
  });
});

describe("one autoscaler holds, and the others do not,", () => {
  it("while its manifest cannot be converted", async () => {
    const world = await world2();
    await putAutoscaler(world.tables, { ...world.autoscaler("web", 2), manifest: "broken" }, 1);
    const report = await world.sync();
    expect(report).toMatchObject({
      unreadable: [
        {
          name: "web",
          reason: "InvalidSpec",
          message: "the stored manifest cannot be converted: it is broken",
        },
      ],
    });
    expect(replicas(world)).toEqual([2, 5]);
  });

  it("while its item cannot be read", async () => {
    const world = await world2();
    const Item = {
      ...itemKey({ pk: `autoscalers#${world.record.name}`, sk: "shop#web" }),
      uid: { S: "uid-web" },
    };
    await engine.client.send(new PutItemCommand({ TableName: "state", Item }));
    expect(await world.sync()).toMatchObject({
      autoscalers: 2,
      unreadable: [{ namespace: "shop", name: "web", reason: "UnreadableAutoscaler" }],
    });
    expect(replicas(world)).toEqual([2, 5]);
  });

  it("while its item cannot be read, not even its uid, and no windows are dropped: its limits count when it can be read again", async () => {
    const world = await newWorld(
      engine.client,
      engine.tables,
      { web: 2, api: 2 },
      { rateWindowMs: 10 * PERIOD_MS },
    );
    workloadOf(world, "web").demand = 5;
    await world.sync();
    const Item = {
      ...itemKey({ pk: `autoscalers#${world.record.name}`, sk: "shop#web" }),
      name: { S: "web" },
    };
    await engine.client.send(new PutItemCommand({ TableName: "state", Item }));
    expect(await next(world)).toMatchObject({
      autoscalers: 2,
      unreadable: [{ namespace: "shop", name: "web", reason: "UnreadableAutoscaler" }],
    });
    await engine.client.send(
      new DeleteItemCommand({
        TableName: "state",
        Key: itemKey({ pk: `autoscalers#${world.record.name}`, sk: "shop#web" }),
      }),
    );
    await putAutoscaler(world.tables, world.autoscaler("web"), undefined);
    workloadOf(world, "web").demand = 9;
    expect(await next(world)).toMatchObject({ evaluated: 2, events: [] });
    expect(replicas(world)).toEqual([5, 2]);
    world.nowMs += 10 * PERIOD_MS;
    await next(world);
    expect(replicas(world)).toEqual([9, 2]);
  });

  it("while its workload has a rival", async () => {
    const world = await world2();
    world.cluster.rivals.set("web", [{ kind: "HorizontalPodAutoscaler", name: "web" }]);
    await world.sync();
    expect(replicas(world)).toEqual([2, 5]);
    expect(await told(world, "web")).toMatchObject({
      because: {
        reason: "RivalController",
        message: 'the workload is also scaled by HorizontalPodAutoscaler "web"',
      },
    });
  });

  it("while it is not known whether its workload has a rival", async () => {
    const world = await world2();
    world.cluster.rivalsUnknown = "no HorizontalPodAutoscaler could be looked for: Timeout";
    await world.sync();
    expect(replicas(world)).toEqual([2, 2]);
    expect(await told(world, "web")).toMatchObject({
      because: {
        reason: "RivalsUnknown",
        message:
          "it is not known whether another controller scales the workload: no HorizontalPodAutoscaler could be looked for: Timeout",
      },
      withoutHold: { to: 5 },
    });
    delete world.cluster.rivalsUnknown;
    await next(world);
    expect(replicas(world)).toEqual([5, 5]);
  });

  it("beside another stack, whose field manager it names, and goes on when the other has ended", async () => {
    const world = await world2();
    world.cluster.otherStack = { manager: "tidemark-other", own: "tidemark-one" };
    await world.sync();
    expect(replicas(world)).toEqual([2, 2]);
    expect(await told(world, "web")).toMatchObject({
      kind: "hold",
      because: {
        reason: "OtherStack",
        message: expect.stringContaining(
          '(field manager "tidemark-other", this one is "tidemark-one")',
        ),
      },
      withoutHold: { to: 5 },
    });
    delete world.cluster.otherStack;
    await next(world);
    expect(replicas(world)).toEqual([5, 5]);
  });

  it("while an open intent of it cannot be read, which is kept as it is", async () => {
    const world = await world2();
    world.nowMs += LONG_AFTER_EDIT_MS;
    await openIntents(world, { "uid-web:1": compress(99, {}) });
    expect(await next(world)).toMatchObject({
      openIntents: 1,
      unreadable: [{ name: "web", reason: "UnreadableIntent" }],
    });
    expect(replicas(world)).toEqual([2, 5]);
    expect((await world.head()).unreadable).toMatchObject([{ id: "uid-web:1" }]);
  });

  it("while its intent is larger than any head has room for", async () => {
    const world = await world2();
    const { rules } = world.worker();
    const noise = (at: number): string =>
      createHash("sha512").update(`noise ${at}`).digest("base64url");
    const apiVersion = `apps/${Array.from({ length: 20 }, (_, at) => noise(at)).join("")}`;
    const specOf: typeof rules.specOf = (manifest) => {
      const reading = rules.specOf(manifest);
      return manifest === "web" && reading.kind === "spec"
        ? {
            kind: "spec",
            spec: { ...reading.spec, target: { ...reading.spec.target, apiVersion } },
          }
        : reading;
    };
    expect(await world.sync(world.worker({ rules: { ...rules, specOf } }))).toMatchObject({
      kind: "completed",
      heldBack: 1,
    });
    expect(replicas(world)).toEqual([2, 5]);
    expect(await told(world, "web")).toMatchObject({
      kind: "hold",
      because: { reason: "IntentTooLarge" },
      withoutHold: { to: 5 },
    });
  });

  it("while an open intent of it lacks its target, which is kept as it is", async () => {
    const world = await world2();
    world.nowMs += LONG_AFTER_EDIT_MS;
    await openIntents(world, {
      "uid-web:1": compress(1, { ...intent(), id: "uid-web:1", target: undefined }),
    });
    expect(await next(world)).toMatchObject({
      openIntents: 1,
      unreadable: [{ name: "web", reason: "UnreadableIntent" }],
    });
    expect(replicas(world)).toEqual([2, 5]);
    expect((await world.head()).unreadable).toMatchObject([{ id: "uid-web:1" }]);
  });

  it("while an intent of another autoscaler for the same workload cannot be read, also one that was deleted", async () => {
    const world = await world2();
    const target = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
    await openIntents(world, {
      "uid-old:1": compress(99, { ...intent(), id: "uid-old:1", target }),
    });
    expect(await next(world)).toMatchObject({
      openIntents: 1,
      unreadable: [{ name: "web", reason: "UnreadableIntent" }],
    });
    expect(replicas(world)).toEqual([2, 5]);
  });

  it("while an intent of a deleted autoscaler may be of its workload: the bytes say nothing, and it was created since, so that their PUT may still land", async () => {
    const world = await world2();
    world.nowMs += LONG_AFTER_EDIT_MS;
    await openIntents(world, { "uid-old:1": Buffer.from("damaged") });
    await deleteAutoscaler(world.tables, world.autoscaler("web"), 1);
    const renewed = {
      ...world.autoscaler("web", 3),
      uid: autoscalerUid("uid-renewed"),
      updatedMs: world.nowMs,
    };
    await putAutoscaler(world.tables, renewed, undefined);
    await next(world);
    expect(await told(world, "web")).toMatchObject({
      because: { reason: "UnreadableIntent" },
      withoutHold: { to: 5 },
    });
    expect(replicas(world)).toEqual([2, 5]);
    world.nowMs += LONG_AFTER_EDIT_MS;
    await next(world);
    expect(replicas(world)).toEqual([5, 5]);
  });

  it("and the other autoscaler of the same workload too: neither fights", async () => {
    const world = await world2();
    await putAutoscaler(
      world.tables,
      { ...world.autoscaler("web-too"), manifest: "web" },
      undefined,
    );
    await world.sync();
    expect(replicas(world)).toEqual([2, 5]);
    expect(await told(world, "web")).toMatchObject({
      because: {
        reason: "TargetShared",
        message: 'the workload is also the target of autoscaler "web-too"',
      },
    });
  });

  it("while an intent of a deleted autoscaler is open for the same workload", async () => {
    const world = await world2();
    const claimed = await import("../../lib/stack/store/head/claim.ts").then(({ claim }) =>
      claim(world.tables, { partition: world.partition, dueMs: 1, clockMs: 1, leaseUntilMs: 2 }),
    );
    if (claimed.kind !== "claimed") throw new Error("it was not claimed");
    const target = { apiVersion: "apps/v1beta2", kind: "Deployment", name: "web" };
    const open = intent({
      id: "uid-old:1",
      target,
      deadlineMs: world.nowMs + 1,
      targetUid: "uid-of-web",
      resourceVersion: "1",
      targetGeneration: 1,
    });
    await storeIntents(
      world.tables,
      { partition: world.partition, epoch: 1, writeNumber: 1 },
      bodiesOf(open),
      1,
    );
    await world.sync();
    expect(replicas(world)).toEqual([2, 5]);
    expect(await told(world, "web")).toMatchObject({ because: { reason: "ScaleUnsettled" } });
    expect(await next(world)).toMatchObject({ events: [] });
    expect(await next(world)).toMatchObject({ events: [{ id: "uid-old:1", outcome: "refused" }] });
  });
});

/** A head after one sync that scaled nothing, with these intents open. */
const openIntents = async (
  world: World,
  bodies: Readonly<Record<string, Uint8Array>>,
): Promise<void> => {
  await world.sync(
    world.worker({
      rules: { ...world.worker().rules, decide: (input) => ({ ...hold, windows: input.windows }) },
    }),
  );
  const head = await world.head();
  const intents = { M: Object.fromEntries(Object.entries(bodies).map(([id, B]) => [id, { B }])) };
  const fields = {
    epoch: { N: String(head.epoch) },
    releasedEpoch: { N: String(head.epoch) },
    writeNumber: { N: "9" },
    intents,
  };
  await engine.client.send(
    new PutItemCommand({
      TableName: "state",
      Item: { ...itemKey(headKey(world.partition)), ...fields },
    }),
  );
};

const hold = {
  kind: "hold",
  failed: false,
  because: { reason: "Test", message: "" },
  metrics: [],
  steps: [],
  events: [],
} as const;

describe("windows that cannot be read", () => {
  it("hold the autoscalers of their page, and are kept as they are", async () => {
    const world = await world2();
    await world.sync();
    const { pageGeneration, pages } = await world.head();
    const body = { B: compress(77, ["from a later version"]) };
    const Item = {
      ...itemKey(pageKey(world.partition, pageGeneration, 0)),
      epoch: { N: String(pages[0]) },
      body,
    };
    await engine.client.send(new PutItemCommand({ TableName: "state", Item }));
    for (const name of ["web", "api"]) workloadOf(world, name).demand = 9;
    expect(await next(world)).toMatchObject({
      evaluated: 0,
      unreadable: [{ reason: "UnreadableWindows" }, { reason: "UnreadableWindows" }],
    });
    expect(replicas(world)).toEqual([5, 5]);
    expect((await world.head()).pages).toEqual(pages);
  });

  it("keep an intent open, because its scale could not be counted", async () => {
    const world = await world2();
    world.cluster.faults.push("lost answer");
    await world.sync();
    const { pageGeneration, pages } = await world.head();
    const place = { partition: world.partition, generation: pageGeneration, index: 0 };
    const whole = await readPage(world.tables, place);
    const key = itemKey(pageKey(world.partition, pageGeneration, 0));
    const damaged = { ...key, epoch: { N: String(pages[0]) }, body: { B: compress(77, []) } };
    await engine.client.send(new PutItemCommand({ TableName: "state", Item: damaged }));
    for (let periods = 0; periods < 4; periods++) await next(world);
    expect((await world.head()).intents).toMatchObject([{ id: "uid-api:1" }]);
    const mended = { ...damaged, body: { B: whole?.body ?? new Uint8Array() } };
    await engine.client.send(new PutItemCommand({ TableName: "state", Item: mended }));
    expect(await next(world)).toMatchObject({
      openIntents: 0,
      events: [{ id: "uid-api:1", outcome: "applied" }],
    });
  });

  it("hold them too when the page is gone", async () => {
    const world = await world2();
    await world.sync();
    await deletePage(world.tables, {
      partition: world.partition,
      generation: (await world.head()).pageGeneration,
      index: 0,
    });
    for (const name of ["web", "api"]) workloadOf(world, name).demand = 9;
    expect(await next(world)).toMatchObject({
      evaluated: 0,
      unreadable: [{ message: expect.stringContaining("the item is not there") }, {}],
    });
    expect(replicas(world)).toEqual([5, 5]);
  });
});

describe("specs", () => {
  it("are read again when their version rose", async () => {
    const world = await world2();
    const warm = world.worker();
    await world.sync(warm);
    await putAutoscaler(
      world.tables,
      { ...world.autoscaler("web", 2), paused: { by: "ann", atMs: 1 } },
      1,
    );
    await raiseSpecVersion(world.tables, world.partition);
    for (const name of ["web", "api"]) workloadOf(world, name).demand = 9;
    world.nowMs += PERIOD_MS;
    await world.sync(warm);
    expect(replicas(world)).toEqual([5, 9]);
  });

  it("heal within five minutes when an edit died before it raised the version", async () => {
    const world = await world2();
    const warm = world.worker();
    await world.sync(warm);
    await putAutoscaler(world.tables, { ...world.autoscaler("web", 2), manifest: "broken" }, 1);
    const evaluated: number[] = [];
    for (let afterMs = PERIOD_MS; afterMs <= 300_000; afterMs += PERIOD_MS) {
      world.nowMs += PERIOD_MS;
      const report = await world.sync(warm);
      evaluated.push(report.kind === "completed" ? report.evaluated : 0);
    }
    expect([new Set(evaluated.slice(0, -1)), evaluated.at(-1)]).toEqual([new Set([2]), 1]);
  });

  it("in memory do not count once another dropped windows that they need, or gave some to an autoscaler that they do not have", async () => {
    const world = await world2();
    const [warm, other] = [world.worker(), world.worker()];
    await world.sync(warm);
    const uidsSeen = async (ports: SyncPorts): Promise<number> => {
      world.nowMs += PERIOD_MS;
      const report = await world.sync(ports);
      return report.kind === "completed" ? report.evaluated : 0;
    };
    // Deleted by an edit that died before it raised the version: the other worker starts cold, and
    // drops the windows.
    await deleteAutoscaler(world.tables, world.autoscaler("web"), 1);
    expect(await uidsSeen(other)).toBe(1);
    expect(await uidsSeen(warm)).toBe(1);
    // Created in the same way: a third worker gives it windows, which the first must not drop.
    await putAutoscaler(world.tables, world.autoscaler("web", 3), undefined);
    expect(await uidsSeen(world.worker())).toBe(2);
    expect(await uidsSeen(warm)).toBe(2);
  });
});
