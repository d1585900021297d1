import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Decision } from "../../../lib/rules/model/decision.ts";
import { NEW_WINDOWS, type Windows } from "../../../lib/rules/model/windows.ts";
import { NOON } from "../../noon.ts";
import type { AppliedSync } from "../applied-sync.ts";
import { runs } from "../../runs.ts";
import { counts, native, sync } from "./world.ts";

const RUNS = runs(200);
const PLAIN = { noNullPrototype: true } as const;

const seconds = fc.constantFrom(0, 15, 30, 60, 300);
const policy = fc.oneof(
  fc.record(
    {
      type: fc.constant("Pods"),
      value: fc.integer({ min: 1, max: 20 }),
      periodSeconds: fc.constantFrom(15, 60, 600),
    },
    PLAIN,
  ),
  fc.record(
    {
      type: fc.constant("Percent"),
      value: fc.integer({ min: 1, max: 200 }),
      periodSeconds: fc.constantFrom(15, 60, 600),
    },
    PLAIN,
  ),
  fc.record(
    {
      type: fc.constant("Factor"),
      value: fc.constantFrom("1.1", "1.5", "3"),
      periodSeconds: fc.constantFrom(15, 60, 600),
    },
    PLAIN,
  ),
);
const rules = fc.record(
  {
    sustainSeconds: seconds,
    stabilizationWindowSeconds: seconds,
    forbiddenAfterEventSeconds: seconds,
    selectPolicy: fc.constantFrom("Max", "Min", "Disabled"),
    policies: fc.array(policy, { minLength: 1, maxLength: 3 }),
    stepMinimum: fc.integer({ min: 1, max: 3 }),
    countedChanges: fc.constantFrom("Both", "SameDirection"),
    replicaModulo: fc.integer({ min: 1, max: 4 }),
  },
  { requiredKeys: ["policies"], ...PLAIN },
);

const level = fc.oneof(
  fc.record(
    {
      target: fc.integer({ min: 1, max: 50 }),
      tolerance: fc.constantFrom({}, { up: "0", down: "0" }, { up: "0.5", down: "0.2" }),
    },
    PLAIN,
  ),
  fc
    .record({ low: fc.integer({ min: 1, max: 20 }), width: fc.integer({ min: 0, max: 30 }) }, PLAIN)
    .map(({ low, width }) => ({ watermarks: { low, high: low + width } })),
);
const metric = (name: string) =>
  fc
    .record(
      {
        level,
        measure: fc.constantFrom("Average", "Total"),
        scaleUpOnly: fc.boolean(),
        onMissing: fc.constantFrom(
          {},
          { action: "scaleUpOnly" },
          { action: "fallback", replicas: 5, afterSeconds: 30 },
        ),
        activation: fc.constantFrom(undefined, 0, 10),
      },
      PLAIN,
    )
    .map(({ level: held, activation, ...rest }) => ({
      name,
      external: { metric: name },
      ...rest,
      ...held,
      ...(activation !== undefined && { activation }),
    }));

const spec = fc
  .record(
    {
      minReplicas: fc.integer({ min: 1, max: 5 }),
      spread: fc.integer({ min: 4, max: 30 }),
      combine: fc.constantFrom("Max", "Min", "Mean"),
      a: metric("a"),
      b: metric("b"),
      scaleUp: rules,
      scaleDown: rules,
      flapBudget: fc.option(
        fc.record(
          { reversals: fc.integer({ min: 1, max: 3 }), periodSeconds: fc.constantFrom(60, 600) },
          PLAIN,
        ),
        {
          nil: undefined,
        },
      ),
      idle: fc.boolean(),
    },
    PLAIN,
  )
  .map(({ spread, a, b, flapBudget, idle, ...rest }) => ({
    ...rest,
    maxReplicas: rest.minReplicas + spread,
    metrics: [a, b],
    ...(flapBudget && { flapBudget }),
    ...(idle && ("activation" in a || "activation" in b) && { idle: { afterSeconds: 30 } }),
  }));

