import { describe, expect, it } from "vitest";
import { keepDays } from "../../lib/answers/audit/daily.ts";
import { START } from "../../lib/answers/audit/chain.ts";
import { lookAround } from "../../lib/answers/cloud-events/look.ts";
import { auditReads } from "../../lib/lambda/auditing.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { LOST_NUMBERS } from "../../lib/stack/store/head/repair-head.ts";
import { getFleet } from "../../lib/stack/store/records/clusters.ts";
import { MINUTE_MS, SECOND_MS } from "../../lib/rules/model/time-text.ts";
import { workloadOf } from "../sync/world.ts";
import { newRegions, type Region } from "./world/regions.ts";

const RATE_MS = 10 * MINUTE_MS;

/** Two minutes of work in the first region, in which both workloads are scaled from 2 to 5. */
const atWork = async () => {
  const stacks = await newRegions(RATE_MS);
  const { world } = stacks;
  const wants = (demand: number) => {
    for (const name of ["api", "web"]) workloadOf(world, name).demand = demand;
  };
  await stacks.live(3 * MINUTE_MS);
  return { ...stacks, wants, replicas: stacks.damaged.replicas };
};

/** The second region has taken the fleet, and the first one is still down. */
const moved = async () => {
  const stacks = await atWork();
  const { one, two, world } = stacks;
  one.isUp = false;
  const downMs = world.nowMs;
  await stacks.live(6 * MINUTE_MS);
  await two.service().move("eu-2");
  await stacks.live(2 * MINUTE_MS);
  return { ...stacks, downMs };
};

const completed = ({ reports }: Awaited<ReturnType<typeof atWork>>, region: string) =>
  reports.filter((each) => each.region === region && each.report.kind === "completed");

