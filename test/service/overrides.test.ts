import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { describeSheet } from "../../lib/command/output/describe-sheet.ts";
import { painter } from "../../lib/command/io.ts";
import { statusSheet } from "../../lib/command/commands/status.ts";
import { clusterName } from "../../lib/rules/model/ids.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { NewOverride, OverrideListQuery } from "../../lib/answers/service/requests.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { boundsThen } from "../../lib/answers/service/views/holds-view.ts";
import { getCluster, getFleet } from "../../lib/stack/store/records/clusters.ts";
import { startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { NOON } from "../noon.ts";
import { newWorld } from "../sync/world.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";
import { documents, hpa } from "./world/manifests.ts";

const plain = painter(false);
const HOUR_MS = 3_600_000;
const IN_AN_HOUR = { untilMs: NOON + HOUR_MS, reason: "TV spot" };

let world: ServiceWorld;
let ada: Service;
let bob: Service;
beforeAll(async () => {
  world = await serviceWorld();
  ada = openService(world.context);
  bob = openService({ ...world.context, by: "bob" });
  await ada.addCluster({ name: "eu-1", connection: { kind: "kubeconfig", path: "/kube/config" } });
  const manifests = documents(
    hpa("web", { namespace: "shop" }),
    hpa("api", { namespace: "shop", max: 5 }),
    hpa("web", { namespace: "lab" }),
  );
  await ada.apply([{ file: "a.yaml", text: manifests }], { cluster: "eu-1", dryRun: false });
});
afterAll(() => world.close());

beforeEach(async () => {
  world.set(NOON);
  for (const { id, state } of await Array.fromAsync(ada.overrides({})))
    if (state !== "expired") await ada.clearOverride({ id });
});

const set = (wanted: Partial<NewOverride>, by = ada) =>
  by.setOverride({ ...IN_AN_HOUR, ...wanted });
const WEB = { name: "eu-1/shop/web" };
const SHOP = { cluster: "eu-1", namespace: "shop" };
const listed = async (query = {}) =>
  (await Array.fromAsync(ada.overrides(query)))
    .filter(({ state }) => state !== "expired")
    .map(({ scope, state }) => `${scope} ${state}`);

describe("setOverride()", () => {
  it("says whom it meets with which bounds, and stores nothing in a dry run", async () => {
    const { override, changed, meets, warnings } = await set({
      ...SHOP,
      minFactor: 1.5,
      dryRun: true,
    });
    expect(override).toMatchObject({
      scope: "namespace",
      cluster: "eu-1",
      namespace: "shop",
      minFactor: 1.5,
      state: "active",
      by: "ada",
    });
    expect({ changed, warnings }).toEqual({ changed: false, warnings: [] });
    expect(
      meets.map(({ name, before, after }) => [
        name,
        before.min.replicas,
        after.min.replicas,
        after.min.by.kind,
      ]),
    ).toEqual([
      ["api", 2, 3, "override"],
      ["web", 2, 3, "override"],
    ]);
    expect(await listed()).toEqual([]);
  });

  it.each<[string, Partial<NewOverride>, string]>([
    ["nothing to set", {}, "it sets nothing"],
    ["bounds without an end", { min: 3, untilMs: undefined as never }, "it has no end: give until"],
    [
      "an end that has passed",
      { min: 3, untilMs: NOON },
      "its end 2026-03-01T12:00:00.000Z has passed",
    ],
    [
      "bounds for more than 30 days",
      { min: 3, untilMs: NOON + 31 * 24 * HOUR_MS },
      "bounds last at most 30 days",
    ],
    ["an end before its beginning", { min: 3, fromMs: NOON + 2 * HOUR_MS }, "not after it begins"],
    ["no reason", { min: 3, reason: " " }, "the reason is empty"],
    ["a reason of several lines", { min: 3, reason: "a\nb" }, "write it in one line"],
    ["a count of zero", { max: 0 }, "max is 0: give a whole number from 1"],
    ["crossed bounds", { min: 5, max: 3 }, "min is 5, above max, which is 3"],
    ["a hold with bounds", { hold: true, min: 5 }, "it holds and sets bounds"],
    [
      "a minimum above the maximum of the manifest",
      { min: 11 },
      "minReplicas would be 11, above maxReplicas, which is 10 by the manifest; give a max too",
    ],
  ])("refuses %s", async (_what, wanted, words) => {
    await expect(ada.setOverride({ ...WEB, ...IN_AN_HOUR, ...wanted })).rejects.toMatchObject({
      code: "service.invalid",
      message: expect.stringContaining(words),
    });
    expect(await listed()).toEqual([]);
  });

  it("warns where a maximum follows the minimum, and where another override goes before it", async () => {
    expect((await set({ ...SHOP, min: 7 })).warnings).toEqual([
      'maxReplicas of 1 autoscaler is below the new minReplicas and follows it, as for "eu-1/shop/api": 5 becomes 7',
    ]);
    expect((await set({ fleet: true, min: 3 }, bob)).warnings[0]).toMatch(
      /^it does not set minReplicas of 2 autoscalers: another override goes before it, as for "eu-1\/shop\/api", where it is 7 by the override "n-\w+" of ada: TV spot$/,
    );
    const cap = await set({ fleet: true, max: 4, force: true });
    expect(cap.meets.map(({ after }) => [after.min.replicas, after.max.replicas])).toEqual([
      [3, 4],
      [4, 4],
      [4, 4],
    ]);
    expect(cap.warnings).toEqual([
      'minReplicas of 2 autoscalers is above the new maxReplicas and follows it, as for "eu-1/shop/api": 7 becomes 4',
    ]);
    expect(await listed({ ...SHOP })).toEqual(["fleet active", "fleet active", "namespace active"]);
    expect(await listed({ cluster: "eu-1", namespace: "lab" })).toEqual([
      "fleet active",
      "fleet active",
    ]);
  });

  it("refuses a minimum of one autoscaler above a forced cap, which it would raise when the cap ends; with a maximum it is accepted", async () => {
    await set({ fleet: true, max: 4, force: true });
    const refused = ada.setOverride({ ...WEB, ...IN_AN_HOUR, min: 6 });
    await expect(refused).rejects.toThrow(
      /minReplicas would be 6, above maxReplicas, which is 4 by the override "f-\w+" of ada: TV spot; give a max too/,
    );
    expect((await set({ ...WEB, min: 6, max: 8 })).warnings[0]).toContain(
      "it does not set minReplicas of 1 autoscaler",
    );
  });

  it("warns of a hold without an end, and of an override that meets nobody", async () => {
    const { untilMs: _none, ...open } = IN_AN_HOUR;
    expect((await ada.setOverride({ ...open, cluster: "eu-1", hold: true })).warnings[0]).toContain(
      "it has no end",
    );
    expect((await set({ cluster: "eu-1", namespace: "none", max: 3 })).warnings[0]).toContain(
      "it meets no autoscaler now",
    );
  });

  it("keeps room for the cluster beside overrides of its namespaces", async () => {
    for (let at = 0; at < 10; at++) await set({ ...SHOP, hold: true });
    await expect(set({ ...SHOP, hold: true })).rejects.toMatchObject({
      message: expect.stringContaining('namespace "shop" has 10 overrides'),
    });
    await set({ cluster: "eu-1", hold: true });
    world.set(NOON + HOUR_MS);
    await set({ ...SHOP, hold: true, untilMs: NOON + 2 * HOUR_MS });
    expect((await getCluster(world.tables, clusterName("eu-1")))?.overrides).toHaveLength(1);
  });
});

describe("describe() and explain()", () => {
  it("show the bounds that hold with who set which until when, and what is ahead; without an override neither", async () => {
    expect(await ada.get(WEB)).not.toHaveProperty("bounds");
    const { override } = await set({ ...SHOP, min: 4 }, bob);
    await set({ ...WEB, max: 7, fromMs: NOON + 1 });
    const view = await ada.describe(WEB);
    const by = {
      kind: "override",
      id: override.id,
      scope: "namespace",
      by: "bob",
      reason: "TV spot",
      until: "2026-03-01T13:00:00.000Z",
    };
    expect(view.bounds).toEqual({
      min: { replicas: 4, by },
      max: { replicas: 10, by: { kind: "manifest" } },
    });
    expect(view.overrides?.map(({ scope, state }) => `${scope} ${state}`)).toEqual([
      "namespace active",
      "autoscaler ahead",
    ]);
    const shown = describeSheet(view, NOON, plain).written();
    expect(shown).toContain(
      `minReplicas   4    by the override ${override.id} of bob, for the namespace: TV spot   until 2026-03-01T13:00:00.000Z (in 60m)`,
    );
    expect(shown).toContain("max 7   from 2026-03-01T12:00:00.001Z");
    world.set(NOON + HOUR_MS);
    expect(await ada.get(WEB)).not.toHaveProperty("bounds");
    expect(await ada.get(WEB)).not.toHaveProperty("overrides");
  });

  it("name the override behind the bounds of an evaluation, and nothing for one of an earlier release", () => {
    const minBy = {
      kind: "override",
      id: "a-1",
      scope: "autoscaler",
      by: "bob",
      reason: "TV spot",
      untilMs: NOON,
    } as const;
    expect(boundsThen({ min: 4, max: 9, minBy, holds: [minBy] })).toMatchObject({
      min: { replicas: 4, by: { id: "a-1" } },
      max: { by: { kind: "manifest" } },
      holds: [{ by: "bob" }],
    });
    expect(boundsThen({ min: 4, max: 9 })).toBeUndefined();
  });
});

describe("an override", () => {
  it("is extended and cleared by its id, and each edit is in the changes with its editor", async () => {
    const { override } = await set({ ...WEB, min: 4 });
    expect(
      await bob.extendOverride({ id: override.id, untilMs: NOON + 2 * HOUR_MS }),
    ).toMatchObject({
      changed: true,
      override: { until: "2026-03-01T14:00:00.000Z" },
    });
    expect(
      await bob.extendOverride({ id: override.id, untilMs: NOON + 2 * HOUR_MS }),
    ).toMatchObject({ changed: false });
    expect(await bob.clearOverride({ id: override.id })).toMatchObject({ changed: true });
    await expect(bob.clearOverride({ id: override.id })).rejects.toMatchObject({
      code: "service.unknown",
      message: expect.stringContaining("or it was cleared"),
    });
    const edits = (await Array.fromAsync(ada.changes(WEB)))
      .slice(-3)
      .map(({ verb, by, made, fields }) => ({
        verb,
        by,
        made,
        paths: fields.map(({ path }) => path),
      }));
    expect(edits).toEqual([
      { verb: "override", by: "ada", made: true, paths: [`overrides.${override.id}`] },
      { verb: "extend", by: "bob", made: true, paths: [`overrides.${override.id}.until`] },
      { verb: "clear", by: "bob", made: true, paths: [`overrides.${override.id}`] },
    ]);
  });

  it("of the fleet, a cluster and a namespace is in the changes too", async () => {
    const sinceMs = NOON + 1;
    world.set(sinceMs);
    for (const [at, where] of [{ fleet: true }, { cluster: "eu-1" }, SHOP].entries()) {
      const { override } = await set({ ...where, max: 9 });
      world.set(sinceMs + 2 * at + 1);
      await ada.clearOverride({ id: override.id });
      world.set(sinceMs + 2 * at + 2);
    }
    const edits = (await Array.fromAsync(ada.changes({ sinceMs })))
      .slice(0, 6)
      .map(({ scope, verb, fields }) => `${scope} ${verb} ${fields.length}`);
    expect(edits).toEqual([
      "fleet override 1",
      "fleet clear 1",
      "cluster override 1",
      "cluster clear 1",
      "cluster override 1",
      "cluster clear 1",
    ]);
  });

  it("that has expired is not brought back, clearing it changes nothing, and the next edit of its item drops it", async () => {
    const { override } = await set({ fleet: true, max: 9 });
    world.set(NOON + HOUR_MS);
    expect(await listed()).toEqual([]);
    await expect(
      ada.extendOverride({ id: override.id, untilMs: NOON + 3 * HOUR_MS }),
    ).rejects.toMatchObject({
      message: expect.stringContaining("it expired at 2026-03-01T13:00:00.000Z"),
    });
    expect(await ada.clearOverride({ id: override.id })).toMatchObject({
      changed: false,
      override: { state: "expired" },
    });
    expect((await getFleet(world.tables)).overrides).toHaveLength(1);
    await ada.freeze("drill");
    await ada.thaw();
    expect(await getFleet(world.tables)).not.toHaveProperty("overrides");
  });

  it("that has not begun stays, when an edit of its item drops what has expired", async () => {
    await set({ fleet: true, max: 9 });
    await set({ fleet: true, max: 8, fromMs: NOON + 2 * HOUR_MS, untilMs: NOON + 3 * HOUR_MS });
    world.set(NOON + HOUR_MS);
    expect(await listed()).toEqual(["fleet ahead"]);
    await ada.freeze("drill");
    await ada.thaw();
    await set({ fleet: true, max: 7, untilMs: NOON + 4 * HOUR_MS });
    expect((await listed()).toSorted()).toEqual(["fleet active", "fleet ahead"]);
    world.set(NOON + 2 * HOUR_MS);
    expect(await listed()).toEqual(["fleet active", "fleet active"]);
  });

  it("stays through an apply, a pause and an edit of its cluster", async () => {
    await set({ ...WEB, min: 4 });
    await set({ cluster: "eu-1", max: 9 });
    await ada.apply([{ file: "a.yaml", text: hpa("web", { namespace: "shop", max: 12 }) }], {
      cluster: "eu-1",
      dryRun: false,
    });
    await ada.pause(WEB);
    await ada.resume(WEB);
    await ada.replaceCluster({ name: "eu-1", syncPeriodMs: 30_000 });
    expect(await listed(WEB)).toEqual(["cluster active", "autoscaler active"]);
  });

  it("whose answer was lost is set once, also where another person sets one in between", async () => {
    let first = true;
    const client = around(world.tables.client, async (command, send) => {
      if (command !== "PutItemCommand" || !first) return send();
      first = false;
      await send();
      await set({ fleet: true, max: 8, reason: "bob's" }, bob);
      throw Object.assign(new Error("planted: lost answer"), { name: "TimeoutError" });
    });
    await set(
      { fleet: true, max: 9, reason: "ada's" },
      openService({ ...world.context, tables: { ...world.tables, client } }),
    );
    expect(
      (await Array.fromAsync(ada.overrides({}))).map(({ reason }) => reason).toSorted(),
    ).toEqual(["ada's", "bob's"]);
  });
});

describe("overrides() without expired ones", () => {
  it("lists the autoscalers of a cluster only where an edit was not synced yet, and misses none", async () => {
    const engine = await startMemory();
    const synced = await newWorld(engine.client, engine.tables, { web: 2, api: 2 });
    const name = `${synced.record.name}/shop/web`;
    let queries = 0;
    const client = around(synced.tables.client, (command, send, input) => {
      if (
        command === "QueryCommand" &&
        JSON.stringify(input).includes(`autoscalers#${synced.record.name}`)
      )
        queries++;
      return send();
    });
    const people = openService({
      ...world.context,
      tables: { ...synced.tables, client },
      clock: () => synced.nowMs,
    });
    const found = async (
      query: OverrideListQuery,
    ): Promise<readonly [states: readonly string[], queries: number]> => {
      queries = 0;
      return [(await Array.fromAsync(people.overrides(query))).map(({ state }) => state), queries];
    };
    const worker = synced.worker();
    const sync = async (): Promise<void> => {
      synced.nowMs += 60_000;
      await synced.sync(worker);
    };
    await sync();
    expect(await found({ expired: "no" })).toEqual([[], 0]);
    expect(await found({})).toEqual([[], 0]);
    await people.setOverride({
      name,
      min: 2,
      fromMs: synced.nowMs + HOUR_MS,
      untilMs: synced.nowMs + 2 * HOUR_MS,
      reason: "TV spot",
    });
    expect(await found({ expired: "no" })).toEqual([["ahead"], 1]);
    await sync();
    expect(await found({ expired: "no" })).toEqual([["ahead"], 0]);
    expect(await found({ expired: "no", name })).toEqual([["ahead"], 0]);
    synced.nowMs += HOUR_MS;
    expect(await found({ expired: "no" })).toEqual([["active"], 0]);
    synced.nowMs += HOUR_MS;
    expect(await found({ expired: "no" })).toEqual([[], 0]);
    await sync();
    expect(await found({ expired: "no" })).toEqual([[], 0]);
    expect(await found({})).toEqual([["expired"], 0]);
    await engine.close();
  });
});

describe("status()", () => {
  it("lists active overrides, the wider ones first and those of single autoscalers too, and none that is ahead or has expired", async () => {
    expect((await ada.status()).overrides).toBeUndefined();
    await set({ fleet: true, max: 20, force: true });
    await set({ ...SHOP, hold: true });
    await set({ cluster: "eu-1", min: 3, fromMs: NOON + HOUR_MS / 2 });
    await set({ ...WEB, min: 3 });
    const { overrides } = await ada.status();
    expect(overrides).toMatchObject({
      active: [
        { scope: "fleet", max: 20 },
        { scope: "namespace", namespace: "shop", hold: true },
        { scope: "autoscaler", namespace: "shop", name: "web", min: 3 },
      ],
      more: 0,
    });
    const sheet = statusSheet(await ada.status(), plain).written();
    expect(sheet).toContain(
      "the fleet: max 20, forced, until 2026-03-01T13:00:00.000Z (in 60m), by ada: TV spot (f-",
    );
    world.set(NOON + HOUR_MS);
    expect((await ada.status()).overrides).toBeUndefined();
  });
});

describe("the limits of overrides", () => {
  it("takes the longest reason and the farthest end, and no character and no millisecond more", async () => {
    const MONTH_MS = 30 * 24 * HOUR_MS;
    await set({ ...WEB, min: 3, untilMs: NOON + MONTH_MS, reason: "r".repeat(500) });
    await set({ ...WEB, min: 3, reason: "r" });
    await expect(set({ ...WEB, min: 3, untilMs: NOON + MONTH_MS + 1 })).rejects.toThrow(
      "bounds last at most 30 days",
    );
    await expect(set({ ...WEB, min: 3, reason: "r".repeat(501) })).rejects.toThrow(
      "the reason has 501 characters: give at most 500",
    );
    expect(await listed()).toHaveLength(2);
  });

  it.each([
    ["the fleet", { fleet: true }],
    ["a cluster", { cluster: "eu-1" }],
    ["an autoscaler", WEB],
  ])(
    "stores fifty of %s, and refuses one more until one of them has ended",
    async (_what, place) => {
      for (let at = 0; at < 50; at++) await set({ ...place, hold: true });
      await expect(set({ ...place, hold: true })).rejects.toThrow(
        "it has 50 overrides, the most that are stored; clear one that is not needed",
      );
      world.set(NOON + HOUR_MS);
      await set({ ...place, hold: true, untilMs: NOON + 2 * HOUR_MS });
      expect(await listed()).toHaveLength(1);
    },
  );
});
