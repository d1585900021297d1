import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { apiHandler } from "../../functions/api.ts";
import type { FunctionUrlHandler } from "../../lib/lambda/function-url.ts";
import { COMMAND_PATHS, KEY_HEADER } from "../../lib/answers/api/paths.ts";
import type { LogLine } from "../../lib/stack/report/log-lines.ts";
import type { HistoryItem, InsertHistory } from "../../lib/stack/store/history/item.ts";
import { scopeChangesOf } from "../../lib/stack/store/history/scope-changes.ts";
import { NOON } from "../noon.ts";
import { hpa } from "../service/world/manifests.ts";
import { ADA, type Answered, type ApiWorld, apiWorld, ask, GRACE } from "./world.ts";

let world: ApiWorld;
beforeAll(async () => {
  world = await apiWorld();
});
afterAll(() => world.close());
afterEach(() => world.set(NOON));

let keys = 0;
const newKey = (): string => `0b0cf6ee-57de-4a07-8d6e-${String(++keys).padStart(12, "0")}`;
const edit = (
  key: string,
  path: string,
  body: unknown,
  more: { readonly by?: string; readonly api?: FunctionUrlHandler } = {},
): Promise<Answered> =>
  ask(more.api ?? world.api, {
    path,
    body: JSON.stringify(body),
    headers: { [KEY_HEADER]: key },
    by: more.by ?? ADA,
  });
const freezes = async (): Promise<number> =>
  (await Array.fromAsync(scopeChangesOf(world.tables, { scope: "fleet", name: "fleet" }))).length;

/** The function with a history that fails at some of its inserts. */
const apiWith = (insert: InsertHistory, lines: LogLine[] = []): FunctionUrlHandler => {
  const { tables, clock, newUid } = world.context;
  return apiHandler({
    tables,
    insert,
    clock,
    newUid,
    reporter: { line: (line) => void lines.push(line) },
    connecting: { kind: "here" },
  });
};
const failingAt =
  (isFatal: (item: HistoryItem) => boolean): InsertHistory =>
  async (items) => {
    if (items.some(isFatal)) throw new Error("the history cannot be written");
    return world.context.insert(items);
  };

describe("an edit with a key", () => {
  it("is made once, and its repeats are told the same", async () => {
    const key = newKey();
    const before = await freezes();
    const first = await edit(key, COMMAND_PATHS.freeze, { reason: "drill" });
    expect([first.status, first.json]).toMatchObject([200, { frozen: { reason: "drill" } }]);
    for (let repeat = 0; repeat < 3; repeat++) {
      const { status, text, headers } = await edit(key, COMMAND_PATHS.freeze, { reason: "drill" });
      expect([status, text, headers["content-type"]]).toEqual([
        200,
        first.text,
        "application/json",
      ]);
    }
    expect(await freezes()).toBe(before + 1);
    await edit(newKey(), COMMAND_PATHS.thaw, {});
    // The repeat of an old request does not undo what came after it.
    expect((await edit(key, COMMAND_PATHS.freeze, { reason: "drill" })).text).toBe(first.text);
    expect(await freezes()).toBe(before + 2);
  });

  it("that creates or deletes gets the same answer again, though there is nothing left to create or delete", async () => {
    const [create, remove] = [newKey(), newKey()];
    const body = {
      sources: [{ file: "a", text: hpa("once", { namespace: "lab" }) }],
      cluster: "eu-1",
    };
    const applied = [
      await edit(create, COMMAND_PATHS.apply, body),
      await edit(create, COMMAND_PATHS.apply, body),
    ];
    for (const { json } of applied)
      expect(json).toMatchObject({ applied: [{ outcome: "created", generation: 1 }] });
    const deleted = [
      await edit(remove, COMMAND_PATHS.delete, { name: "once" }),
      await edit(remove, COMMAND_PATHS.delete, { name: "once" }),
    ];
    for (const { json } of deleted) expect(json).toMatchObject({ name: "once", changed: true });
    expect((await edit(create, COMMAND_PATHS.apply, body)).json).toMatchObject({
      applied: [{ outcome: "created" }],
    });
    expect((await edit(newKey(), COMMAND_PATHS.delete, { name: "once" })).status).toBe(404);
  });

  it("that was refused is refused again with the same words", async () => {
    const key = newKey();
    const refused = await edit(key, COMMAND_PATHS.pause, { name: "gone", namespace: "lab" });
    const again = await edit(key, COMMAND_PATHS.pause, { name: "gone", namespace: "lab" });
    expect([again.status, again.text, again.headers["content-type"]]).toEqual([
      404,
      refused.text,
      "application/problem+json",
    ]);
  });

  it("is another edit under another key, or of another caller", async () => {
    const key = newKey();
    const before = await freezes();
    await edit(key, COMMAND_PATHS.thaw, {});
    expect((await edit(key, COMMAND_PATHS.thaw, {}, { by: GRACE })).status).toBe(200);
    expect((await edit(newKey(), COMMAND_PATHS.thaw, {})).status).toBe(200);
    expect(await freezes()).toBe(before + 3);
  });

  it("is refused when it asks for something else than before", async () => {
    const key = newKey();
    await edit(key, COMMAND_PATHS.thaw, {});
    for (const [path, body] of [
      [COMMAND_PATHS.freeze, { reason: "x" }],
      [COMMAND_PATHS.removeCluster, { name: "us-1" }],
    ] as const) {
      expect((await edit(key, path, body)).json).toMatchObject({
        status: 409,
        code: "api.key-reused",
      });
    }
  });

  it.each(["short", "x".repeat(65), "has blanks in it, many"])(
    "is refused when the key is %j",
    async (key) => {
      expect((await edit(key, COMMAND_PATHS.thaw, {})).json).toMatchObject({
        status: 400,
        code: "api.invalid",
      });
    },
  );

  it("is checked before it is begun: what cannot be read takes no key", async () => {
    const key = newKey();
    expect((await edit(key, COMMAND_PATHS.freeze, {})).status).toBe(400);
    expect((await edit(key, COMMAND_PATHS.freeze, { reason: "now whole" })).status).toBe(200);
  });
});

