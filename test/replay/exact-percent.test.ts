import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CutOffPercent, exactPercents } from "../../lib/replay/exact-percent.ts";
import { runs } from "../runs.ts";

/** What is recorded of pods that use such a mean, of a request; both in thousandths. */
const recordedOf = (usedMilli: number, requestMilli: number): CutOffPercent => ({
  percent: Math.floor((usedMilli * 100) / requestMilli),
  averageMilli: Math.floor(usedMilli),
});

const request = fc.integer({ min: 250, max: 8_000 });
const shares = fc.array(fc.double({ min: 0.2, max: 1.5, noNaN: true }), {
  minLength: 60,
  maxLength: 60,
});
const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

describe("exactPercents()", () => {
  it("always stays within the whole percent, and is nearer than the middle of it", () => {
    const property = fc.property(request, shares, (requestMilli, parts) => {
      const used = parts.map((part) => part * requestMilli);
      const samples = used.map((milli) => recordedOf(milli, requestMilli));
      const exact = exactPercents(samples).map((value) => value ?? Number.NaN);
      expect(exact.map(Math.floor)).toEqual(samples.map(({ percent }) => percent));
      const off = (values: readonly number[]): number =>
        meanOf(values.map((value, at) => Math.abs(value - (parts[at] ?? 0) * 100)));
      expect(off(exact)).toBeLessThan(off(samples.map(({ percent }) => percent + 0.5)));
    });
    fc.assert(property, runs(300));
  });

  it("begins again where the request was edited, before and after which it is the same", () => {
    const parts = Array.from({ length: 40 }, (_, at) => 0.4 + at / 100);
    const of = (requestMilli: number) =>
      parts.map((part) => recordedOf(part * requestMilli, requestMilli));
    const both = exactPercents([...of(500), ...of(800)]);
    expect(both).toEqual([...exactPercents(of(500)), ...exactPercents(of(800))]);
  });

  it("takes the middle of a percent where the mean of a pod was not recorded", () => {
    expect(exactPercents([{ percent: 62 }, undefined, { percent: 0 }])).toEqual([
      62.5,
      undefined,
      0,
    ]);
  });

  it("knows less than one percent once a larger value has said what the request is", () => {
    const [small, large] = exactPercents([recordedOf(3, 500), recordedOf(499, 500)]);
    expect(small).toBeCloseTo(0.7, 1);
    expect(large).toBeCloseTo(99.8, 0);
  });
});
