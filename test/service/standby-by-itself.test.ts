import { describe, expect, it } from "vitest";
import { MINUTE_MS, SECOND_MS } from "../../lib/rules/model/time-text.ts";
import { workloadOf } from "../sync/world.ts";
import { newRegions } from "./world/regions.ts";

const AFTER_MS = 5 * MINUTE_MS;
const RATE_MS = 10 * MINUTE_MS;

/** The first region has the fleet and has renewed both leases; both workloads are at 2. */
const atWork = async (afterMs: number | undefined = AFTER_MS) => {
  const stacks = await newRegions(RATE_MS, afterMs);
  await stacks.live(4 * MINUTE_MS);
  const { world } = stacks;
  const wants = (demand: number) => {
    for (const name of ["api", "web"]) workloadOf(world, name).demand = demand;
  };
  return { ...stacks, wants };
};
type Stacks = Awaited<ReturnType<typeof atWork>>;

const synced = ({ reports }: Stacks, region: string) =>
  reports.filter((each) => each.region === region && each.report.kind === "completed");

/** No instant at which both stacks have completed syncs around it: the one ends before the other begins. */
const actedInTurn = (stacks: Stacks): boolean => {
  const regions = stacks.reports
    .filter(({ report }) => report.kind === "completed")
    .map(({ region }) => region);
  return regions.filter((region, at) => region !== regions[at - 1]).length <= 2;
};
const cut = ({ links }: Stacks, ...pairs: readonly string[]) => {
  for (const pair of pairs) {
    const [from, to] = pair.split(" - ");
    links.add(`${from} to ${to}`).add(`${to} to ${from}`);
  }
};