describe("an edit whose answer was lost", () => {
  it("is not made again while the first may be at work, nor when it has died", async () => {
    const key = newKey();
    const before = await freezes();
    // Dies after its change item: the platform ends it without an answer.
    const dying = apiWith(async (items) =>
      items.some(({ pk }) => pk.startsWith("changes#"))
        ? new Promise<never>(() => {})
        : world.context.insert(items),
    );
    void edit(key, COMMAND_PATHS.freeze, { reason: "lost", replace: true }, { api: dying });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const running = await edit(key, COMMAND_PATHS.freeze, { reason: "lost", replace: true });
    expect([running.status, running.headers["retry-after"], running.json]).toMatchObject([
      409,
      "2",
      { code: "api.running" },
    ]);
    world.set(NOON + 150_000);
    const unclear = await edit(key, COMMAND_PATHS.freeze, { reason: "lost", replace: true });
    expect([unclear.status, unclear.json]).toMatchObject([
      409,
      {
        code: "api.unclear",
        detail: expect.stringMatching(/left no answer, and its edit may have been made/),
      },
    ]);
    expect(await freezes()).toBe(before);
  });

  it("never has two effects, however many repeats come at once", async () => {
    const key = newKey();
    const before = await freezes();
    const answers = await Promise.all(
      Array.from({ length: 6 }, () =>
        edit(key, COMMAND_PATHS.freeze, { reason: "crowd", replace: true }),
      ),
    );
    expect(await freezes()).toBe(before + 1);
    const codes = answers.map(({ status, json }) =>
      status === 200 ? 200 : (json as { readonly code: string }).code,
    );
    expect(codes.filter((code) => code !== 200 && code !== "api.running")).toEqual([]);
    expect(codes).toContain(200);
  });

  it("is answered although its answer could not be stored: its repeats are unclear, and the log says so", async () => {
    const [key, lines] = [newKey(), [] as LogLine[]];
    const api = apiWith(
      failingAt(({ sk }) => sk === "answer"),
      lines,
    );
    const before = await freezes();
    expect((await edit(key, COMMAND_PATHS.thaw, {}, { api })).status).toBe(200);
    expect(lines).toMatchObject([
      { level: "warn", fields: { status: 200, unkept: "the history cannot be written" } },
    ]);
    expect((await edit(key, COMMAND_PATHS.thaw, {})).json).toMatchObject({ code: "api.running" });
    expect(await freezes()).toBe(before + 1);
  });

  it("is not made at all where the history cannot be written", async () => {
    const before = await freezes();
    const api = apiWith(failingAt(() => true));
    expect((await edit(newKey(), COMMAND_PATHS.freeze, { reason: "x" }, { api })).status).toBe(500);
    expect(await freezes()).toBe(before);
    expect((await ask(world.api, { path: "/v1/fleet" })).json).toEqual({});
  });
});
