import { describe, expect, it } from "vitest";
import { partitionName } from "../../lib/rules/model/ids.ts";
import { openService } from "../../lib/answers/service/open.ts";
import { claim } from "../../lib/stack/store/head/claim.ts";
import { markMoving } from "../../lib/stack/store/head/moving.ts";
import { giveBack } from "../../lib/stack/store/head/release.ts";
import { putCluster } from "../../lib/stack/store/records/clusters.ts";
import { DEFAULT_TIMING } from "../../lib/stack/plan/message.ts";
import { around, type TableClient } from "../contracts/faults.ts";
import { PERIOD_MS, workloadOf } from "../sync/world.ts";
import { type Damaged, newDamaged, RATE_MS } from "./world/damaged.ts";

const HOUR_MS = 3_600_000;

const wants = (damaged: Damaged, demand: number): void => {
  for (const name of ["api", "web"]) workloadOf(damaged.world, name).demand = demand;
};

/** A sync by a machine whose clock is an hour ahead, and that compares it with nothing. */
const syncAhead = async (damaged: Damaged): Promise<void> => {
  const { world } = damaged;
  world.nowMs += HOUR_MS;
  await world.sync(damaged.worker());
  world.nowMs -= HOUR_MS;
};

/** A partition that was scaled an hour ahead of time, and is in need again. */
const anHourAhead = async (): Promise<Damaged> => {
  const damaged = await newDamaged();
  await damaged.sync();
  wants(damaged, 4);
  await syncAhead(damaged);
  expect(damaged.replicas()).toEqual([4, 4]);
  wants(damaged, 9);
  return damaged;
};

class Died extends Error {}

const dyingAt = (client: TableClient, dieAt: number, after: boolean): TableClient => {
  let calls = 0;
  return around(client, async (_command, send) => {
    const nth = ++calls;
    if (nth < dieAt) return send();
    if (nth === dieAt && after) await send();
    throw new Died();
  });
};

const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );

/** The dead one's lease runs out; then it is done again. */
const goesOnAfterADeath = async (damaged: Damaged, diedAt: number): Promise<void> => {
  damaged.world.nowMs += DEFAULT_TIMING.leaseMs - PERIOD_MS + 1_000;
  await damaged.sync();
  expect(damaged.replicas(), `died at call ${diedAt}`).toEqual([4, 4]);
  await openService(damaged.context())
    .resetTime(damaged.path)
    .catch((error) => expect(error).toMatchObject({ code: "service.in-time" }));
  for (let syncs = 0; syncs < 8; syncs++) await damaged.sync();
  expect(damaged.replicas(), `died at call ${diedAt}`).toEqual([9, 9]);
};

describe("status()", () => {
  it("calls no sync ahead that ended while it read, by a clock that runs fast", async () => {
    const damaged = await newDamaged();
    await damaged.sync();
    // Each request takes a minute of this clock, and so does a sync.
    let asked = 0;
    const clock = () => damaged.world.nowMs - 600_000 + 60_000 * asked++;
    const context = damaged.context();
    const client = around(context.tables.client, (_command, send) => {
      asked += 60;
      return send();
    });
    const tables = { ...context.tables, client };
    const { problems } = await openService({ ...context, tables, clock }).status();
    expect(problems.filter(({ kind }) => kind === "ahead")).toEqual([]);
  });
});

