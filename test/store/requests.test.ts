import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  insertByStatement,
  type HistoryItem,
  type InsertHistory,
} from "../../lib/stack/store/history/item.ts";
import {
  insertAnswer,
  insertBegun,
  type RequestName,
  readAnswer,
} from "../../lib/stack/store/history/requests.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { NOON } from "../noon.ts";
import { testTables } from "../sync/world.ts";

const NAME: RequestName = { by: "arn:aws:iam::1:user/ada", key: "0123456789abcdef" };
const BEGUN = { requestId: "r-1", atMs: NOON, asked: "hash" };
const ANSWER = { status: 200, type: "application/json", body: '{"changed":true}' };

let engine: Engine;
let tables: Tables;
let inserted: HistoryItem[];
let insert: InsertHistory;
beforeEach(async () => {
  engine = await startMemory();
  tables = testTables(engine.client, engine.tables, () => NOON);
  inserted = [];
  insert = (items) => {
    inserted.push(...items);
    return insertByStatement(tables)(items);
  };
});
afterEach(() => engine.close());

describe("a request that is made once", () => {
  it("is known by its caller and key, for a day", async () => {
    expect(await insertBegun(insert, NAME, BEGUN)).toEqual(BEGUN);
    await insertAnswer(insert, NAME, ANSWER, NOON);
    const pk = expect.stringMatching(/^request#[0-9a-f]{32}#0123456789abcdef$/);
    const ttlSeconds = NOON / 1000 + 86_400;
    expect(inserted).toEqual([
      { pk, sk: "begun", body: JSON.stringify(BEGUN), ttlSeconds },
      { pk, sk: "answer", body: expect.any(Uint8Array), ttlSeconds },
    ]);
    expect(JSON.stringify(inserted)).not.toContain("ada");
  });

  it("was begun by the first that came, and has the first answer", async () => {
    await insertBegun(insert, NAME, BEGUN);
    expect(await insertBegun(insert, NAME, { ...BEGUN, requestId: "r-2", atMs: NOON + 1 })).toEqual(
      BEGUN,
    );
    expect(await readAnswer(tables, NAME)).toBeUndefined();
    await insertAnswer(insert, NAME, ANSWER, NOON);
    await insertAnswer(insert, NAME, { ...ANSWER, status: 500 }, NOON);
    expect(await readAnswer(tables, NAME)).toEqual(ANSWER);
  });

  it.each([
    ["another key", { ...NAME, key: "fedcba9876543210" }],
    ["another caller", { ...NAME, by: "arn:aws:iam::1:user/grace" }],
  ])("is another one under %s", async (_what, other) => {
    await insertBegun(insert, NAME, BEGUN);
    await insertAnswer(insert, NAME, ANSWER, NOON);
    const mine = { ...BEGUN, requestId: "r-2" };
    expect(await insertBegun(insert, other, mine)).toEqual(mine);
    expect(await readAnswer(tables, other)).toBeUndefined();
  });

  it("keeps no answer that fits no item, and says so of one that it cannot read", async () => {
    await insertAnswer(
      insert,
      NAME,
      { ...ANSWER, body: randomBytes(400_000).toString("base64") },
      NOON,
    );
    expect(inserted).toEqual([]);
    // An answer of a version that is not known yet.
    await insertAnswer(insert, NAME, ANSWER, NOON);
    const other = { ...NAME, key: "a-key-of-another-version" };
    await insertAnswer(
      (items) =>
        insert(
          items.map((item) => ({
            ...item,
            body: Uint8Array.of(0x80 + 9, ...(item.body as Uint8Array).subarray(1)),
          })),
        ),
      other,
      ANSWER,
      NOON,
    );
    await expect(readAnswer(tables, other)).rejects.toMatchObject({
      code: "store.unreadable",
      message: "Cannot read the answer to a request: its version is 9",
    });
  });
});
