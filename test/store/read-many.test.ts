import { describe, expect, it } from "vitest";
import { batchGet } from "../../lib/stack/store/table/read-many.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";

describe("many items by their keys", () => {
  it("are asked for again where the service leaves keys unprocessed, and only those", async () => {
    const asked: string[][] = [];
    const waits: number[] = [];
    const tables: Partial<Tables> = {
      stateTable: "state",
      clock: () => 0,
      random: () => 1,
      wait: async (ms) => void waits.push(ms),
      client: {
        // Each answer has the first key that is asked for, as a throttled table gives it.
        send: async ({ input }: { readonly input: never }) => {
          const { Keys } = input["RequestItems"]["state"] as {
            readonly Keys: { readonly sk: { readonly S: string } }[];
          };
          asked.push(Keys.map(({ sk }) => sk.S));
          const [first, ...left] = Keys;
          return {
            Responses: { state: [first] },
            ...(left.length > 0 && { UnprocessedKeys: { state: { Keys: left } } }),
          };
        },
      } as never,
    };
    const keys = ["a", "b", "c"].map((sk) => ({ pk: "p", sk }));
    const found = await batchGet(tables as Tables, "read", keys, { consistent: true });
    expect(found).toEqual(keys.map(({ pk, sk }) => ({ pk: { S: pk }, sk: { S: sk } })));
    expect(asked).toEqual([["a", "b", "c"], ["b", "c"], ["c"]]);
    expect(waits).toHaveLength(2);
  });
});
