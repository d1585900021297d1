import { describe, expect, it } from "vitest";
import { type ManySwitches, switchMany } from "../../lib/command/takeover/switch-many.ts";
import { TidemarkError } from "../../lib/rules/model/errors.ts";
import type { AutoscalerView } from "../../lib/answers/views/autoscaler.ts";

const viewOf = (name: string): AutoscalerView =>
  ({ cluster: "eu-1", namespace: "shop", name }) as Partial<AutoscalerView> as AutoscalerView;

const fault = (kind: string): TidemarkError =>
  new TidemarkError("cli.takeover", "Cannot take over: no", { kind });

interface Drawn {
  readonly count: number;
  readonly options?: Partial<ManySwitches>;
  /** Real time from which on one is ready, in ms; by default at once. */
  readonly readyAtMs?: (name: string) => number;
  readonly faults?: Readonly<Record<string, Error>>;
}

const SWITCH_MS = 30_000;

/** Plays the switches on a clock of its own, and notes which were switched together. */
const played = async ({ count, options = {}, readyAtMs = () => 0, faults = {} }: Drawn) => {
  let nowMs = 0;
  const batches: (readonly [atMs: number, names: string[]])[] = [];
  const reported: (readonly [string, number])[] = [];
  const results = await switchMany(
    Array.from({ length: count }, (_, at) => viewOf(`a${at}`)),
    {
      service: { get: async ({ name }) => viewOf(name) },
      elapsed: () => nowMs,
      wait: async (ms) => {
        nowMs += ms;
      },
      signal: new AbortController().signal,
      ...{ size: 10, waitMs: 600_000, pauseMs: 0, failuresMax: 0 },
      waitsFor: ({ name }) => (nowMs >= readyAtMs(name) ? undefined : "the count would move"),
      work: async ({ name }) => {
        const last = batches.at(-1);
        if (last?.[0] === nowMs) last[1].push(name);
        else batches.push([nowMs, [name]]);
        await Promise.resolve();
        nowMs = (batches.at(-1)?.[0] ?? 0) + SWITCH_MS;
        const wrong = faults[name];
        if (wrong) throw wrong;
        return "taken";
      },
      report: async ({ view: { name } }, left) => void reported.push([name, left]),
      ...options,
    },
  );
  const outcomes = Object.fromEntries(
    results.map(({ view: { name }, outcome }) => [name, outcome]),
  );
  const counted = (outcome: string): number =>
    results.filter((result) => result.outcome === outcome).length;
  return { results, outcomes, counted, sizes: batches.map(([, names]) => names.length), reported };
};