describe("a standby that takes the fleet by itself", () => {
  it("takes it without a person where the first region is down, and nobody else does before", async () => {
    const stacks = await atWork();
    const { one, two, world } = stacks;
    stacks.wants(5);
    await stacks.live(30 * SECOND_MS);
    one.isUp = false;
    const downMs = world.nowMs;
    await stacks.live(12 * MINUTE_MS);
    const taken = stacks.looks.find(({ look }) => look.kind === "taken");
    expect(taken).toMatchObject({ region: "eu-2", look: { from: "eu-1", partitions: 1 } });
    const [first] = synced(stacks, "eu-2");
    // A lease ends three minutes after its last renewal, and the schedule looks once a minute.
    expect(((taken?.atMs ?? 0) - downMs) / SECOND_MS).toBeLessThanOrEqual((3 + 5 + 1) * 60);
    expect(((taken?.atMs ?? 0) - downMs) / SECOND_MS).toBeGreaterThan(5 * 60);
    expect(((first?.atMs ?? 0) - (taken?.atMs ?? 0)) / SECOND_MS).toBeLessThanOrEqual(180);
    expect(await two.service().fleet()).toMatchObject({
      moved: { from: "eu-1", to: "eu-2", by: "the standby" },
    });
    // The minutes without a sync are owed, and nothing else is wrong.
    const { problems } = await two.service().status();
    expect(problems.map(({ kind }) => kind)).toEqual(["undecided"]);
    // Back again, the first region is the standby of the second one.
    one.isUp = true;
    await stacks.live(8 * MINUTE_MS);
    expect(actedInTurn(stacks)).toBe(true);
    expect(stacks.looks.filter(({ look }) => look.kind === "taken")).toHaveLength(1);
    expect(stacks.plans.at(-1)?.plan.idle ?? stacks.plans.at(-2)?.plan.idle).toMatchObject({
      kind: "standby",
      region: "eu-2",
    });
    // And takes the fleet back where the second region goes down.
    two.isUp = false;
    await stacks.live(12 * MINUTE_MS);
    expect(await one.service().fleet()).toMatchObject({ moved: { from: "eu-2", to: "eu-1" } });
    expect(synced(stacks, "eu-1").at(-1)?.atMs).toBeGreaterThan(world.nowMs - MINUTE_MS);
  });

  it("takes nothing while the witness, the network between both stacks, or its own network is down", async () => {
    for (const pairs of [
      ["eu-1 - witness", "eu-2 - witness"],
      ["eu-1 - eu-2"],
      ["eu-2 - witness", "eu-1 - eu-2"],
    ]) {
      const stacks = await atWork();
      cut(stacks, ...pairs);
      await stacks.live(15 * MINUTE_MS);
      expect(
        stacks.looks.some(({ look }) => look.kind === "taken"),
        pairs.join(),
      ).toBe(false);
      expect(synced(stacks, "eu-2")).toEqual([]);
      // The first region goes on.
      expect(synced(stacks, "eu-1").at(-1)?.atMs).toBeGreaterThan(stacks.world.nowMs - MINUTE_MS);
    }
  });

  it("takes it where the first region is cut off from both others, which has stopped minutes before and scales nothing meanwhile", async () => {
    const stacks = await atWork();
    const { one, two, world } = stacks;
    cut(stacks, "eu-1 - witness", "eu-1 - eu-2");
    stacks.cut(true);
    const cutMs = world.nowMs;
    await stacks.live(12 * MINUTE_MS);
    const last = synced(stacks, "eu-1").at(-1)?.atMs ?? 0;
    const first = synced(stacks, "eu-2")[0]?.atMs ?? 0;
    expect(last - cutMs).toBeLessThanOrEqual(3 * MINUTE_MS + 90 * SECOND_MS);
    expect(first - last).toBeGreaterThan(3 * MINUTE_MS);
    const idle = stacks.plans.filter(({ region, plan }) => region === "eu-1" && plan.idle);
    expect(idle.at(-1)?.plan.idle?.kind).toMatch(/unleased|unanswered/);
    await expect(one.service().freeze("x")).rejects.toMatchObject({ code: "service.conflict" });
    // The network is back before the move has come to the first region.
    stacks.links.clear();
    expect(await one.plan()).toMatchObject({ sent: 0, idle: { kind: "taken", region: "eu-2" } });
    stacks.cut(false);
    await stacks.live(5 * MINUTE_MS);
    expect(actedInTurn(stacks)).toBe(true);
    await stacks.live(60 * MINUTE_MS);
    expect(await two.service().status()).toMatchObject({ healthy: true });
  });

  it("scales nothing a second time inside its limit", async () => {
    const stacks = await atWork();
    const { one, world } = stacks;
    stacks.cut(true);
    stacks.wants(5);
    await stacks.live(15 * SECOND_MS);
    const replicas = () => stacks.damaged.replicas();
    expect(replicas()).toEqual([5, 5]);
    one.isUp = false;
    stacks.cut(false);
    stacks.wants(9);
    while (!stacks.looks.some(({ look }) => look.kind === "taken"))
      await stacks.live(15 * SECOND_MS);
    const takenMs = world.nowMs;
    while (replicas()[0] === 5 && world.nowMs < takenMs + 20 * MINUTE_MS)
      await stacks.live(15 * SECOND_MS);
    expect(replicas()).toEqual([9, 9]);
    expect(world.nowMs - takenMs).toBeGreaterThanOrEqual(RATE_MS - 15 * SECOND_MS);
  });

  it("refuses a person's move while the first region renews at the witness, though nothing of it is replicated", async () => {
    const stacks = await atWork();
    const { two } = stacks;
    cut(stacks, "eu-1 - eu-2");
    stacks.cut(true);
    await stacks.live(8 * MINUTE_MS);
    await expect(two.service().move("eu-2")).rejects.toMatchObject({
      code: "service.conflict",
      message: expect.stringContaining('holds a lease in "witness"'),
    });
    stacks.links.clear();
    stacks.cut(false);
    await stacks.live(4 * MINUTE_MS);
    expect(actedInTurn(stacks)).toBe(true);
    expect(synced(stacks, "eu-1").at(-1)?.atMs).toBeGreaterThan(stacks.world.nowMs - MINUTE_MS);
    // Both leases are renewed again, also the one that the refused move might have claimed.
    stacks.links.add("eu-1 to witness");
    await stacks.live(6 * MINUTE_MS);
    expect(synced(stacks, "eu-1").at(-1)?.atMs).toBeGreaterThan(stacks.world.nowMs - MINUTE_MS);
  });

  it("moves at once on a quiet day, where a person gives the fleet up", async () => {
    const stacks = await atWork();
    const { one, two } = stacks;
    await one.service().move("eu-2");
    await stacks.live(45 * SECOND_MS);
    expect(await two.service().move("eu-2")).toMatchObject({ kind: "taken" });
    await stacks.live(3 * MINUTE_MS);
    expect(synced(stacks, "eu-2").length).toBeGreaterThan(3);
    expect(actedInTurn(stacks)).toBe(true);
  });

  it("takes nothing, ever, after the stack that has the fleet has withdrawn its leases", async () => {
    const stacks = await atWork();
    const { one } = stacks;
    // The first stack is deployed with 0: the second one still has five minutes.
    stacks.setting.afterMs = 0;
    await one.plan();
    stacks.setting.afterMs = AFTER_MS;
    one.isUp = false;
    await stacks.live(15 * MINUTE_MS);
    expect(stacks.looks.at(-1)).toMatchObject({ region: "eu-2", look: { kind: "unkept" } });
  });

  it("lets the stack that has the fleet plan nothing where its parameters are gone and its leases are not withdrawn", async () => {
    const stacks = await atWork();
    stacks.setting.afterMs = undefined;
    expect(await stacks.one.plan()).toMatchObject({ sent: 0, idle: { kind: "unleased" } });
    stacks.setting.afterMs = 0;
    expect(await stacks.one.plan()).not.toHaveProperty("idle");
    stacks.setting.afterMs = undefined;
    expect(await stacks.one.plan()).not.toHaveProperty("idle");
  });
});