describe("a standby in a second region", () => {
  it("plans, writes and edits nothing while the first region works, and answers from its replica", async () => {
    const stacks = await atWork();
    const { one, two } = stacks;
    expect(completed(stacks, "eu-1").length).toBeGreaterThan(5);
    expect(stacks.reports.some(({ region }) => region === "eu-2")).toBe(false);
    expect(two.writes()).toBe(0);
    expect(await two.plan()).toMatchObject({
      sent: 0,
      idle: { kind: "standby", region: "eu-1", silentMs: expect.any(Number) },
    });
    const [here, there] = [await one.service().status(), await two.service().status()];
    expect(here.standby).toBeUndefined();
    expect(there).toMatchObject({ standby: { region: "eu-1" }, healthy: true });
    expect(await two.service().fleet()).toEqual({ standby: { region: "eu-1" } });
    for (const edit of [
      two.service().freeze("x"),
      two.service().adopt(),
      two.service().move("eu-1"),
    ])
      await expect(edit).rejects.toMatchObject({
        code: "service.conflict",
        message: expect.stringContaining("eu-1"),
      });
    expect(two.writes()).toBe(0);
  });

  it("sends no sync for a wake, and the first region none after its planner has been silent", async () => {
    const stacks = await atWork();
    const { one, two, world } = stacks;
    const wake = { cluster: world.record.name, reason: "drill" };
    const before = two.writes();
    expect(await two.waker()(world.record, wake)).toMatchObject([{ kind: "elsewhere" }]);
    expect(two.writes()).toBe(before);
    expect(two.queue).toEqual([]);
    world.nowMs += 6_000;
    const [served] = await one.waker()(world.record, wake);
    expect(served?.kind).not.toBe("elsewhere");
    world.nowMs += 5 * MINUTE_MS;
    expect(await one.waker()(world.record, wake)).toMatchObject([{ kind: "elsewhere" }]);
    await expect(one.service().freeze("x")).rejects.toMatchObject({ code: "service.conflict" });
  });

  it("makes no notices and keeps no audits, and goes on with both where it has the fleet", async () => {
    const stacks = await moved();
    const { one, two, world } = stacks;
    one.isUp = true;
    await stacks.live(MINUTE_MS);
    const look = ({ tables }: Region) => lookAround({ tables, insert: insertByStatement(tables) });
    /** The head that each file names as that of the file before it, and its own. */
    const keep = async ({ tables }: Region) => {
      const files: string[] = [];
      const days = await keepDays({
        service: auditReads({ tables, clock: tables.clock }),
        ...{ tables, insert: insertByStatement(tables) },
        put: async (_key, body) => void files.push(body),
      });
      const begins = files.map((body) => /"id":"([0-9a-f]{64})"/.exec(body)?.[1]);
      return { begins, heads: days.map(({ head }) => head) };
    };
    world.nowMs += 24 * 60 * MINUTE_MS;
    const before = one.writes();
    expect(await look(one)).toMatchObject({ made: 0, isElsewhere: true });
    expect(await keep(one)).toEqual({ begins: [], heads: [] });
    expect(one.writes()).toBe(before);
    expect(await look(two)).not.toHaveProperty("isElsewhere");
    const first = await keep(two);
    expect(first).toEqual({ begins: [START], heads: [expect.any(String)] });
    await stacks.replicate();
    // The fleet comes back to the first region, whose bucket gets the next file of the one chain.
    await two.service().move("eu-1");
    await stacks.replicate();
    world.nowMs += 24 * 60 * MINUTE_MS;
    expect(await keep(two)).toEqual({ begins: [], heads: [] });
    await one.service().move("eu-1");
    await stacks.replicate();
    expect((await keep(one)).begins).toEqual(first.heads);
  });

  it("takes the fleet without the region that is down, not before that one can act no more, and syncs within a minute", async () => {
    const stacks = await atWork();
    const { one, two, world } = stacks;
    one.isUp = false;
    const downMs = world.nowMs;
    let freeMs = 0;
    for (; freeMs === 0; await stacks.live(5 * SECOND_MS)) {
      const answer = await two
        .service()
        .move("eu-2")
        .catch((error: unknown) => error);
      if (answer instanceof Error)
        expect(answer.message).toMatch(
          /^Cannot move the fleet to "eu-2": the stack in "eu-1" may act until /,
        );
      else freeMs = world.nowMs;
    }
    await stacks.live(2 * MINUTE_MS);
    const [first] = completed(stacks, "eu-2");
    const [last] = completed(stacks, "eu-1").toReversed();
    expect(last?.atMs).toBeLessThan(downMs);
    // Its newest message may be claimed until then, and that sync lives and writes for 39 s.
    const lastMs = Math.max(...one.queue.map(({ untilMs = 0 }) => untilMs));
    expect(freeMs).toBeGreaterThanOrEqual(lastMs + 39_000);
    expect((freeMs - downMs) / SECOND_MS).toBeLessThanOrEqual(5 * 60);
    expect(((first?.atMs ?? 0) - freeMs) / SECOND_MS).toBeLessThanOrEqual(75);
    expect(await two.service().status()).toMatchObject({ healthy: true });
    const changes = await Array.fromAsync(two.service().changes({}));
    expect(changes).toContainEqual(
      expect.objectContaining({ scope: "fleet", verb: "move", by: "ada" }),
    );
  });

  it("scales nothing a second time inside its limit, where the last scale had not come from the first region", async () => {
    const stacks = await atWork();
    const { one, two, world } = stacks;
    stacks.cut(true);
    stacks.wants(5);
    await stacks.live(15 * SECOND_MS);
    expect(stacks.replicas()).toEqual([5, 5]);
    const scaledMs = world.nowMs;
    one.isUp = false;
    stacks.cut(false);
    stacks.wants(9);
    await stacks.live(6 * MINUTE_MS);
    await two.service().move("eu-2");
    const movedMs = world.nowMs;
    while (stacks.replicas()[0] === 5 && world.nowMs < movedMs + 20 * MINUTE_MS)
      await stacks.live(15 * SECOND_MS);
    expect(stacks.replicas()).toEqual([9, 9]);
    expect(world.nowMs - scaledMs).toBeGreaterThanOrEqual(RATE_MS);
    expect(world.nowMs - movedMs).toBeGreaterThanOrEqual(RATE_MS);
  });
});

