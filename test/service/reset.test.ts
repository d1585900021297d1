import { describe, expect, it } from "vitest";
import { autoscalerUid } from "../../lib/rules/model/ids.ts";
import { NEW_WINDOWS } from "../../lib/rules/model/windows.ts";
import { MAX_ASSUMED_CHANGE } from "../../lib/rules/policy/unknown-past.ts";
import { openService } from "../../lib/answers/service/open.ts";
import { decodePage, encodePage } from "../../lib/stack/store/pages/codec.ts";
import { readPage, writePage } from "../../lib/stack/store/pages/pages.ts";
import { compress } from "../../lib/stack/store/table/compressed.ts";
import { DEFAULT_TIMING } from "../../lib/stack/plan/message.ts";
import { around, type TableClient } from "../contracts/faults.ts";
import { intent } from "../store/records.ts";
import { PERIOD_MS, workloadOf } from "../sync/world.ts";
import { type Damaged, FOREIGN, newDamaged, RATE_MS } from "./world/damaged.ts";

const LEASE_MS = DEFAULT_TIMING.leaseMs;

class Died extends Error {}

/** Calls to the tables that end at the nth, before or after it took effect. */
const dyingAt = (client: TableClient, dieAt: number, after: boolean): TableClient => {
  let calls = 0;
  return around(client, async (_command, send) => {
    const nth = ++calls;
    if (nth < dieAt) return send();
    if (nth === dieAt && after) await send();
    throw new Died();
  });
};

/** False when it died. */
const succeeds = async (work: Promise<unknown>): Promise<boolean> => {
  try {
    await work;
    return true;
  } catch (error) {
    if (error instanceof Died) return false;
    throw error;
  }
};

/** Does something before the nth call of a command. */
const ahead = (
  client: TableClient,
  command: string,
  nth: number,
  act: () => Promise<unknown>,
): TableClient => {
  let seen = 0;
  return around(client, async (name, send) => {
    if (name === command && ++seen === nth) await act();
    return send();
  });
};

const wants = (damaged: Damaged, demand: number): void => {
  for (const name of ["api", "web"]) workloadOf(damaged.world, name).demand = demand;
};

/** A partition at rest whose page cannot be read while both workloads are in need. */
const lostWindows = async (body: Uint8Array | undefined = FOREIGN): Promise<Damaged> => {
  const damaged = await newDamaged();
  await damaged.sync();
  await damaged.damagePage(body);
  wants(damaged, 9);
  expect(await damaged.sync()).toMatchObject({
    evaluated: 0,
    unreadable: [{ reason: "UnreadableWindows" }, { reason: "UnreadableWindows" }],
  });
  return damaged;
};

/** Syncs until both workloads have what they need; gives how long after the reset that was. */
const heldFor = async (damaged: Damaged, resetMs: number): Promise<number> => {
  for (let syncs = 0; syncs < 10; syncs++) {
    await damaged.sync();
    if (damaged.replicas().every((count) => count === 9)) return damaged.world.nowMs - resetMs;
    expect(damaged.replicas()).toEqual([2, 2]);
  }
  return Number.POSITIVE_INFINITY;
};

