import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import {
  MAX_FLOW_CALLS,
  MAX_PARALLEL_CALLS,
  SLOW_CALL_MS,
} from "../../lib/stack/cluster/request-limits.ts";
import { type FairGate, fairGate } from "../../lib/stack/turns/gate.ts";

/** Timers that the test lets pass. */
const clock = () => {
  const due = new Set<() => void>();
  return {
    after: (_ms: number, happen: () => void) => {
      due.add(happen);
      return () => void due.delete(happen);
    },
    pass: () => {
      for (const happen of [...due]) happen();
      due.clear();
    },
  };
};

const gateOf = (after: ReturnType<typeof clock>["after"]): FairGate =>
  fairGate({
    places: MAX_PARALLEL_CALLS,
    ofFlow: MAX_PARALLEL_CALLS,
    elapsed: () => 0,
    slow: { afterMs: SLOW_CALL_MS, places: MAX_FLOW_CALLS, after },
  });

/** Calls that the test ends, in the order of their beginning. */
const calls = (gate: FairGate) => {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const call = (flow: string | undefined, name = flow ?? "shared"): Promise<void> =>
    gate.run(flow, () => {
      begun.push(name);
      return new Promise((end) => ends.push(end));
    });
  const endAll = async (): Promise<void> => {
    for (const end of ends.splice(0)) end();
    await wait(0);
  };
  return { begun, call, endAll };
};

describe("the gate of the reads", () => {
  it("starts a call in the context of its caller, whoever gave the room", async () => {
    const caller = new AsyncLocalStorage<number>();
    const gate = gateOf(clock().after);
    const seen = await Promise.all(
      Array.from({ length: MAX_PARALLEL_CALLS * 3 }, (_, one) =>
        caller.run(one, () => gate.run("shop", async () => [one, caller.getStore()])),
      ),
    );
    expect(seen.map(([, store]) => store)).toEqual(seen.map(([one]) => one));
  });

  it("gives each namespace a turn, though one has asked for everything first", async () => {
    const { begun, call } = calls(gateOf(clock().after));
    for (let asked = 0; asked < 50; asked++) void call("shop");
    void call("bank");
    void call("mill");
    await wait(0);
    expect(begun).toHaveLength(MAX_PARALLEL_CALLS);
    expect(begun.slice(0, 3)).toEqual(["shop", "bank", "mill"]);
  });

  it("lets what is of all namespaces go first", async () => {
    const { begun, call } = calls(gateOf(clock().after));
    for (let asked = 0; asked < 50; asked++) void call("shop");
    void call(undefined);
    await wait(0);
    expect(begun[0]).toBe("shared");
    await wait(0);
    void call(undefined, "shared later");
    await wait(0);
    expect(begun.at(-1)).toBe("shared later");
  });

  it("gives the room of slow calls to other namespaces, and no more of it to their own", async () => {
    const time = clock();
    const { begun, call } = calls(gateOf(time.after));
    for (let asked = 0; asked < 50; asked++) void call("slow");
    await wait(0);
    expect(begun).toHaveLength(MAX_PARALLEL_CALLS);
    for (let asked = 0; asked < MAX_PARALLEL_CALLS; asked++) void call("quick");
    await wait(0);
    expect(begun).not.toContain("quick");
    time.pass();
    await wait(0);
    expect(begun.filter((name) => name === "quick")).toHaveLength(MAX_PARALLEL_CALLS);
    time.pass();
    await wait(0);
    expect(begun.filter((name) => name === "slow")).toHaveLength(MAX_PARALLEL_CALLS);
  });

  it("bounds the calls in flight of all namespaces, however slow they are", async () => {
    const time = clock();
    const { begun, call, endAll } = calls(gateOf(time.after));
    for (let asked = 0; asked < 100; asked++) void call(`team-${asked}`);
    for (let passed = 0; passed < 20; passed++) {
      await wait(0);
      time.pass();
    }
    expect(begun).toHaveLength(MAX_FLOW_CALLS);
    await endAll();
    expect(begun.length).toBeGreaterThan(MAX_FLOW_CALLS);
    expect(SLOW_CALL_MS).toBeLessThan(1_000);
  });

  it("passes on what a call throws, and goes on", async () => {
    const gate = gateOf(clock().after);
    await expect(gate.run("shop", () => Promise.reject(new Error("broken")))).rejects.toThrow(
      "broken",
    );
    expect(await gate.run("shop", async () => "next")).toBe("next");
  });
});
