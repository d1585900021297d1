import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Flows, newFlows, slowFlows } from "../../lib/stack/turns/flows.ts";
import { heldTime } from "./held-time.ts";

const [SHARE_MS, EARLY, SLOW_BEGINS_MS, TTL_MS] = [100, 3, 1_000, 60_000];

const flowsIn = (
  time: ReturnType<typeof heldTime>,
  slow = slowFlows(time.elapsed, { ttlMs: TTL_MS, most: 2 }),
): Flows =>
  newFlows({
    elapsed: time.elapsed,
    after: time.after,
    slow,
    slowMs: SHARE_MS,
    mostEarly: EARLY,
    slowBeginsMs: SLOW_BEGINS_MS,
  });

/** Work that the test ends. `begun` has its names in the order in which it began. */
const works = (flows: Flows) => {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    work: (name: string, isLong = false) => ({
      isLong,
      run: (begin: () => void): Promise<void> => {
        begin();
        begun.push(name);
        const { promise, resolve } = Promise.withResolvers<void>();
        ends.set(name, resolve);
        return promise;
      },
    }),
    end: async (name: string) => {
      ends.get(name)?.();
      await setImmediate();
    },
    endAll: async () => {
      for (const end of ends.values()) end();
      await setImmediate();
    },
    flows,
  };
};

/** Whether the promise has ended by now. */
const hasEnded = async (promise: Promise<unknown>): Promise<boolean> => {
  let ended = false;
  void promise.then(() => {
    ended = true;
  });
  await setImmediate();
  return ended;
};

describe("flows", () => {
  it("are waited for until each has used its share of the time, together and not one after the other", async () => {
    const time = heldTime();
    const { work, end, flows } = works(flowsIn(time));
    for (const name of ["bank", "mill", "shop"]) flows.start(name, work(name));
    const waited = flows.within(SHARE_MS, 10 * SHARE_MS);
    time.pass(40);
    await end("bank");
    time.pass(SHARE_MS - 41);
    expect(await hasEnded(waited)).toBe(false);
    time.pass(1);
    expect(await hasEnded(waited)).toBe(true);
    expect(["bank", "mill", "shop"].map(flows.usedMs)).toEqual([40, SHARE_MS, SHARE_MS]);
    expect(flows.areDone()).toBe(false);
    await end("mill");
    await end("shop");
    expect(flows.areDone()).toBe(true);
  });

  it("are waited for no longer than the patience, also where their work has not begun", async () => {
    const time = heldTime();
    const flows = flowsIn(time);
    flows.start("bank", { run: () => new Promise(() => undefined) });
    const waited = flows.within(SHARE_MS, 5 * SHARE_MS);
    time.pass(5 * SHARE_MS - 1);
    expect(await hasEnded(waited)).toBe(false);
    time.pass(1);
    expect(await hasEnded(waited)).toBe(true);
  });

  it("begin their first pieces of work at once, and the rest after the others", () => {
    const { begun, work, flows } = works(flowsIn(heldTime()));
    for (const name of ["shop 1", "shop 2", "shop 3", "shop 4"]) flows.start("shop", work(name));
    flows.start("bank", work("bank"));
    expect(begun).toEqual(["shop 1", "shop 2", "shop 3", "bank"]);
    flows.beginLate();
    expect(begun.at(-1)).toBe("shop 4");
  });

  it("begin after the others where they were slow, and are forgotten after a time", async () => {
    const time = heldTime();
    const slow = slowFlows(time.elapsed, { ttlMs: TTL_MS, most: 2 });
    const first = works(flowsIn(time, slow));
    first.flows.start("shop", first.work("shop"));
    first.flows.start("bank", first.work("bank"));
    time.pass(SHARE_MS - 1);
    await first.end("bank");
    time.pass(1);
    await first.end("shop");
    const begunNow = (): readonly string[] => {
      const { begun, work, flows } = works(flowsIn(time, slow));
      for (const name of ["shop", "bank"]) flows.start(name, work(name));
      return begun;
    };
    expect(begunNow()).toEqual(["bank"]);
    time.pass(TTL_MS - 1);
    expect(begunNow()).toEqual(["bank"]);
    time.pass(1);
    expect(begunNow()).toEqual(["shop", "bank"]);
  });

  it("begin by themselves where what is late takes long", () => {
    const time = heldTime();
    const slow = slowFlows(time.elapsed, { ttlMs: TTL_MS, most: 2 });
    slow.add("shop");
    const { begun, work, flows } = works(flowsIn(time, slow));
    flows.start("shop", work("slow"));
    flows.startLate("bank", work("late"));
    time.pass(SLOW_BEGINS_MS - 1);
    expect(begun).toEqual([]);
    time.pass(1);
    expect(begun).toEqual(["slow"]);
    flows.beginLate();
    expect(begun).toEqual(["slow", "late"]);
  });

  it("are not slow because of work that takes long in any flow", async () => {
    const time = heldTime();
    const slow = slowFlows(time.elapsed, { ttlMs: TTL_MS, most: 2 });
    const { work, flows, endAll } = works(flowsIn(time, slow));
    flows.startLate("shop", work("a list", true));
    flows.startLate("bank", work("a question"));
    flows.beginLate();
    time.pass(2 * SHARE_MS);
    await endAll();
    expect(["shop", "bank"].map(slow.has)).toEqual([false, true]);
  });

  it("give a mistake of their work to the one that waits", async () => {
    const flows = flowsIn(heldTime());
    flows.start("shop", { run: () => Promise.reject(new TypeError("a mistake")) });
    await expect(flows.within(SHARE_MS, SHARE_MS)).rejects.toThrow("a mistake");
  });
});
