import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { eachInGroups } from "../../lib/stack/store/table/wait-for-all.ts";

describe("eachInGroups()", () => {
  it("gives the results in the order of the items, works on a group together, and begins no other before it is taken", async () => {
    const begun: number[] = [];
    const work = async (item: number): Promise<number> => {
      begun.push(item);
      await wait(item % 2 === 0 ? 5 : 0);
      return item;
    };
    const results = eachInGroups([1, 2, 3, 4, 5], 2, work);
    expect(await results.next()).toEqual({ done: false, value: 1 });
    expect(begun).toEqual([1, 2]);
    expect([await results.next(), await results.next()].map(({ value }) => value)).toEqual([2, 3]);
    expect(begun).toEqual([1, 2, 3, 4]);
  });

  it("throws a failure where its result is taken, after the results before it", async () => {
    const results = eachInGroups([1, 2], 2, async (item) => {
      if (item === 2) throw new Error("two");
      await wait(5);
      return item;
    });
    expect((await results.next()).value).toBe(1);
    await expect(results.next()).rejects.toThrow("two");
  });

  it("leaves nothing under way where a caller stops early", async () => {
    let ended = 0;
    for await (const _first of eachInGroups([1, 2, 3], 3, async (item) => {
      await wait(item * 5);
      ended += 1;
    }))
      break;
    expect(ended).toBe(3);
  });
});
