import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { insertByStatement, readAllWritten } from "../../lib/stack/store/history/item.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { testTables } from "../sync/world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const keyAt = (at: number) => ({ pk: "kept#eu-1#default", sk: `written ${at}` });

describe("readAllWritten()", () => {
  it("reads items by their keys, a hundred to a request, in their order, and strongly what is too new", async () => {
    const tables = testTables(engine.client, engine.tables, () => 0);
    await insertByStatement(tables)(
      Array.from({ length: 250 }, (_, at) => ({
        ...{ ...keyAt(at), body: Buffer.from(`body ${at}`), ttlSeconds: 9_999_999_999 },
      })),
    );
    const requests: string[] = [];
    const client = around(engine.client, async (_command, send, input) => {
      const { RequestItems = {} } = input as {
        readonly RequestItems?: Readonly<Record<string, { readonly ConsistentRead: boolean }>>;
      };
      const [asked] = Object.values(RequestItems);
      requests.push(asked?.ConsistentRead === true ? "strong" : "eventual");
      const answer = await send();
      // An eventual read does not have the newest item yet.
      if (asked?.ConsistentRead !== false) return answer;
      const { Responses = {} } = answer as {
        readonly Responses?: Record<string, readonly { readonly sk?: { readonly S?: string } }[]>;
      };
      const isOld = ({ sk }: { readonly sk?: { readonly S?: string } }) => sk?.S !== "written 249";
      return {
        ...(answer as object),
        Responses: Object.fromEntries(
          Object.entries(Responses).map(([name, items]) => [name, items.filter(isOld)]),
        ),
      };
    });
    const read = { ...tables, client } as Tables;
    const wanted = [249, 3, 1_000, ...Array.from({ length: 200 }, (_, at) => at + 10)];
    const found = await readAllWritten(read, wanted.map(keyAt));
    expect(found.map((item) => item && Buffer.from(item.body).toString())).toEqual(
      wanted.map((at) => (at === 1_000 ? undefined : `body ${at}`)),
    );
    expect(requests).toEqual(["eventual", "eventual", "eventual", "strong"]);
    expect(await readAllWritten(read, [])).toEqual([]);
  });
});
