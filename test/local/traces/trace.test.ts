import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { demandAt, nextChangeMs, spanMs, type Trace } from "../../../lib/embedded/traces/trace.ts";

const START_MS = 1_563_148_800_000;
const trace = (samples: readonly (readonly [minute: number, value: number])[]): Trace => ({
  points: samples.map(([minute, value]) => ({ atMs: START_MS + minute * 60_000, value })),
  unit: "calls per minute",
  stepMs: 60_000,
});

describe("demandAt()", () => {
  const regular = trace([
    [0, 10],
    [1, 20],
    [2, 5],
  ]);
  const gapped = trace([
    [0, 10],
    [1, 20],
    [4, 5],
  ]);

  it.each([
    [0, 10],
    [59_999, 10],
    [60_000, 20],
    [119_999, 20],
    [120_000, 5],
    [179_999, 5],
  ])("holds a sample until the next one: at %i ms", (offsetMs, value) => {
    expect(demandAt(regular, offsetMs)).toEqual({ value, missing: false });
  });

  it.each([
    [119_999, false],
    [120_000, true],
    [239_999, true],
    [240_000, false],
  ])(
    "says that a sample is missing once it is a step old and the next one late: at %i ms %s",
    (offsetMs, missing) => {
      expect(demandAt(gapped, offsetMs).missing).toBe(missing);
    },
  );

  it("holds the last value through a gap", () => {
    expect(demandAt(gapped, 200_000)).toEqual({ value: 20, missing: true });
  });

  it("starts again after the end", () => {
    expect(spanMs(regular)).toBe(180_000);
    expect(demandAt(regular, 180_000)).toEqual({ value: 10, missing: false });
    expect(demandAt(regular, 10 * 180_000 + 60_000)).toEqual({ value: 20, missing: false });
  });

  it("never answers with a value that was not recorded", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(500), { minLength: 1, maxLength: 20 }),
        fc.nat(10_000_000),
        (values, offsetMs) => {
          const played = trace(values.map((value, minute) => [minute * 2, value] as const));
          expect(values).toContain(demandAt({ ...played, stepMs: 120_000 }, offsetMs).value);
        },
      ),
    );
  });
});

describe("nextChangeMs()", () => {
  it("never steps over a change", () => {
    const minutes = fc
      .uniqueArray(fc.nat(30), { minLength: 1, maxLength: 12 })
      .map((found) => found.toSorted((a, b) => a - b));
    fc.assert(
      fc.property(minutes, fc.nat(40 * 60), (found, offsetSeconds) => {
        const played = trace(found.map((minute, index) => [minute, index] as const));
        const fromMs = offsetSeconds * 1000;
        const toMs = nextChangeMs(played, fromMs);
        expect(toMs).toBeGreaterThan(fromMs);
        for (let atMs = fromMs; atMs < toMs; atMs += 1000)
          expect(demandAt(played, atMs)).toEqual(demandAt(played, fromMs));
      }),
    );
  });
});
