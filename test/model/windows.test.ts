import { describe, expect, it } from "vitest";
import { extendedTo, newestRunAt } from "../../lib/rules/model/windows.ts";

const run = (replicas: number, firstMs: number, lastMs: number) => ({ replicas, firstMs, lastMs });

describe("newestRunAt()", () => {
  it("finds the run recommended last, wherever its place is", () => {
    expect(newestRunAt([])).toBe(-1);
    expect(newestRunAt([run(1, 0, 5)])).toBe(0);
    expect(newestRunAt([run(1, 0, 5), run(2, 6, 9)])).toBe(1);
    expect(newestRunAt([run(2, 6, 9), run(1, 0, 5)])).toBe(0);
  });

  it("takes the later place of two at the same instant", () => {
    expect(newestRunAt([run(1, 5, 5), run(2, 5, 5), run(3, 0, 1)])).toBe(1);
  });
});

describe("extendedTo()", () => {
  it("moves the end of the newest run alone", () => {
    expect(extendedTo([run(2, 6, 9), run(1, 0, 5)], 20)).toEqual([run(2, 6, 20), run(1, 0, 5)]);
  });

  it("never goes back, and leaves an empty list alone", () => {
    const runs = [run(2, 6, 9)];
    expect(extendedTo(runs, 9)).toBe(runs);
    expect(extendedTo(runs, 3)).toBe(runs);
    expect(extendedTo([], 3)).toEqual([]);
  });
});