describe("resetTime()", () => {
  it("lets a partition go on whose time is an hour ahead, as if its autoscalers had just been scaled", async () => {
    const damaged = await anHourAhead();
    for (let minute = 0; minute < 5; minute++) {
      damaged.world.nowMs += 45_000;
      expect(await damaged.sync()).toMatchObject({ kind: "dropped", why: "done" });
    }
    const service = openService(damaged.context());
    expect((await service.partition(damaged.path)).aheadSeconds).toBeGreaterThan(3_000);
    expect(await service.resetTime(damaged.path)).toEqual({
      cluster: damaged.world.record.name,
      partition: "default",
      autoscalers: ["shop/api", "shop/web"],
    });
    expect(await service.partition(damaged.path)).not.toHaveProperty("aheadSeconds");
    const resetMs = damaged.world.nowMs;
    while (damaged.replicas().some((count) => count === 4)) await damaged.sync();
    expect(damaged.world.nowMs - resetMs).toBe(RATE_MS);
    expect(damaged.replicas()).toEqual([9, 9]);
    expect((await damaged.world.head()).nowMs).toBe(damaged.world.nowMs);
    expect(await damaged.changes()).toMatchObject([{ verb: "reset-time", by: "ada" }]);
  });

  it("decides a move that was given up: it can no longer take the namespaces away under the windows that are written", async () => {
    const damaged = await anHourAhead();
    const { world } = damaged;
    const { tables, partition } = world;
    const dueMs = Number.MAX_SAFE_INTEGER;
    const claimed = await claim(tables, {
      partition,
      dueMs,
      clockMs: world.nowMs,
      leaseUntilMs: world.nowMs + 1,
    });
    if (claimed.kind !== "claimed") throw new Error(`it is ${claimed.kind}`);
    const { epoch, writeNumber } = claimed.head;
    await giveBack(
      tables,
      await markMoving(
        tables,
        { partition, epoch, writeNumber },
        { clusterVersion: world.record.version, epoch: epoch + 1 },
      ),
    );
    await openService(damaged.context()).resetTime(damaged.path);
    const moved = {
      ...world.record,
      partitions: [{ name: partitionName("other") }],
      version: world.record.version + 1,
    };
    expect(await putCluster(tables, moved, world.record.version)).toEqual({ kind: "conflict" });
  });

  it("settles an open intent of an hour ahead as unknown, once its PUT is out of time", async () => {
    const damaged = await newDamaged();
    await damaged.sync();
    wants(damaged, 9);
    damaged.world.cluster.faults.push("lost answer", "lost answer");
    await syncAhead(damaged);
    expect((await damaged.world.head()).intents).toHaveLength(2);
    const before = damaged.world.nowMs;
    await openService(damaged.context()).resetTime(damaged.path);
    expect(damaged.world.nowMs - before).toBe(39_000);
    expect((await damaged.world.head()).intents).toEqual([]);
    const events = await damaged.world.events();
    expect(events.map(({ outcome, settledMs }) => [outcome, settledMs])).toEqual([
      ["unknown", damaged.world.nowMs],
      ["unknown", damaged.world.nowMs],
    ]);
  });

  it("is refused where no time is ahead, before it claims anything", async () => {
    const damaged = await newDamaged();
    await damaged.sync();
    await expect(openService(damaged.context()).resetTime(damaged.path)).rejects.toMatchObject({
      code: "service.in-time",
      message: `Cannot reset the time of "${damaged.path}": no time in it is more than 4 s ahead of this clock`,
    });
    expect((await damaged.world.head()).epoch).toBe(1);
  });

  it.each([false, true])(
    "never lets a second scale into one window, wherever it dies (after the call: %s), and is done by doing it again",
    async (after) => {
      let died = 0;
      for (;;) {
        const damaged = await anHourAhead();
        const dying = openService(
          damaged.context(dyingAt(damaged.world.tables.client, died + 1, after)),
        );
        if (await succeeds(dying.resetTime(damaged.path))) break;
        died++;
        await goesOnAfterADeath(damaged, died);
      }
      expect(died).toBeGreaterThan(7);
    },
  );
});

describe("a lease that no right clock could have taken", () => {
  it("keeps no sync away: the holder's clock was wrong", async () => {
    const { world, sync } = await newDamaged();
    const clockMs = world.nowMs + HOUR_MS;
    expect(
      await claim(world.tables, {
        partition: world.partition,
        dueMs: 1,
        clockMs,
        leaseUntilMs: clockMs + DEFAULT_TIMING.leaseMs,
      }),
    ).toMatchObject({
      kind: "claimed",
    });
    expect(await sync()).toMatchObject({ kind: "completed" });
  });

  it("is told from one whose clock is as far ahead as a clock may be", async () => {
    const { world, sync } = await newDamaged();
    const clockMs = world.nowMs + PERIOD_MS + DEFAULT_TIMING.clockDifferenceMs;
    await claim(world.tables, {
      partition: world.partition,
      dueMs: 1,
      clockMs,
      leaseUntilMs: clockMs + DEFAULT_TIMING.leaseMs,
    });
    expect(await sync()).toMatchObject({ kind: "dropped", why: "held" });
  });
});
