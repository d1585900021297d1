import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NEW_WINDOWS, type Windows } from "../../lib/rules/model/windows.ts";
import { NOON } from "../noon.ts";
import { runs } from "../runs.ts";
import { loadFor, loadManifest, loop } from "./loop.ts";
import { native, sync } from "./native/world.ts";

/**
 * Wakes put syncs between the planned ones. Windows, sustained breaches, rate limits and idle times
 * count time and no syncs: what is decided does not come sooner because there are more of them.
 */
const RUNS = runs(100);
const SECOND_MS = 1_000;
const HIGH = 5_000;

/** Times of syncs in milliseconds: each some time after the one before, as wakes have it. */
const times = fc
  .array(fc.integer({ min: 1, max: 15 * SECOND_MS }), { minLength: 20, maxLength: 80 })
  .map((gaps) => {
    let atMs = 0;
    return gaps.map((gapMs) => (atMs += gapMs));
  });

/** The counts of a native autoscaler on `load`, ten a pod, after each sync. */
const played = (
  spec: Readonly<Record<string, unknown>>,
  at: readonly number[],
  { replicas, load }: { readonly replicas: number; readonly load: (nowMs: number) => number },
): readonly number[] => {
  const decided = native(spec);
  let [count, windows]: [number, Windows] = [replicas, NEW_WINDOWS];
  return at.map((atMs) => {
    const seen = { replicas: count, values: { load: load(atMs) }, windows };
    const spaced = { ...seen, nowMs: NOON + atMs, syncPeriodMs: 15 * SECOND_MS };
    ({ count, windows } = sync(decided, { ...spaced, unstored: true }));
    return count;
  });
};

/** The most that was added within any stretch of this length. */
const mostAdded = (at: readonly number[], counts: readonly number[], lengthMs: number): number => {
  const added = counts.map((count, nth) => Math.max(0, count - (counts[nth - 1] ?? 1)));
  return Math.max(
    ...at.map((endMs) =>
      added.reduce((sum, by, nth) => {
        const atMs = at[nth] ?? 0;
        return atMs <= endMs && atMs > endMs - lengthMs ? sum + by : sum;
      }, 0),
    ),
  );
};

describe("at any spacing of syncs", () => {
  it("a rate limit of native rules never gives more in its period", () => {
    fc.assert(
      fc.property(times, fc.integer({ min: 1, max: 9 }), (at, value) => {
        const scaleUp = { policies: [{ type: "Pods", value, periodSeconds: 60 }] };
        const counts = played({ scaleUp }, at, { replicas: 1, load: () => HIGH });
        expect(mostAdded(at, counts, 60 * SECOND_MS)).toBeLessThanOrEqual(value);
        expect(counts.at(-1)).toBeGreaterThan(1);
      }),
      RUNS,
    );
  });

  it("a rate limit of an HPA never gives more in its period", () => {
    fc.assert(
      fc.property(times, fc.integer({ min: 1, max: 9 }), (at, value) => {
        const policies = [{ type: "Pods", value, periodSeconds: 60 }];
        const counts = loop(loadManifest({ behavior: { scaleUp: { policies } } }), at.length, {
          replicas: 1,
          killed: false,
          atMs: (nth) => at[nth] ?? 0,
          see: () => loadFor(900),
        });
        expect(mostAdded(at, counts, 60 * SECOND_MS)).toBeLessThanOrEqual(value);
      }),
      RUNS,
    );
  });

  it("a breach acts at the first sync after it has lasted, whichever number of syncs saw it", () => {
    fc.assert(
      fc.property(times, fc.constantFrom(15, 30, 60), (at, sustainSeconds) => {
        const counts = played({ scaleUp: { sustainSeconds } }, at, {
          replicas: 1,
          load: () => HIGH,
        });
        const [sawMs = 0] = at;
        const due = at.findIndex((atMs) => atMs - sawMs >= sustainSeconds * SECOND_MS);
        const acted = counts.findIndex((count) => count > 1);
        expect(acted).toBe(due);
      }),
      RUNS,
    );
  });

  it("a low load shrinks nothing before the last high one has left the window of an HPA", () => {
    fc.assert(
      fc.property(times, fc.constantFrom(30, 60, 120), (at, windowSeconds) => {
        const middle = at[Math.floor(at.length / 4)] ?? 0;
        const counts = loop(
          loadManifest({
            behavior: { scaleDown: { stabilizationWindowSeconds: windowSeconds } },
          }),
          at.length,
          {
            replicas: 100,
            killed: false,
            atMs: (nth) => at[nth] ?? 0,
            see: (_nth, _replicas, nowMs) => loadFor(nowMs - NOON <= middle ? 100 : 10),
          },
        );
        counts.forEach((count, nth) => {
          const sinceMs = (at[nth] ?? 0) - middle;
          if (sinceMs <= 0 || sinceMs < windowSeconds * SECOND_MS) expect(count).toBe(100);
        });
        const last = (at.at(-1) ?? 0) - middle;
        if (last > windowSeconds * SECOND_MS) expect(counts.at(-1)).toBeLessThan(100);
      }),
      RUNS,
    );
  });

  it("a workload rests at the first sync after its idle time, and not sooner for more syncs", () => {
    const metrics = [
      { external: { metric: "load" }, measure: "Average", target: 10, activation: 0 },
    ];
    fc.assert(
      fc.property(times, fc.constantFrom(30, 60), (at, afterSeconds) => {
        const counts = played({ metrics, idle: { replicas: 0, afterSeconds } }, at, {
          replicas: 1,
          load: () => 0,
        });
        const [sawMs = 0] = at;
        expect(counts.indexOf(0)).toBe(
          at.findIndex((atMs) => atMs - sawMs >= afterSeconds * SECOND_MS),
        );
      }),
      RUNS,
    );
  });

  it("a workload at rest wakes at the first sync that sees load", () => {
    const metrics = [
      { external: { metric: "load" }, measure: "Average", target: 10, activation: 0 },
    ];
    fc.assert(
      fc.property(times, (at) => {
        const middle = at[Math.floor(at.length / 2)] ?? 0;
        const counts = played({ metrics, idle: { replicas: 0, afterSeconds: 30 } }, at, {
          replicas: 0,
          load: (atMs) => (atMs >= middle ? 50 : 0),
        });
        expect(counts.findIndex((count) => count > 0)).toBe(Math.floor(at.length / 2));
      }),
      RUNS,
    );
  });
});
