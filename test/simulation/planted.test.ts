import { describe, expect, it } from "vitest";
import { PLANTED } from "./planted/all.ts";
import { play } from "./play.ts";

/** More than any of them needs, so that a change of the code, which moves all draws, does not move it out of reach. */
const SEEDS_MAX = 150;
const PATIENCE_MS = 300_000;

describe("a planted mistake is caught", () => {
  it("for each row of the table, and three more", () => {
    expect(PLANTED.length).toBeGreaterThanOrEqual(11);
  });

  it.each(PLANTED.map((planted) => [planted.leftOut, planted] as const))("left out: %s", { timeout: PATIENCE_MS }, async (_name, planted) => {
    let caught: string | undefined;
    for (let seed = 0; seed < SEEDS_MAX && caught === undefined; seed++) {
      const { violation } = await play(seed, { faults: true, told: false, planted });
      caught = violation?.invariant;
    }
    expect(planted.caughtBy).toContain(caught);
  });
});

describe("without a mistake", () => {
  it("a seed gives the same story twice, so that it replays alone", async () => {
    const [one, other] = [await play(7, { faults: true, told: true }), await play(7, { faults: true, told: true })];
    expect(one.story.length).toBeGreaterThan(100);
    expect(other).toEqual(one);
  });
});