describe("resetWindows()", () => {
  it.each([
    ["is of a later version", FOREIGN],
    ["is damaged", Buffer.of(2, 1, 2, 3)],
    ["is none of ours", undefined],
  ])(
    "lets the autoscalers of a page that %s go on once their windows are over, as if they had just been scaled",
    async (_what, body) => {
      const damaged = await lostWindows(body);
      const reset = await openService(damaged.context()).resetWindows(damaged.path, 0);
      expect(reset).toMatchObject({
        partition: "default",
        autoscalers: ["shop/api", "shop/web"],
        kept: { bytes: expect.any(Number) },
      });
      expect(await heldFor(damaged, damaged.world.nowMs)).toBe(RATE_MS);
    },
  );

  it("keeps the bytes and the editor's name in the history", async () => {
    const damaged = await lostWindows();
    const { kept } = await openService(damaged.context()).resetWindows(damaged.path, 0);
    expect(await damaged.kept()).toEqual([Buffer.from(FOREIGN)]);
    const [change, ...more] = await damaged.changes();
    expect([change, more]).toMatchObject([
      {
        scope: "partition",
        verb: "reset-windows",
        by: "ada",
        atMs: damaged.world.nowMs,
        version: 3,
      },
      [],
    ]);
    expect(JSON.parse(change?.before ?? "")).toEqual({
      page: 0,
      problem: "RangeError: version 77 is not known",
      kept,
    });
    expect(JSON.parse(change?.after ?? "")).toEqual({
      page: 0,
      autoscalers: ["shop/api", "shop/web"],
    });
  });

  it("lets a scale that is still open settle, and counts it", async () => {
    const damaged = await newDamaged();
    await damaged.sync();
    wants(damaged, 9);
    damaged.world.cluster.faults.push("lost answer", "lost answer");
    await damaged.sync();
    await damaged.damagePage(FOREIGN);
    for (let syncs = 0; syncs < 4; syncs++) await damaged.sync();
    expect((await damaged.world.head()).intents).toHaveLength(2);
    await openService(damaged.context()).resetWindows(damaged.path, 0);
    expect(await damaged.sync()).toMatchObject({
      openIntents: 0,
      events: [{ outcome: "applied" }, { outcome: "applied" }],
    });
  });

  it.each([
    [0, "service.readable", "it can be read, so no reset is needed"],
    [1, "service.unknown", "its last page is 0"],
  ])("refuses page %i with %s before it claims anything", async (page, code, why) => {
    const damaged = await newDamaged();
    await damaged.sync();
    const message = `Cannot reset windows page ${page} of "${damaged.path}": ${why}`;
    await expect(
      openService(damaged.context()).resetWindows(damaged.path, page),
    ).rejects.toMatchObject({ name: "TidemarkError", code, message });
    expect((await damaged.world.head()).epoch).toBe(1);
  });

  it("never makes windows worse, wherever it dies, and is done by doing it again", async () => {
    let died = 0;
    for (const after of [false, true]) {
      for (let dieAt = 1, done = false; !done; dieAt++) {
        const damaged = await lostWindows();
        done = await succeeds(
          openService(
            damaged.context(dyingAt(damaged.world.tables.client, dieAt, after)),
          ).resetWindows(damaged.path, 0),
        );
        if (done) break;
        died++;
        // The dead one's lease runs out: all autoscalers hold, or go by windows that err to safety.
        damaged.world.nowMs += LEASE_MS - PERIOD_MS + 1_000;
        await damaged.sync();
        expect(damaged.replicas(), `died at call ${dieAt}`).toEqual([2, 2]);
        await openService(damaged.context())
          .resetWindows(damaged.path, 0)
          .catch((error) => expect(error).toMatchObject({ code: "service.readable" }));
        expect(
          await heldFor(damaged, damaged.world.nowMs),
          `died at call ${dieAt}`,
        ).toBeLessThanOrEqual(RATE_MS);
        expect(await damaged.kept()).not.toHaveLength(0);
      }
    }
    expect(died).toBeGreaterThan(15);
  });

  it("is refused when it stalls past its lease: what a sync wrote meanwhile stands", async () => {
    const damaged = await lostWindows();
    const stalled = ahead(damaged.world.tables.client, "PutItemCommand", 1, async () => {
      damaged.world.nowMs += 40_000;
      expect(await damaged.sync()).toMatchObject({ kind: "completed", evaluated: 0 });
    });
    await expect(
      openService(damaged.context(stalled)).resetWindows(damaged.path, 0),
    ).rejects.toMatchObject({
      code: "service.conflict",
      message: `Cannot reset windows page 0 of "${damaged.path}": another sync or edit changed the partition in the meantime; check it and try again`,
    });
    expect(await damaged.sync()).toMatchObject({ kind: "completed", evaluated: 0 });
  });

  it("never writes over windows that an overtaken sync had still under way", async () => {
    const damaged = await lostWindows();
    const { pageGeneration: generation, pages } = await damaged.world.head();
    const pageId = { partition: damaged.world.partition, generation, index: 0 };
    const late = ahead(damaged.world.tables.client, "PutItemCommand", 1, () =>
      writePage(damaged.world.tables, {
        id: pageId,
        epoch: 2,
        readEpoch: pages[0] ?? 0,
        body: encodePage([]),
      }),
    );
    await expect(
      openService(damaged.context(late)).resetWindows(damaged.path, 0),
    ).rejects.toMatchObject({ code: "service.conflict" });
    expect(await readPage(damaged.world.tables, pageId)).toMatchObject({ epoch: 2 });
  });

  it("lets one of two people do it", async () => {
    const damaged = await lostWindows();
    const service = openService(damaged.context());
    const ended = await Promise.allSettled([
      service.resetWindows(damaged.path, 0),
      service.resetWindows(damaged.path, 0),
    ]);
    expect(ended.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await damaged.changes()).toHaveLength(1);
  });
});