/** Ordinary values, absurd ones, and none. */
const value = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 400 }) },
  { weight: 1, arbitrary: fc.constantFrom(-5, 0, 1e12, 9e15 / 1000) },
  { weight: 2, arbitrary: fc.constant(undefined) },
);
const values = fc
  .record({ a: value, b: value }, PLAIN)
  .map(({ a, b }) => ({ ...(a !== undefined && { a }), ...(b !== undefined && { b }) }));
const story = fc.array(
  fc.record({ seen: values, afterSeconds: fc.constantFrom(15, 15, 60, 400) }, PLAIN),
  { minLength: 1, maxLength: 8 },
);

interface Told extends AppliedSync {
  readonly from: number;
  readonly seen: { readonly a?: number; readonly b?: number };
  readonly before: Windows;
  readonly nowMs: number;
}

const play = (
  given: Readonly<Record<string, unknown>>,
  replicas: number,
  steps: readonly { readonly seen: Told["seen"]; readonly afterSeconds: number }[],
): readonly Told[] => {
  const decided = native(given);
  let [count, windows, nowMs]: [number, Windows, number] = [replicas, NEW_WINDOWS, NOON];
  return steps.map(({ seen, afterSeconds }) => {
    nowMs += afterSeconds * 1000;
    const before = windows;
    const told = {
      ...sync(decided, { replicas: count, values: { ...seen }, nowMs, windows, unstored: true }),
      from: count,
      seen,
      before,
      nowMs,
    };
    ({ count, windows } = told);
    return told;
  });
};

const numbersOf = (found: unknown): readonly number[] => {
  if (typeof found === "number") return [found];
  return typeof found === "object" && found !== null ? Object.values(found).flatMap(numbersOf) : [];
};

/** The most scales against the direction of the one before that lie inside any period. */
const mostTurns = (told: readonly Told[], periodMs: number): number => {
  const moves = told
    .filter(({ from, count }) => count !== from)
    .map(({ from, count, nowMs }) => ({ up: count > from, atMs: nowMs }));
  const turnsUntil = (endMs: number): number => {
    const within = moves.filter(({ atMs }) => atMs <= endMs && atMs > endMs - periodMs);
    return within.filter(({ up }, index) => index > 0 && within[index - 1]?.up !== up).length;
  };
  return Math.max(0, ...moves.map(({ atMs }) => turnsUntil(atMs)));
};

