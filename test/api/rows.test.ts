import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiHandler } from "../../functions/api.ts";
import type { FunctionUrlHandler } from "../../lib/lambda/function-url.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import type { ClusterRows } from "../../lib/answers/views/row.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "../sync/world.ts";
import { ask } from "./world.ts";

let engine: Engine;
let world: World;
let api: FunctionUrlHandler;
beforeAll(async () => {
  engine = await startMemory();
  world = await newWorld(engine.client, engine.tables, { api: 4, web: 4 });
  await world.sync();
  const { tables } = world;
  const clock = (): number => world.nowMs;
  api = apiHandler({
    tables,
    insert: insertByStatement(tables),
    clock,
    newUid: () => "uid-new",
    reporter: { line: () => {} },
    connecting: { kind: "here" },
  });
});
afterAll(() => engine.close());

interface Rows {
  readonly items: readonly ClusterRows[];
  readonly next?: string;
}
const rows = async (query = "", headers: Readonly<Record<string, string>> = {}) => {
  const {
    status,
    headers: answered,
    text,
    json,
  } = await ask(api, { path: "/v1/rows", query, headers });
  return { status, tag: String(answered["etag"]), text, json: json as Rows };
};

describe("GET /v1/rows", () => {
  it("answers with a weak tag, and with 304 without a body while the rows show the same", async () => {
    const { status, tag, json } = await rows();
    expect([status, tag]).toEqual([200, expect.stringMatching(/^W\/"[\w-]{22}"$/)]);
    expect(json.items[0]?.rows.map(({ name }) => name)).toEqual(["api", "web"]);
    expect(await rows("", { "if-none-match": `"other", ${tag}` })).toMatchObject({
      status: 304,
      tag,
      text: "",
    });
    world.nowMs += PERIOD_MS;
    await world.sync();
    const unchanged = await rows("", { "if-none-match": tag });
    expect(unchanged.status).toBe(304);
    workloadOf(world, "web").demand = 9;
    world.nowMs += PERIOD_MS;
    await world.sync();
    const changed = await rows("", { "if-none-match": tag });
    expect(changed.status).toBe(200);
    expect(changed.tag).not.toBe(tag);
  });

  it("has another tag for another question", async () => {
    const { tag } = await rows();
    expect((await rows("namespace=shop")).tag).not.toBe(tag);
  });

  it("gives no rows of a partition whose mark the caller has", async () => {
    const mark = (await rows()).json.items[0]?.partitions[0]?.mark ?? "none";
    expect((await rows(`known=${mark}`)).json.items).toMatchObject([
      { rows: [], partitions: [{ unchanged: true, mark }] },
    ]);
  });

  it("has the fields that are asked for beside the names, and refuses another field", async () => {
    const { json } = await rows("fields=state,targets&name=web");
    expect(json.items[0]?.rows).toEqual([
      {
        partition: "default",
        namespace: "shop",
        name: "web",
        uid: "uid-web",
        generation: 1,
        state: "active",
        targets: [],
      },
    ]);
    expect(await rows("fields=manifest")).toMatchObject({
      status: 400,
      json: { errors: [{ field: expect.stringContaining("fields") }] },
    });
  });

  it("ends a first page with so many rows as are enough, and goes on from there", async () => {
    const other = await newWorld(engine.client, world.tables, { api: 4 });
    await other.sync();
    const whole = await rows();
    expect(whole.json.items.map(({ cluster }) => cluster)).toHaveLength(2);
    const first = await rows("most=2");
    expect(first.json.items).toEqual(whole.json.items.slice(0, 1));
    const rest = await rows(`page=${first.json.next}`);
    expect([...first.json.items, ...rest.json.items]).toEqual(whole.json.items);
    expect(rest.json.next).toBeUndefined();
    expect((await rows("most=10000")).json.next).toBeUndefined();
    for (const most of ["0", "10001", "1.5", "-1"])
      expect(await rows(`most=${most}`), most).toMatchObject({
        status: 400,
        json: { errors: [{ field: "most" }] },
      });
  });

  it("refuses a selector that is none", async () => {
    expect(await rows(`selector=${encodeURIComponent("a b")}`)).toMatchObject({
      status: 400,
      json: { code: "service.invalid" },
    });
  });
});
