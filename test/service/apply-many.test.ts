import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { clusterName } from "../../lib/rules/model/ids.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import type { HistoryItem } from "../../lib/stack/store/history/item.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";
import { documents, hpa } from "./world/manifests.ts";
import { specVersion } from "./world/synced.ts";

let world: ServiceWorld;
let service: Service;
let count = 0;
let cluster = "";
beforeAll(async () => {
  world = await serviceWorld();
  service = openService(world.context);
});
afterAll(() => world.close());
beforeEach(async () => {
  cluster = `c${++count}`;
  await service.addCluster({
    name: cluster,
    connection: { kind: "kubeconfig", path: "/kube/config" },
  });
});

const MANY = 240;
/** Documents that are stored side by side. */
const GROUP = 100;
const name = (index: number): string => `web-${String(index).padStart(3, "0")}`;
const many = (max = 10): string =>
  documents(...Array.from({ length: MANY }, (_, index) => hpa(name(index), { max })));
const source = (text: string) => [{ file: "many.yaml", text }];
const storedNames = async (): Promise<readonly string[]> =>
  (await Array.fromAsync(service.autoscalers({ cluster }))).map(
    (view) => `${view.name}@${view.generation}`,
  );

describe("apply() of many documents", () => {
  it("tells of them as they are stored, in their order, and answers with all", async () => {
    const told: string[] = [];
    const progress: string[] = [];
    const applied = await service.apply(source(many()), {
      cluster,
      dryRun: false,
      onStored: (some, { done, all }) => {
        told.push(...some.map((one) => one.name));
        progress.push(`${done} of ${all}`);
      },
    });
    expect(applied.map((one) => one.name)).toEqual(
      Array.from({ length: MANY }, (_, index) => name(index)),
    );
    expect([told, progress]).toEqual([
      applied.map((one) => one.name),
      ["100 of 240", "200 of 240", "240 of 240"],
    ]);
    expect(await storedNames()).toHaveLength(MANY);
  });

  it("sends the changes of a group in one call each, and tells the partition once a group", async () => {
    const calls: (readonly HistoryItem[])[] = [];
    const counted = openService({
      ...world.context,
      insert: (items) => {
        calls.push(items);
        return world.context.insert(items);
      },
    });
    await counted.apply(source(many()), { cluster, dryRun: false });
    // Under each autoscaler first, then under the cluster.
    expect(calls.map((items) => items.length)).toEqual([100, 100, 100, 100, 40, 40]);
    expect(await specVersion(world.tables, clusterName(cluster))).toBe(3);
  });

  it("ends between two groups when it is interrupted, says what is applied, and the same again stores the rest", async () => {
    const stop = new AbortController();
    const options = { cluster, dryRun: false, signal: stop.signal, onStored: () => stop.abort() };
    await expect(service.apply(source(many()), options)).rejects.toMatchObject({
      code: "service.interrupted",
      message:
        "Cannot finish: the command was interrupted; 100 of 240 documents are stored; apply the same files again to store the rest",
    });
    expect(await storedNames()).toEqual(
      Array.from({ length: GROUP }, (_, index) => `${name(index)}@1`),
    );
    const again = await service.apply(source(many()), { cluster, dryRun: false });
    expect(again.map(({ outcome }) => outcome)).toEqual([
      ...Array.from({ length: GROUP }, () => "unchanged"),
      ...Array.from({ length: MANY - GROUP }, () => "created"),
    ]);
    expect(await storedNames()).toEqual(
      Array.from({ length: MANY }, (_, index) => `${name(index)}@1`),
    );
  });

  it("says how many are applied when the tables fail in the middle, tells the partition of those, and keeps the failure's code and cause", async () => {
    const { TidemarkError } = await import("../../lib/rules/model/errors.ts");
    let inserts = 0;
    const failing = openService({
      ...world.context,
      insert: (items) => {
        if (++inserts > 2)
          throw new TidemarkError(
            "store.unclear",
            "Cannot insert into history: no clear answer",
            {},
            { cause: "why" },
          );
        return world.context.insert(items);
      },
    });
    await expect(failing.apply(source(many()), { cluster, dryRun: false })).rejects.toMatchObject({
      code: "store.unclear",
      message:
        "Cannot insert into history: no clear answer; 100 of 240 documents are stored; apply the same files again to store the rest",
      cause: "why",
    });
    expect(await storedNames()).toHaveLength(GROUP);
    expect(await specVersion(world.tables, clusterName(cluster))).toBe(1);
  });

  it("stores nothing when one of them is wrong", async () => {
    await expect(
      service.apply(source(`${many()}---\n${hpa("bad", { max: 1 })}`), { cluster, dryRun: false }),
    ).rejects.toMatchObject({
      code: "manifest.invalid",
    });
    expect(await storedNames()).toEqual([]);
  });
});
