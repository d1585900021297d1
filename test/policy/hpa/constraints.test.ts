import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { admitOrThrow } from "../../../lib/rules/manifest/admit.ts";
import { decisions, loadFor, loadManifest, loop } from "../loop.ts";
import { runs } from "../../runs.ts";

/** Counts after each sync, once a minute, with these recommendations; the last one goes on. */
const counts = (
  constraints: object,
  replicas: number,
  recommended: readonly number[],
  syncs: number,
  killed: boolean,
  spec: object = {},
) =>
  loop(loadManifest({ constraints, ...spec }), syncs, {
    replicas,
    killed,
    settings: { tolerance: 0 },
    see: (sync) => loadFor(recommended[Math.min(sync, recommended.length - 1)] ?? 0),
  });

const warnings = (constraints: object) =>
  admitOrThrow({ document: loadManifest({ constraints }), where: "the manifest" }).warnings;

const changes = (all: readonly number[]): readonly number[] =>
  all.filter((count, at) => count !== all[at - 1]);

describe.each([
  ["in one process", false],
  ["killed between any two syncs", true],
])("the stories of the constraints block (proposals.md §3), %s", (_, killed) => {
  it("story 1, as fast as possible: percent 900 goes 1, 10, 100, 1000", () => {
    expect(counts({ scaleUp: { rate: { percent: 900 } } }, 1, [1000], 3, killed)).toEqual([
      10, 100, 1000,
    ]);
  });

  it("story 1 in the short form, without the rate", () => {
    expect(counts({ scaleUp: { percent: 900 } }, 1, [1000], 3, killed)).toEqual([10, 100, 1000]);
  });

  const GRADUALLY_DOWN = { scaleUp: { percent: 900 }, scaleDown: { pods: 1, periodSeconds: 600 } };

  it("story 2, and down gradually: one pod each ten minutes", () => {
    const peak = Array.from({ length: 15 }, () => 1000);
    const all = counts(GRADUALLY_DOWN, 1, [...peak, 990], 55, killed);
    expect(changes(all)).toEqual([10, 100, 1000, 999, 998, 997, 996]);
    // The default delay of 300 s passes first.
    expect([999, 998, 997, 996].map((count) => all.indexOf(count))).toEqual([19, 29, 39, 49]);
  });

  it("story 2 after a spike of three minutes: 9, 90, 900, 1000, then one pod each ten minutes, and never 9 again", () => {
    const all = counts(GRADUALLY_DOWN, 9, [1000, 1000, 1000, 9], 60, killed);
    expect(changes(all)).toEqual([90, 900, 1000, 999, 998, 997, 996, 995, 994]);
    // The last 1000 is recommended in the third sync: it holds the count for 300 s.
    expect([999, 998, 997].map((count) => all.indexOf(count))).toEqual([7, 17, 27]);
  });

  it("a rate upwards does not get back what was removed inside its period", () => {
    const up = {
      scaleUp: { pods: 2, percent: 0, periodSeconds: 600 },
      scaleDown: { delaySeconds: 0 },
    };
    // 20 to 5, all at once; then two pods in ten minutes, although fifteen were removed in them.
    expect(counts(up, 20, [5, 20], 13, killed)).toEqual([5, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 9, 9]);
  });

  it("story 3, up gradually: pods 1 and percent 0 go 1, 2, 3, 4", () => {
    expect(counts({ scaleUp: { pods: 1, percent: 0 } }, 1, [100], 3, killed)).toEqual([2, 3, 4]);
  });

  it("story 3 as the document writes it: the default percentage is the larger one, 1, 2, 4, 8, with a warning that shows the fix", () => {
    expect(counts({ scaleUp: { pods: 1 } }, 1, [100], 3, killed)).toEqual([2, 4, 8]);
    expect(warnings({ scaleUp: { pods: 1 } })).toEqual([
      expect.objectContaining({
        field: "spec.constraints.scaleUp.percent",
        fix: expect.stringContaining("percent: 0"),
      }),
    ]);
  });

  it("story 4, never down: percent 0 and pods 0 hold whatever is recommended", () => {
    expect(changes(counts({ scaleDown: { percent: 0, pods: 0 } }, 40, [1], 60, killed))).toEqual([
      40,
    ]);
  });

  it("story 4 still goes down to maxReplicas", () => {
    expect(
      counts({ scaleDown: { percent: 0, pods: 0 } }, 40, [1], 3, killed, { maxReplicas: 30 }),
    ).toEqual([30, 30, 30]);
  });

  it("story 5, delay: ten minutes of recommendations hold the count, then the highest of them counts", () => {
    const recommended = [10, 9, 8, 9, 9, 8, 9, 8, 9, 8, 7];
    const all = counts({ scaleDown: { pods: 5, delaySeconds: 600 } }, 10, recommended, 11, killed);
    expect(all).toEqual([10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 9]);
  });

  it("story 5 with the delay beside the directions", () => {
    const recommended = [10, 9, 8, 9, 9, 8, 9, 8, 9, 8, 7];
    expect(
      counts({ scaleDown: { pods: 5 }, delaySeconds: 600 }, 10, recommended, 11, killed).at(-1),
    ).toBe(9);
  });

  it("the largest constraint: the defaults take one replica to 20 by 5 and 10", () => {
    expect(counts({}, 1, [20], 3, killed)).toEqual([5, 10, 20]);
  });

  it("the largest constraint, its other example: pods 5 with the default percentage reach 20 at once, with the warning", () => {
    expect(counts({ scaleUp: { pods: 5 } }, 10, [20], 1, killed)).toEqual([20]);
    expect(warnings({ scaleUp: { pods: 5 } })).toHaveLength(1);
  });

  it("absent downward rates are no limit, once the delay is over", () => {
    expect(changes(counts({ scaleDown: { delaySeconds: 0 } }, 500, [1], 2, killed))).toEqual([1]);
  });

  it("the more careful of two downward rates wins", () => {
    expect(
      counts({ scaleDown: { pods: 1, percent: 50, delaySeconds: 0 } }, 100, [1], 3, killed),
    ).toEqual([99, 98, 97]);
  });

  it("rates count what really happened: no second pod within the minute of the first", () => {
    const all = loop(loadManifest({ constraints: { scaleUp: { pods: 1, percent: 0 } } }), 9, {
      replicas: 1,
      periodMs: 15_000,
      killed,
      settings: { tolerance: 0 },
      see: () => loadFor(10),
    });
    expect(all).toEqual([2, 2, 2, 2, 3, 3, 3, 3, 4]);
  });
});