const ID = "uid-web:1";

/** A partition at rest in which "web" has an open intent that cannot be read, and is in need. */
const lostIntent = async (syncs = 1, body?: Uint8Array): Promise<Damaged> => {
  const damaged = await newDamaged();
  for (let at = 0; at < syncs; at++) await damaged.sync();
  await damaged.damageIntent(ID, body);
  workloadOf(damaged.world, "web").demand = 9;
  expect(await damaged.sync()).toMatchObject({
    openIntents: 1,
    unreadable: [{ name: "web", reason: "UnreadableIntent" }],
  });
  return damaged;
};

describe("resetIntent()", () => {
  it("settles it as unknown after every deadline, and its autoscaler goes on once its windows are over", async () => {
    const damaged = await lostIntent();
    const seenMs = damaged.world.nowMs;
    const { kept, autoscalers } = await openService(damaged.context()).resetIntent(
      damaged.path,
      ID,
    );
    expect([damaged.world.nowMs - seenMs, autoscalers]).toEqual([39_000, ["shop/web"]]);
    expect(await damaged.world.head()).toMatchObject({ intents: [], unreadable: [] });
    expect(await damaged.world.events()).toMatchObject([
      {
        id: ID,
        name: "web",
        outcome: "unknown",
        reason: "UnreadableIntent",
        from: 2,
        to: 2,
        detail: "settled by ada",
      },
    ]);
    expect(await damaged.kept()).toEqual([Buffer.from(FOREIGN)]);
    expect(await damaged.changes()).toMatchObject([{ verb: "reset-intent", by: "ada" }]);
    expect(JSON.parse((await damaged.changes())[0]?.before ?? "")).toEqual({
      intent: ID,
      problem: "version 77 is not known",
      kept,
    });
    const resetMs = damaged.world.nowMs;
    while (damaged.replicas()[1] === 2) await damaged.sync();
    expect(damaged.world.nowMs - resetMs).toBeGreaterThanOrEqual(RATE_MS);
    expect(damaged.replicas()).toEqual([2, 9]);
  });

  it("settles one that lacks its target in the same way", async () => {
    const { target: _target, ...rest } = intent({ id: ID });
    const damaged = await lostIntent(1, compress(1, rest));
    await openService(damaged.context()).resetIntent(damaged.path, ID);
    expect(await damaged.world.head()).toMatchObject({ intents: [], unreadable: [] });
    expect(await damaged.world.events()).toMatchObject([
      { id: ID, outcome: "unknown", reason: "UnreadableIntent" },
    ]);
  });

  it("leaves the windows of the others as they are, and counts everything for its own", async () => {
    const damaged = await lostIntent();
    await openService(damaged.context()).resetIntent(damaged.path, ID);
    const { pageGeneration: generation } = await damaged.world.head();
    const item = await readPage(damaged.world.tables, {
      partition: damaged.world.partition,
      generation,
      index: 0,
    });
    const page = decodePage(item?.body ?? Buffer.of());
    if (page.kind !== "read") throw new Error("the page cannot be read");
    const used = {
      change: MAX_ASSUMED_CHANGE,
      atMs: damaged.world.nowMs,
      earliestMs: 0,
      eventId: ID,
    };
    expect(page.entries.get(autoscalerUid("uid-web"))?.windows.memory).toEqual({
      recommendations: null,
      scaleUps: [used],
      scaleDowns: [used],
    });
    expect(page.entries.get(autoscalerUid("uid-api"))?.windows.memory).toMatchObject({
      scaleUps: [],
      scaleDowns: [],
      recommendations: [{ replicas: 2 }],
    });
  });

  const scaledTo = (damaged: Damaged, name: string, replicas: number): void => {
    const workload = workloadOf(damaged.world, name);
    Object.assign(workload, {
      replicas,
      demand: replicas,
      generation: workload.generation + 1,
      resourceVersion: workload.resourceVersion + 1,
    });
  };

  it("reports no change from outside that may be the lost scale of a deleted autoscaler", async () => {
    const damaged = await newDamaged();
    await damaged.sync();
    await damaged.damageIntent("uid-gone:1");
    scaledTo(damaged, "web", 3);
    await damaged.sync();
    await openService(damaged.context()).resetIntent(damaged.path, "uid-gone:1");
    await damaged.sync();
    expect(await damaged.world.outside()).toEqual([]);
    scaledTo(damaged, "web", 5);
    await damaged.sync();
    expect(await damaged.world.outside()).toMatchObject([{ name: "web", to: 5 }]);
  });

  it("reports what others did to other workloads where the lost intent names its own", async () => {
    const damaged = await newDamaged();
    await damaged.sync();
    const { deadlineMs: _deadline, ...rest } = intent({ id: "uid-gone:1" });
    await damaged.damageIntent(
      "uid-gone:1",
      compress(1, { ...rest, namespace: "shop", target: { ...rest.target, name: "web" } }),
    );
    scaledTo(damaged, "web", 3);
    scaledTo(damaged, "api", 4);
    await damaged.sync();
    await openService(damaged.context()).resetIntent(damaged.path, "uid-gone:1");
    await damaged.sync();
    expect(await damaged.world.outside()).toMatchObject([{ name: "api", from: 2, to: 4 }]);
  });

  it("does so before the first completed sync too", async () => {
    const damaged = await newDamaged();
    const dying = damaged.worker({
      rules: { ...damaged.worker().rules, decide: () => Promise.reject(new Died()) as never },
    });
    await damaged.sync(dying).catch(() => undefined);
    await damaged.damageIntent(ID);
    await openService(damaged.context()).resetIntent(damaged.path, ID);
    expect(await damaged.world.head()).toMatchObject({
      unreadable: [],
      pages: [expect.any(Number)],
      pageGeneration: 1,
    });
    expect(await damaged.sync()).toMatchObject({ kind: "completed", evaluated: 2 });
  });

  it("is refused when it stalls between its claim and its look at the page: what a sync wrote meanwhile stands", async () => {
    const damaged = await lostIntent();
    const stalled = ahead(damaged.world.tables.client, "QueryCommand", 1, async () => {
      damaged.world.nowMs += 40_000;
      await damaged.sync();
    });
    await expect(
      openService(damaged.context(stalled)).resetIntent(damaged.path, ID),
    ).rejects.toMatchObject({ code: "service.conflict" });
    expect((await damaged.world.head()).unreadable).toHaveLength(1);
  });

  it("tells no event twice: one that its holder had stored is the one that counts", async () => {
    const damaged = await lostIntent();
    const { tables } = damaged.world;
    for (const dieAt of [10, 11, 12]) {
      await openService(damaged.context(dyingAt(tables.client, dieAt, true)))
        .resetIntent(damaged.path, ID)
        .catch(() => undefined);
      damaged.world.nowMs += LEASE_MS + 1_000;
    }
    await openService(damaged.context()).resetIntent(damaged.path, ID);
    expect(await damaged.world.events()).toHaveLength(1);
  });

  it("never forgets that it may have happened, wherever it dies", async () => {
    let died = 0;
    for (const after of [false, true]) {
      for (let dieAt = 1, done = false; !done; dieAt++) {
        const damaged = await lostIntent();
        done = await succeeds(
          openService(
            damaged.context(dyingAt(damaged.world.tables.client, dieAt, after)),
          ).resetIntent(damaged.path, ID),
        );
        if (done) break;
        died++;
        damaged.world.nowMs += LEASE_MS - PERIOD_MS + 1_000;
        await damaged.sync();
        // Still open, or with its event and counted.
        const [{ unreadable }, events] = [await damaged.world.head(), await damaged.world.events()];
        expect([unreadable.length, events.length], `died at call ${dieAt}`).toSatisfy(
          ([open, told]) => open === 1 || told === 1,
        );
        expect(damaged.replicas(), `died at call ${dieAt}`).toEqual([2, 2]);
      }
    }
    expect(died).toBeGreaterThan(20);
  });

  it.each([
    ["uid-web:9", "service.unknown", "no open intent has this id; see tidemark partition describe"],
    ["uid-api:2", "service.readable", "it can be read, so the next sync settles it"],
  ])("refuses %s with %s", async (id, code, why) => {
    const damaged = await newDamaged();
    await damaged.sync();
    workloadOf(damaged.world, "api").demand = 9;
    damaged.world.cluster.faults.push("lost answer");
    await damaged.sync();
    const message = `Cannot reset intent "${id}" of "${damaged.path}": ${why}`;
    await expect(
      openService(damaged.context()).resetIntent(damaged.path, id),
    ).rejects.toMatchObject({ code, message });
  });

  it("asks for the page first where its windows cannot be read either", async () => {
    const damaged = await lostIntent();
    await damaged.damagePage(FOREIGN);
    const service = openService(damaged.context());
    await expect(service.resetIntent(damaged.path, ID)).rejects.toMatchObject({
      code: "service.unreadable",
      message: `Cannot reset intent "${ID}" of "${damaged.path}": windows page 0 of its autoscaler cannot be read; tidemark partition reset replaces the page first`,
    });
    await service.resetWindows(damaged.path, 0);
    await service.resetIntent(damaged.path, ID);
    expect(await damaged.sync()).toMatchObject({ openIntents: 0, unreadable: [] });
  });

  it("forgets the intent of a deleted autoscaler, with its change alone", async () => {
    const damaged = await newDamaged();
    await damaged.sync();
    await damaged.damageIntent("uid-gone:1");
    expect(
      await openService(damaged.context()).resetIntent(damaged.path, "uid-gone:1"),
    ).toMatchObject({ autoscalers: [] });
    expect([await damaged.world.events(), (await damaged.changes()).length]).toEqual([[], 1]);
  });
});

