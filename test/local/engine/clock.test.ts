import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { virtualClock, type SavedClock } from "../../../lib/embedded/engine/clock.ts";
import { runs } from "../../runs.ts";

const START_MS = 1_000_000;

const started = (speed: number) => {
  const saved: SavedClock[] = [];
  return {
    saved,
    clock: virtualClock({ startMs: START_MS, speed, save: (state) => saved.push(state) }),
  };
};
const never = new AbortController().signal;

describe("virtualClock()", () => {
  it("stands still until it is let go, then stands exactly at the instant asked for", async () => {
    const { clock } = started(1000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(clock.now()).toBe(START_MS);
    await clock.until(START_MS + 15_000, never);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(clock.now()).toBe(START_MS + 15_000);
  });

  it("flows at its speed while it waits, and not past the instant", async () => {
    const { clock } = started(100);
    const began = performance.now();
    const arrived = clock.until(START_MS + 10_000, never);
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(clock.now()).toBeGreaterThan(START_MS);
    expect(clock.now()).toBeLessThan(START_MS + 10_000);
    await arrived;
    expect(performance.now() - began).toBeGreaterThanOrEqual(95);
  });

  it("never goes back, whatever it is asked for", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: -5_000, max: 60_000 }), { maxLength: 20 }),
        async (steps) => {
          const { clock } = started(1e9);
          for (const step of steps) {
            const before = clock.now();
            await clock.until(before + step, never);
            expect(clock.now()).toBe(Math.max(before, before + step));
          }
        },
      ),
      runs(20),
    );
  });

  it("stays where it is when it is stopped on the way, and has saved that", async () => {
    const { clock, saved } = started(1);
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    await clock.until(START_MS + 60_000, stop.signal);
    expect(clock.now()).toBeGreaterThan(START_MS);
    expect(clock.now()).toBeLessThan(START_MS + 5_000);
    expect(saved.at(-1)).toMatchObject({ nowMs: clock.now(), untilMs: clock.now() });
  });

  it("saves each instant once where there is nothing to wait for, and before it waits", async () => {
    let wallMs = 0;
    const saved: SavedClock[] = [];
    // Each look at the wall clock finds it a tenth of a second later: all work takes longer than
    // the speed allows.
    const clock = virtualClock({
      startMs: START_MS,
      speed: 100_000,
      save: (state) => saved.push(state),
      wall: () => (wallMs += 100),
    });
    const instants = [1, 2, 3].map((minute) => START_MS + minute * 60_000);
    for (const instant of instants) await clock.until(instant, never);
    expect(saved.map(({ nowMs }) => nowMs)).toEqual([START_MS, ...instants]);

    const waiting = started(1_000);
    await waiting.clock.until(START_MS + 60_000, never);
    expect(waiting.saved[1]).toMatchObject({ nowMs: START_MS, untilMs: START_MS + 60_000 });
  });

  it("says that it falls behind when the work takes longer than the speed leaves for it", async () => {
    const { clock } = started(1000);
    for (let step = 1; step <= 4; step++) {
      await new Promise((resolve) => setTimeout(resolve, 30));
      await clock.until(START_MS + step * 1000, never);
    }
    expect(clock.pace()).toMatchObject({ wanted: 1000, behind: true });
    expect(clock.pace().reached).toBeLessThan(100);
  });

  it("catches up after one slow piece of work: the asked speed bounds the whole run", async () => {
    const { clock } = started(1000);
    // Taken before the clock begins: everything after it is at least as long as the speed allows.
    const began = performance.now();
    await clock.until(START_MS + 1, never);
    await new Promise((resolve) => setTimeout(resolve, 400));
    for (let step = 1; step <= 20; step++) await clock.until(START_MS + step * 25_000, never);
    const tookMs = performance.now() - began;
    expect(tookMs).toBeGreaterThanOrEqual(495);
    // A clock that did not catch up would need the slow work and the whole time: 900 ms at least.
    expect(tookMs).toBeLessThan(850);
  });
});
