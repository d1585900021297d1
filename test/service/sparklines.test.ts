import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openQueries } from "../../lib/answers/service/open.ts";
import type { SparklinesView } from "../../lib/answers/views/over-time.ts";
import type { Rights } from "../../lib/rules/model/access.ts";
import { HOUR_MS, MINUTE_MS } from "../../lib/rules/model/time-text.ts";
import { BIN_MS } from "../../lib/stack/projections/samples.ts";
import { raiseSpecVersion } from "../../lib/stack/store/records/autoscalers.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { demandRules } from "../sync/demand-rules.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "../sync/world.ts";

/** Half an hour of syncs, in which the demand of one workload rises. */
let engine: Engine;
let world: World;
beforeAll(async () => {
  engine = await startMemory();
  world = await newWorld(engine.client, engine.tables, { api: 4, web: 4 }, {});
  const worker = world.worker({ rules: demandRules(world.cluster) });
  const untilMs = world.nowMs + HOUR_MS / 2;
  while (world.nowMs < untilMs) {
    world.nowMs += PERIOD_MS;
    if (untilMs - world.nowMs === 10 * MINUTE_MS) workloadOf(world, "web").demand = 9;
    await world.sync(worker);
  }
});
afterAll(() => engine.close());

const nameOf = (name: string): string => `${world.record.name}/shop/${name}`;
const queries = (rights?: Rights, ids?: Tables["ids"]) => {
  const asked: string[] = [];
  const client = around(world.tables.client, (command, send) => {
    asked.push(command);
    return send();
  });
  const tables = { ...world.tables, client, ...(ids && { ids }) };
  return { asked, ...openQueries({ tables, clock: () => world.nowMs, ...(rights && { rights }) }) };
};

describe("sparklines()", () => {
  it("has the first evaluation of each five minutes of the last hour, as the history has it", async () => {
    const service = queries();
    const { since, stepSeconds, lines } = await service.sparklines({ names: [nameOf("web")] });
    const sinceMs = Date.parse(since);
    expect([stepSeconds, lines.length, sinceMs % BIN_MS]).toEqual([300, 1, 0]);
    const [{ current, load } = { current: [], load: [] }] = lines;
    expect([current.length, load.length]).toEqual([12, 12]);
    const past = await service.history({
      name: nameOf("web"),
      sinceMs,
      untilMs: world.nowMs,
      stepMs: PERIOD_MS,
    });
    const first = Array.from({ length: 12 }, (_, step) =>
      past.points.find(({ at }) => Math.floor((Date.parse(at) - sinceMs) / BIN_MS) === step),
    );
    expect(current).toEqual(first.map((point) => point?.current ?? null));
    expect(load).toEqual(first.map((point) => point?.load ?? null));
    expect(new Set(current.filter((count) => count !== null)).size).toBeGreaterThan(1);
    expect(current.slice(0, 5)).toEqual([null, null, null, null, null]);
  });

  it("asks no step again that it has read, and the new one only", async () => {
    const service = queries();
    const names = [nameOf("web"), nameOf("api")];
    const first = await service.sparklines({ names });
    const cold = service.asked.length;
    service.asked.length = 0;
    expect(await service.sparklines({ names })).toEqual(first);
    expect(service.asked.length).toBeLessThan(5);
    expect(cold).toBeGreaterThan(service.asked.length + 5);
  });

  it("asks for each step again once the tables are others of the same name", async () => {
    let state = "table-1";
    const service = queries(undefined, async () => ({ state, history: "history-1" }));
    const names = [nameOf("web")];
    await service.sparklines({ names });
    const cold = service.asked.length;
    service.asked.length = 0;
    await service.sparklines({ names });
    expect(service.asked.length).toBeLessThan(5);
    state = "table-2";
    service.asked.length = 0;
    await service.sparklines({ names });
    expect(service.asked.length).toBeGreaterThan(cold - 5);
  });

  it("remembers nothing while it is not known which tables these are", async () => {
    const service = queries(undefined, () => Promise.reject(new Error("throttled")));
    const names = [nameOf("web")];
    const first = await service.sparklines({ names });
    const cold = service.asked.length;
    service.asked.length = 0;
    expect(await service.sparklines({ names })).toEqual(first);
    expect(service.asked.length).toBeGreaterThan(cold - 5);
  });

  it("has the same lines after an edit, before a sync has made the index anew", async () => {
    const service = queries();
    const names = [nameOf("web"), nameOf("api")];
    const before = await service.sparklines({ names });
    await raiseSpecVersion(world.tables, world.partition);
    expect(await service.sparklines({ names })).toEqual(before);
    expect((await service.sparklines({ names: [nameOf("nothing")] })).lines).toEqual([]);
  });

  it("leaves out what nothing has and what the caller may not look at, in the same way", async () => {
    const none = { caller: "ada", grants: [], limited: true, allows: () => undefined };
    const lines = async (
      names: readonly string[],
      rights?: Rights,
    ): Promise<SparklinesView["lines"]> => (await queries(rights).sparklines({ names })).lines;
    expect(await lines([nameOf("nothing"), "no-cluster/shop/web"])).toEqual([]);
    expect(await lines([nameOf("web")], { ...none, touches: () => false })).toEqual([]);
    expect((await lines([nameOf("api"), nameOf("nothing")])).map(({ name }) => name)).toEqual([
      "api",
    ]);
  });

  it("refuses a name that is not whole", async () => {
    for (const name of ["web", "shop/web", "a/b/c/d", ""])
      await expect(queries().sparklines({ names: [name] }), name).rejects.toMatchObject({
        code: "service.invalid",
      });
  });
});