describe("the first region, when it is back", () => {
  it("plans nothing before the move has come to it, because it asks the other region", async () => {
    const stacks = await moved();
    const { one } = stacks;
    stacks.cut(true);
    one.isUp = true;
    expect(await one.plan()).toMatchObject({ sent: 0, idle: { kind: "taken", region: "eu-2" } });
    const before = one.writes();
    expect(one.queue.length).toBeGreaterThan(0);
    for (const report of await one.work())
      expect(report).toMatchObject({ kind: "dropped", why: "stale" });
    // Of a cluster with a long period a message would do for 45 minutes.
    const sent = { periodMs: 900_000, dueMs: stacks.downMs, untilMs: stacks.downMs + MINUTE_MS };
    expect(await one.syncOf(sent)).toMatchObject({ kind: "dropped", why: "stale" });
    expect(one.writes()).toBe(before);
    expect(one.queue).toEqual([]);
  });

  it("writes nothing for a message that wakes up after the move has come to it", async () => {
    const stacks = await moved();
    const { one, world } = stacks;
    one.isUp = true;
    await stacks.replicate();
    const before = one.writes();
    expect(await one.syncOf({ periodMs: 900_000, dueMs: world.nowMs - 60_000 })).toMatchObject({
      kind: "dropped",
      why: "moved",
    });
    expect(one.writes()).toBe(before);
    expect(await one.service().fleet()).toMatchObject({ standby: { region: "eu-2" } });
  });

  it("does not plan where the other region does not answer, and plans at the second call where it says that it took nothing", async () => {
    const stacks = await atWork();
    const { one, two, world } = stacks;
    one.isUp = false;
    await stacks.live(10 * MINUTE_MS);
    one.isUp = true;
    two.isUp = false;
    expect(await one.plan()).toMatchObject({ sent: 0, idle: { kind: "unanswered" } });
    two.isUp = true;
    expect(await one.plan()).toMatchObject({ sent: 0, idle: { kind: "resuming" } });
    expect(await one.plan()).toMatchObject({ sent: 0, idle: { kind: "resuming" } });
    await stacks.replicate();
    await expect(two.service().move("eu-2")).rejects.toMatchObject({ code: "service.conflict" });
    world.nowMs += MINUTE_MS;
    expect(await one.plan()).toMatchObject({ clusters: 1, sent: expect.any(Number) });
    expect(one.queue.length).toBeGreaterThan(0);
  });

  it("is held by what it wrote over the other one: that partition waits until a person moves the fleet there once more", async () => {
    const stacks = await moved();
    const { one, two, world } = stacks;
    stacks.cut(true);
    one.isUp = true;
    // No rule lets this message through: it stands for what no rule foresees.
    expect(await one.syncOf({})).toMatchObject({ kind: "completed" });
    stacks.cut(false);
    await stacks.replicate();
    world.nowMs += 60_000;
    expect(await two.syncOf({ term: 1 })).toMatchObject({ kind: "dropped", why: "overwritten" });
    expect(await two.service().move("eu-2")).toMatchObject({ kind: "repaired", partitions: 1 });
    expect(await two.syncOf({ term: 1, dueMs: world.nowMs - 1 })).toMatchObject({
      kind: "completed",
    });
  });

  it("claims nothing any more where it gave the fleet up, so that no late message writes over what the other one writes", async () => {
    const stacks = await moved();
    const { one, two, world } = stacks;
    one.isUp = true;
    await stacks.replicate();
    const { moved: { term = 0 } = {} } = await getFleet(two.tables);
    await two.service().move("eu-1");
    await stacks.replicate();
    world.nowMs += 40 * SECOND_MS;
    expect(await one.service().move("eu-1")).toMatchObject({ kind: "taken" });
    // The move has not come to the second region yet, and a message of its last minute has.
    const before = two.writes();
    const late = { term, dueMs: world.nowMs, untilMs: world.nowMs + SECOND_MS };
    expect(await two.syncOf(late)).toMatchObject({ kind: "dropped", why: "moved" });
    expect(two.writes()).toBe(before);
    await stacks.live(MINUTE_MS);
    expect(await one.service().move("eu-1")).toMatchObject({ kind: "here" });
  });

  it("takes the fleet back when the other one has given it up, under a later term", async () => {
    const stacks = await moved();
    const { one, two, world } = stacks;
    one.isUp = true;
    await stacks.replicate();
    const term = (await getFleet(two.tables)).moved?.term ?? 0;
    expect(await two.service().move("eu-1")).toMatchObject({ kind: "left", region: "eu-1" });
    const sinceMs = world.nowMs;
    await stacks.live(30 * SECOND_MS);
    await expect(one.service().move("eu-1")).rejects.toMatchObject({ code: "service.conflict" });
    await stacks.live(10 * SECOND_MS);
    expect(await one.service().move("eu-1")).toMatchObject({ kind: "taken", from: "eu-2" });
    await stacks.live(2 * MINUTE_MS);
    expect((await getFleet(two.tables)).moved?.term).toBeGreaterThan(term);
    const later = stacks.reports.filter(
      ({ atMs, report }) => atMs > sinceMs + 45_000 && report.kind === "completed",
    );
    expect(new Set(later.map(({ region }) => region))).toEqual(new Set(["eu-1"]));
    expect((await stacks.world.head()).epoch).toBeGreaterThan(2 * LOST_NUMBERS);
  });
});