describe("a switch of many", () => {
  it("begins with one, doubles up to its size, and has a result for each", async () => {
    const { sizes, counted, reported } = await played({ count: 40 });
    expect(sizes).toEqual([1, 2, 4, 8, 10, 10, 5]);
    expect(counted("done")).toBe(40);
    expect(reported.at(-1)?.[1]).toBe(0);
  });

  it("takes 200 under a moving load in less than half an hour, each in one of the moments in which it is ready", async () => {
    // Ready for one minute of three, each at another time.
    const isReady = (name: string, nowMs: number): boolean =>
      (nowMs / 1_000 + 7 * Number(name.slice(1))) % 180 < 60;
    let nowMs = 0;
    const { counted } = await played({
      count: 200,
      options: {
        elapsed: () => nowMs,
        wait: async (ms) => {
          nowMs += ms;
        },
        waitsFor: ({ name }) => (isReady(name, nowMs) ? undefined : "the count would move"),
        work: async () => {
          const beganMs = nowMs;
          await Promise.resolve();
          nowMs = beganMs + SWITCH_MS;
          return "taken";
        },
      },
    });
    expect(counted("done")).toBe(200);
    expect(nowMs).toBeLessThan(30 * 60_000);
  });

  it("passes over one that is not ready in its time, with why, and waits for none with a wait of 0", async () => {
    const readyAtMs = (name: string): number =>
      name === "a1" ? 2 * 600_000 : name === "a2" ? 300_000 : 0;
    const { outcomes, results } = await played({ count: 4, readyAtMs });
    expect(outcomes).toEqual({ a0: "done", a1: "waiting", a2: "done", a3: "done" });
    expect(results.find(({ outcome }) => outcome === "waiting")?.message).toBe(
      "the count would move",
    );
    expect((await played({ count: 4, readyAtMs, options: { waitMs: 0 } })).outcomes).toMatchObject({
      a1: "waiting",
      a2: "waiting",
      a3: "done",
    });
  });

  it("says once when one begins to wait, and why", async () => {
    const waits: string[] = [];
    const begunToWait = ({ name }: AutoscalerView, why: string): unknown =>
      waits.push(`${name} ${why}`);
    const { outcomes } = await played({
      count: 4,
      readyAtMs: (name) => (name === "a1" ? 120_000 : 0),
      options: { begunToWait },
    });
    expect(outcomes["a1"]).toBe("done");
    expect(waits).toEqual(["a1 the count would move"]);
    await played({
      count: 2,
      readyAtMs: (name) => (name === "a1" ? 120_000 : 0),
      options: { begunToWait, waitMs: 0 },
    });
    expect(waits).toHaveLength(1);
  });

  it("gives the reason of a refusal by itself, without the words that stand before it", async () => {
    const refusal = new TidemarkError(
      "cli.takeover",
      'Cannot take over "eu-1/shop/a0": its state is active',
      { kind: "refused" },
    );
    const { results } = await played({ count: 1, faults: { a0: refusal } });
    expect(results.map(({ message }) => message)).toEqual(["its state is active"]);
    const words = 'HPA "web" of "eu-1/shop/a0": is at rest';
    const other = new TidemarkError("cli.takeover", words, { kind: "refused" });
    expect((await played({ count: 1, faults: { a0: other } })).results[0]?.message).toBe(words);
  });

  it("passes over what is refused, and begins no other once more have failed than it may", async () => {
    const faults = { a1: fault("refused"), a4: fault("failed") };
    expect((await played({ count: 20, faults })).outcomes).toMatchObject({
      a0: "done",
      a1: "refused",
      a2: "done",
      a4: "failed",
      a6: "done",
      a7: "left",
    });
    const { counted } = await played({ count: 20, faults, options: { failuresMax: 1 } });
    expect([counted("done"), counted("refused"), counted("failed")]).toEqual([18, 1, 1]);
  });

  it("waits for the sync that sees what an earlier call has switched, and says then that it is taken", async () => {
    const stateOf = (nowMs: number): AutoscalerView["state"] =>
      nowMs < 60_000 ? "shadow" : "active";
    let calls = 0;
    let nowMs = 0;
    const { outcomes, results } = await played({
      count: 1,
      options: {
        elapsed: () => nowMs,
        wait: async (ms) => {
          nowMs += ms;
        },
        service: { get: async ({ name }) => ({ ...viewOf(name), state: stateOf(nowMs) }) },
        work: async () => {
          calls++;
          if (stateOf(nowMs) === "shadow") throw fault("unseen");
          return "was taken over already";
        },
      },
    });
    expect([outcomes, results[0]?.message, calls]).toEqual([
      { a0: "done" },
      "was taken over already",
      2,
    ]);
    const impatient = await played({
      count: 1,
      faults: { a0: fault("unseen") },
      options: { waitMs: 0 },
    });
    expect(impatient.outcomes).toEqual({ a0: "refused" });
  });

  it("takes an error that does not say that nothing was changed for a failure", async () => {
    const faults = { a0: new TidemarkError("service.unavailable", "Cannot reach the stack", {}) };
    expect((await played({ count: 3, faults })).outcomes).toEqual({
      a0: "failed",
      a1: "left",
      a2: "left",
    });
    await expect(played({ count: 3, faults: { a0: new TypeError("a mistake") } })).rejects.toThrow(
      "a mistake",
    );
  });

  it("ends after the batch that is under way when it is interrupted", async () => {
    const stop = new AbortController();
    const report = async (_: unknown, left: number): Promise<void> =>
      left === 7 ? stop.abort() : undefined;
    const { counted } = await played({ count: 10, options: { signal: stop.signal, report } });
    expect([counted("done"), counted("left")]).toEqual([3, 7]);
  });
});
