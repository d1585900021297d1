import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clusterName, namespace } from "../../lib/rules/model/ids.ts";
import { openQueries, openService } from "../../lib/answers/service/open.ts";
import type { ChangeQuery, Service } from "../../lib/answers/service/service.ts";
import { fieldChanges } from "../../lib/answers/service/changes.ts";
import { insertChange } from "../../lib/stack/store/history/changes.ts";
import { recordChange } from "../../lib/answers/service/partitions/record-change.ts";
import { around } from "../contracts/faults.ts";
import { NOON } from "../noon.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";
import { BEHAVIOR, hpa } from "./world/manifests.ts";

let world: ServiceWorld;
let service: Service;
let secondMs = NOON;

/** Each edit a second after the one before. */
const next = (): void => {
  secondMs += 1_000;
  world.set(secondMs);
};
const apply = async (name: string, change: Parameters<typeof hpa>[1] = {}): Promise<void> => {
  next();
  await service.apply([{ file: "a.yaml", text: hpa(name, { namespace: "shop", ...change }) }], {
    cluster: "eu-1",
    dryRun: false,
  });
};
const told = async (query: ChangeQuery): Promise<readonly string[]> =>
  (await Array.fromAsync(service.changes(query))).map(
    ({ scope, name, verb, generation, made }) =>
      `${scope} ${name} ${verb} ${generation}${made === undefined ? "" : ` ${made}`}`,
  );

beforeAll(async () => {
  world = await serviceWorld();
  service = openService(world.context);
  await service.addCluster({ name: "eu-1", connection: { kind: "kubeconfig", path: "a" } });
  await apply("web");
  await apply("web", { max: 12, more: BEHAVIOR });
  next();
  await service.pause({ name: "web" });
  await apply("gone");
  next();
  await service.delete({ name: "gone" });
  next();
  await service.pauseCluster("eu-1");
  next();
  await service.freeze("drill");
  next();
});
afterAll(() => world.close());

describe("changes()", () => {
  it("read of the edits of a cluster, its scopes and the fleet only those since the instant that is asked for", async () => {
    const read = async (sinceMs?: number): Promise<number> => {
      let items = 0;
      const client = around(world.tables.client, async (command, send) => {
        const answer = await send();
        const listed =
          command === "QueryCommand"
            ? (answer as { readonly Items?: readonly { readonly pk?: { readonly S?: string } }[] })
                .Items
            : [];
        items += listed?.filter(({ pk }) => pk?.S?.startsWith("changes#")).length ?? 0;
        return answer;
      });
      const queries = openQueries({ ...world.context, tables: { ...world.tables, client } });
      await Array.fromAsync(queries.changes(sinceMs === undefined ? {} : { sinceMs }));
      return items;
    };
    expect(await read()).toBe(8);
    // The pause of the cluster and the freeze are the last two.
    expect(await read(secondMs - 2_500)).toBe(2);
    expect(await read(secondMs)).toBe(0);
  });

  it("shows who changed what of one autoscaler, from what to what, and that it came about", async () => {
    const [created, changed, paused] = await Array.fromAsync(service.changes({ name: "web" }));
    expect(created).toMatchObject({
      by: "ada",
      at: new Date(NOON + 1_000).toISOString(),
      verb: "apply",
      generation: 1,
      made: true,
      fields: [],
    });
    expect(changed).toMatchObject({
      cluster: "eu-1",
      namespace: "shop",
      name: "web",
      generation: 2,
      made: true,
    });
    expect(changed?.fields).toEqual([
      { path: "spec.maxReplicas", before: 10, after: 12 },
      { path: "spec.behavior", after: expect.objectContaining({ scaleUp: expect.anything() }) },
    ]);
    expect(paused?.fields).toEqual([
      { path: "paused", after: { by: "ada", at: new Date(NOON + 3_000).toISOString() } },
    ]);
    expect(paused?.after).toMatchObject({ kind: "HorizontalPodAutoscaler", paused: { by: "ada" } });
  });

  it("tells an edit that did not come about from those that did", async () => {
    const [{ uid = "" } = {}] = [await service.get({ name: "web" })];
    const ref = {
      cluster: clusterName("eu-1"),
      namespace: namespace("shop"),
      name: "web" as never,
    };
    // Its editor died before he stored the record; the next edit takes the number after it.
    await insertChange(world.context, {
      ...ref,
      id: `${uid}:4`,
      atMs: secondMs,
      by: "bob",
      verb: "resume",
      baseGeneration: 3,
    });
    next();
    await service.resume({ name: "web" });
    expect((await told({ name: "web" })).slice(2)).toEqual([
      "autoscaler web pause 3 true",
      "autoscaler web resume 4 false",
      "autoscaler web resume 5 true",
    ]);
  });

  it("finds the edits of an autoscaler that is gone, by its full name", async () => {
    expect(await told({ name: "shop/gone" })).toEqual([
      "autoscaler gone apply 1 true",
      "autoscaler gone delete 2 true",
    ]);
    await expect(told({ name: "gone" })).rejects.toMatchObject({ code: "service.unknown" });
    await expect(told({ name: "shop/never" })).rejects.toMatchObject({ code: "service.unknown" });
  });

  it("lists those of everything in order of time, of what is gone too", async () => {
    expect((await told({})).slice(0, 8)).toEqual([
      "cluster eu-1 add 1",
      "autoscaler web apply 1",
      "autoscaler web apply 2",
      "autoscaler web pause 3",
      "autoscaler gone apply 1",
      "autoscaler gone delete 2",
      "cluster eu-1 pause 2",
      "fleet fleet freeze 1",
    ]);
  });

  it("narrows to a cluster, a namespace and a time", async () => {
    expect(await told({ cluster: "eu-1" })).not.toContain("fleet fleet freeze 1");
    expect(
      (await told({ namespace: "shop" })).every((line) => line.startsWith("autoscaler ")),
    ).toBe(true);
    expect(await told({ namespace: "other" })).toEqual([]);
    expect((await told({ sinceMs: NOON + 6_000 })).slice(0, 2)).toEqual([
      "cluster eu-1 pause 2",
      "fleet fleet freeze 1",
    ]);
  });

  it("goes on after any of its items", async () => {
    const all = await Array.fromAsync(service.changes({}));
    for (const [at, { id, at: time }] of all.entries()) {
      expect(
        await Array.fromAsync(service.changes({ after: { atMs: Date.parse(time), id } })),
      ).toEqual(all.slice(at + 1));
    }
  });

  it("shows a removed cluster where it is named", async () => {
    await service.addCluster({ name: "old", connection: { kind: "kubeconfig", path: "a" } });
    next();
    await service.removeCluster("old");
    expect(await told({ cluster: "old" })).toEqual(["cluster old add 1", "cluster old remove 2"]);
    await expect(told({ cluster: "oldest" })).rejects.toMatchObject({ code: "service.unknown" });
  });
});