describe("the native rules", () => {
  it("never leave min and max once inside, but for the idle count", () => {
    fc.assert(
      fc.property(spec, fc.integer({ min: 0, max: 40 }), story, (given, replicas, steps) => {
        const { minReplicas, maxReplicas } = given;
        const inside = (count: number): boolean =>
          (count >= minReplicas && count <= maxReplicas) || ("idle" in given && count === 0);
        for (const { from, count } of play(given, replicas, steps))
          if (inside(from)) expect(inside(count)).toBe(true);
      }),
      RUNS,
    );
  });

  it("always go straight to the bound from outside", () => {
    fc.assert(
      fc.property(spec, fc.integer({ min: 1, max: 60 }), values, (given, replicas, seen) => {
        const [told] = play(given, replicas, [{ seen, afterSeconds: 0 }]);
        if (replicas > given.maxReplicas) expect(told?.count).toBe(given.maxReplicas);
        if (replicas < given.minReplicas) expect(told?.count).toBe(given.minReplicas);
      }),
      RUNS,
    );
  });

  it("never shrink while a metric is missing, beyond max and what rests by all its activations", () => {
    fc.assert(
      fc.property(spec, fc.integer({ min: 1, max: 40 }), story, (given, replicas, steps) => {
        for (const { from, count, seen, decision } of play(given, replicas, steps)) {
          const missing = seen.a === undefined || seen.b === undefined;
          const rests = decision.steps.some(({ step }) => step === "idle");
          if (missing && !rests && from <= given.maxReplicas)
            expect(count).toBeGreaterThanOrEqual(from);
        }
      }),
      RUNS,
    );
  });

  it("never hold a number that is none, nor a count that is not whole", () => {
    fc.assert(
      fc.property(spec, fc.integer({ min: 0, max: 40 }), story, (given, replicas, steps) => {
        for (const { decision, count } of play(given, replicas, steps)) {
          expect(numbersOf(decision).filter((number) => Number.isNaN(number))).toEqual([]);
          expect(Number.isInteger(count)).toBe(true);
        }
      }),
      RUNS,
    );
  });

  it("always decide equal inputs equally, and leave them as they were", () => {
    fc.assert(
      fc.property(spec, fc.integer({ min: 0, max: 40 }), story, (given, replicas, steps) => {
        const of = (): readonly Decision[] =>
          play(given, replicas, steps).map(({ decision }) => decision);
        expect(of()).toEqual(of());
      }),
      runs(50),
    );
  });

  it("never move within a forbidden window, but to a bound or out of rest", () => {
    fc.assert(
      fc.property(spec, fc.integer({ min: 1, max: 40 }), story, (given, replicas, steps) => {
        const { scaleUp, scaleDown, minReplicas, maxReplicas } = given;
        const moved = play(given, replicas, steps).filter(
          ({ from, count }) => count !== from && from >= minReplicas && from <= maxReplicas,
        );
        for (const { from, count, before, nowMs } of moved) {
          const window = (count > from ? scaleUp : scaleDown).forbiddenAfterEventSeconds ?? 0;
          expect(
            nowMs - (before.status.lastScaleMs ?? Number.NEGATIVE_INFINITY),
          ).toBeGreaterThanOrEqual(window * 1000);
        }
      }),
      RUNS,
    );
  });

  it("never turn round more often within a period than the flap budget says, and never refuse to grow for it", () => {
    fc.assert(
      fc.property(
        spec,
        fc.integer({ min: 1, max: 3 }),
        fc.constantFrom(60, 600),
        story,
        (given, reversals, periodSeconds, steps) => {
          const told = play(
            { ...given, flapBudget: { reversals, periodSeconds } },
            given.minReplicas + 2,
            steps,
          );
          expect(mostTurns(told, periodSeconds * 1000)).toBeLessThanOrEqual(reversals);
          const held = told.flatMap(({ decision, from }) =>
            decision.steps.map((step) => ({ ...step, from })),
          );
          expect(
            held.filter(
              ({ limit, before, from }) => limit?.reason === "FlapBudget" && before > from,
            ),
          ).toEqual([]);
        },
      ),
      RUNS,
    );
  });

  it("always explain a move: each step begins where the one before ended, and the last ends at the count", () => {
    fc.assert(
      fc.property(spec, fc.integer({ min: 1, max: 40 }), story, (given, replicas, steps) => {
        for (const { decision, from, count } of play(given, replicas, steps)) {
          const chain = decision.steps;
          expect(chain.map(({ before }) => before)).toEqual(
            [from, ...chain.map(({ after }) => after)].slice(0, chain.length),
          );
          // What failed keeps its count, whatever the steps before it said.
          if (decision.kind === "scale" || !decision.failed)
            expect(chain.at(-1)?.after ?? from).toBe(count);
        }
      }),
      RUNS,
    );
  });

  it("never grow on a value below its target, nor shrink on one above it, however large", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.bigInt({ min: 1n, max: 9_000_000_000_000n }),
        (replicas, load) => {
          const decided = native({
            maxReplicas: 1_000_000,
            metrics: [
              {
                external: { metric: "load" },
                measure: "Average",
                target: 10,
                tolerance: { up: "0", down: "0" },
              },
            ],
          });
          const [count = 0] = counts(decided, replicas, [[0, { load: Number(load) }]]);
          if (Number(load) > 10 * replicas) expect(count).toBeGreaterThanOrEqual(replicas);
          else expect(count).toBeLessThanOrEqual(replicas);
        },
      ),
      RUNS,
    );
  });
});