describe("a rate of the constraints block", () => {
  it("never lets more pods come, or go, inside one period than it says, whatever the other direction did and however irregular the syncs are", () => {
    const syncs = fc.array(
      fc.record({
        gapSeconds: fc.constantFrom(5, 15, 37, 60, 299, 300),
        load: fc.integer({ min: 1, max: 60 }),
      }),
      {
        minLength: 2,
        maxLength: 40,
      },
    );
    const rate = fc.record({
      pods: fc.integer({ min: 1, max: 9 }),
      periodSeconds: fc.constantFrom(60, 300),
    });
    fc.assert(
      fc.property(syncs, rate, rate, (steps, up, down) => {
        const constraints = {
          scaleUp: { ...up, percent: 0 },
          scaleDown: { ...down, delaySeconds: 0 },
        };
        const all = followed(loadManifest({ constraints }), 30, steps);
        return [
          { own: all.filter(({ from, to }) => to > from), rate: up },
          { own: all.filter(({ from, to }) => to < from), rate: down },
        ].every(({ own, rate: { pods, periodSeconds } }) =>
          own.every(
            ({ atMs }) =>
              podsOf(
                own.filter(
                  (other) => other.atMs <= atMs && other.atMs > atMs - periodSeconds * 1000,
                ),
              ) <= pods,
          ),
        );
      }),
      runs(100),
    );
  });
});

const podsOf = (scales: readonly { readonly from: number; readonly to: number }[]): number =>
  scales.reduce((sum, { from, to }) => sum + Math.abs(to - from), 0);

/** Every scale of one autoscaler, with its time. */
const followed = (
  manifest: unknown,
  replicas: number,
  steps: readonly { readonly gapSeconds: number; readonly load: number }[],
) => {
  let atMs = 0;
  const times = steps.map(({ gapSeconds }) => {
    atMs += gapSeconds * 1000;
    return atMs;
  });
  const made = decisions(manifest, steps.length, {
    replicas,
    killed: true,
    settings: { tolerance: 0 },
    atMs: (sync) => times[sync] ?? 0,
    see: (sync) => loadFor(steps[sync]?.load ?? 1),
  });
  return made.flatMap((decision, sync) =>
    decision.kind === "scale"
      ? [{ from: decision.from, to: decision.to, atMs: times[sync] ?? 0 }]
      : [],
  );
};
