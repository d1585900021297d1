import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
} from "../../lib/rules/model/ids.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { EventCursor, EventQuery, Service } from "../../lib/answers/service/service.ts";
import { insertChange } from "../../lib/stack/store/history/changes.ts";
import { EVENT_DAYS_KEPT, insertEvents } from "../../lib/stack/store/history/events.ts";
import type { EventView } from "../../lib/answers/views/event.ts";
import { NOON } from "../noon.ts";
import { event } from "../store/records.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";
import { fillShop } from "./world/shop.ts";
import type { ScaleEventRecord } from "../../lib/rules/model/scale-records.ts";
import { DAY_MS } from "../../lib/rules/model/time-text.ts";

let world: ServiceWorld;
let service: Service;

/** Ids that languages and bytes sort differently, in two clusters, at one instant and around it. */
const IDS = ["uid-1:2", "uid-10:1", "uid-1:10", "B:1", "a:1"];
const at = (
  cluster: string,
  inside: string,
  name: string,
  agoMs: number,
  id: string,
): ScaleEventRecord =>
  event({
    id,
    uid: autoscalerUid(id.split(":")[0] ?? ""),
    cluster: clusterName(cluster),
    namespace: namespace(inside),
    name: autoscalerName(name),
    atMs: NOON - agoMs,
    settledMs: NOON - agoMs + 40,
  });

beforeAll(async () => {
  world = await serviceWorld();
  service = openService(world.context);
  await fillShop(world);
  const { insert } = world.context;
  const together = IDS.flatMap((id) =>
    ["eu-1", "us-1"].map((cluster) =>
      at(cluster, "lab", `w-${id.replace(/\W/g, "").toLowerCase()}`, 30_000, id),
    ),
  );
  // Gone since, in namespaces that still have autoscalers, each with its own order of time.
  const gone = ["shop", "infra"].flatMap((inside) =>
    [1, 2, 3].map((number) =>
      at("eu-1", inside, "gone", number * 7_000, `gone-${inside}:${number}`),
    ),
  );
  for (const { uid, cluster, namespace: inside, name } of gone)
    await insertChange(world.context, {
      cluster,
      namespace: inside,
      name,
      id: `${uid}:2`,
      atMs: NOON - 1_000,
      by: "bob",
      verb: "delete",
      baseGeneration: 1,
    });
  await insertEvents(insert, [
    ...together,
    ...gone,
    at("us-1", "batch", "gone", 9_000, "gone-batch:1"),
  ]);
});
afterAll(() => world.close());

const placeOf = ({ cluster, at: time, id }: EventView): EventCursor => ({
  cluster,
  atMs: Date.parse(time),
  id,
});

const restsOf = async (query: EventQuery): Promise<void> => {
  const all = await Array.fromAsync(service.events(query));
  expect(all.length).toBeGreaterThan(3);
  for (const [index, left] of all.entries()) {
    const rest = await Array.fromAsync(service.events({ ...query, after: placeOf(left) }));
    expect(rest.map(({ id }) => id)).toEqual(all.slice(index + 1).map(({ id }) => id));
  }
};

describe("events() after a place", () => {
  it("go on after any event of every cluster, those of one instant included", () =>
    restsOf({ sinceMs: NOON - 3_600_000 }));

  it("go on in a namespace of every cluster", () =>
    restsOf({ sinceMs: NOON - 3_600_000, namespace: "lab" }));

  it("go on for a name that is gone, in order of time across its namespaces, to nothing at last", async () => {
    await restsOf({ name: "gone" });
    const times = (await Array.fromAsync(service.events({ name: "gone" }))).map(
      ({ at: time }) => time,
    );
    expect(times).toEqual(times.toSorted());
    await expect(Array.fromAsync(service.events({ name: "never" }))).rejects.toMatchObject({
      code: "service.unknown",
    });
  });

  it("go on for one autoscaler", async () => {
    const [first, ...more] = await Array.fromAsync(service.events({ name: "shop/web" }));
    expect(
      first && (await Array.fromAsync(service.events({ name: "shop/web", after: placeOf(first) }))),
    ).toEqual(more);
  });

  it("end where they are told to, and never begin before what is kept", async () => {
    const until = await Array.fromAsync(
      service.events({ sinceMs: NOON - 60_000, untilMs: NOON - 30_000 }),
    );
    expect(new Set(until.map(({ at: time }) => Date.parse(time)))).toEqual(
      new Set([NOON - 60_000, NOON - 45_000, NOON - 30_000]),
    );
    // Not deleted yet, since the engine of this test knows no time to live.
    const atMs = NOON - EVENT_DAYS_KEPT * DAY_MS - 1;
    await insertEvents(world.context.insert, [{ ...at("eu-1", "shop", "web", 0, "old:1"), atMs }]);
    expect(
      await Array.fromAsync(
        service.events({ sinceMs: 0, untilMs: NOON - EVENT_DAYS_KEPT * DAY_MS + 1_000 }),
      ),
    ).toEqual([]);
  });
});

describe("autoscalers() and clusters() after a place", () => {
  it("go on after any autoscaler, also one that is not there", async () => {
    const all = await Array.fromAsync(service.autoscalers({}));
    for (const [index, left] of all.entries()) {
      expect((await Array.fromAsync(service.autoscalers({}, left))).map(({ uid }) => uid)).toEqual(
        all.slice(index + 1).map(({ uid }) => uid),
      );
    }
    const names = async (...asked: Parameters<Service["autoscalers"]>) =>
      (await Array.fromAsync(service.autoscalers(...asked))).map(({ name }) => name);
    expect(
      await names({ namespace: "shop" }, { cluster: "eu-1", namespace: "shop", name: "b" }),
    ).toEqual(["late", "web"]);
    expect(
      await names({ cluster: "us-1" }, { cluster: "us-1", namespace: "zoo", name: "z" }),
    ).toEqual([]);
    expect(await names({}, { cluster: "eu-2", namespace: "a", name: "a" })).toEqual(["jobs"]);
  });

  it("go on after any cluster", async () => {
    expect((await Array.fromAsync(service.clusters())).map(({ name }) => name)).toEqual([
      "eu-1",
      "us-1",
    ]);
    expect((await Array.fromAsync(service.clusters("eu-1"))).map(({ name }) => name)).toEqual([
      "us-1",
    ]);
    expect(await Array.fromAsync(service.clusters("us-1"))).toEqual([]);
  });
});