describe("fieldChanges()", () => {
  it.each([
    [{ a: 1 }, { a: 1 }, []],
    [{ a: 1, b: 2 }, { a: 1 }, [{ path: "b", before: 2 }]],
    [
      { a: [1, 2] },
      { a: [1, 3, 4] },
      [
        { path: "a[1]", before: 2, after: 3 },
        { path: "a[2]", after: 4 },
      ],
    ],
    [{ a: [1] }, { a: { 0: 1 } }, [{ path: "a", before: [1], after: { 0: 1 } }]],
    [{ a: null }, { a: 0 }, [{ path: "a", before: null, after: 0 }]],
    [1, 2, [{ path: "", before: 1, after: 2 }]],
  ])("says what differs between %j and %j", (before, after, wanted) => {
    expect(fieldChanges(before, after)).toEqual(wanted);
  });

  it("is always empty for equal documents, and never for others", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const [before, after] = [
          JSON.parse(JSON.stringify(one)),
          JSON.parse(JSON.stringify(other)),
        ];
        expect(fieldChanges(before, before)).toEqual([]);
        expect(fieldChanges(before, after).length === 0).toBe(
          JSON.stringify(before) === JSON.stringify(after) ||
            fieldChanges(after, before).length === 0,
        );
      }),
    );
  });
});

describe("changes() with removed clusters", () => {
  it("has the edits of a cluster that is gone, and of a partition that it once had", async () => {
    next();
    await service.addCluster({ name: "left", connection: { kind: "kubeconfig", path: "a" } });
    next();
    const reset = {
      scope: "partition",
      name: "left/default",
      version: 1,
      verb: "reset-time",
    } as const;
    await recordChange(world.context, { ...reset, before: {}, after: { epoch: 1 } });
    next();
    await service.removeCluster("left");
    next();
    const gone = [
      "cluster left add 1",
      "partition left/default reset-time 1",
      "cluster left remove 2",
    ];
    expect(await told({})).not.toContain(gone[2]);
    expect(await told({ removed: true })).toEqual(expect.arrayContaining(gone));
    expect(await told({ removed: true, cluster: "left" })).toEqual(gone);
    expect(await told({ removed: true, sinceMs: secondMs })).toEqual([]);
  });
});