describe("partition()", () => {
  it("shows what cannot be read and what stands still", async () => {
    const damaged = await lostIntent();
    await damaged.damagePage(FOREIGN);
    const view = await openService(damaged.context()).partition(damaged.path);
    expect(view).toMatchObject({
      partition: "default",
      namespaces: "all others",
      autoscalers: 2,
      pages: [
        {
          page: 0,
          autoscalers: 2,
          bytes: FOREIGN.length,
          problem: "RangeError: version 77 is not known",
          held: ["shop/api", "shop/web"],
        },
      ],
      intents: [{ id: ID, autoscaler: "shop/web", problem: "version 77 is not known" }],
    });
    expect(NEW_WINDOWS.memory.scaleUps).toEqual([]);
  });

  it.each([
    ["/x", "service.invalid", 'Cannot read the partition "/x": give CLUSTER/PARTITION'],
    [
      "eu-0/defualt",
      "service.unknown",
      expect.stringMatching(
        /^Cannot find partition "defualt" of cluster "eu-\d+": the nearest name is "default"$/,
      ),
    ],
  ])("refuses %s with %s", async (path, code, message) => {
    const damaged = await newDamaged();
    const asked = path.replace("eu-0", damaged.world.record.name);
    await expect(openService(damaged.context()).partition(asked)).rejects.toMatchObject({
      code,
      message,
    });
  });
});
