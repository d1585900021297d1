import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { PLANTED } from "./planted/all.ts";
import type { PlantedBug } from "./planted/planted.ts";
import { play } from "./play.ts";
import { STEP } from "./watch/model-steps.ts";

/**
 * More than any of them needs, so that a change of the code, which moves all draws, does not move
 * it out of reach.
 */
const SEEDS_MAX = 250;
const PATIENCE_MS = 300_000;
/** When a search ends, so that the test can say what it has not found. */
const SEARCH_MS = 120_000;
/** `PLANTED_STRICT=1` demands a seed of every row; planted/first-seeds.ts finds new ones. */
const IS_STRICT = process.env["PLANTED_STRICT"] !== undefined;

/** The first violation of a seed with a mistake in the code. */
const caughtIn = async (seed: number, planted: PlantedBug) => {
  // The model may be the first to tell of a mistake: it is silent where another invariant must
  // catch it as well.
  const unwatched = planted.caughtBy.includes(STEP) ? {} : { unwatched: STEP };
  return (await play(seed, { faults: true, told: false, planted, ...unwatched })).violation;
};

/**
 * What the seed that is known for it shows; where a change of the code moved all draws, the first
 * that shows it: the log says then which, because a search takes as long as many rows.
 */
const caughtFirst = async (planted: PlantedBug) => {
  const endMs = performance.now() + SEARCH_MS;
  let last = await caughtIn(planted.seed, planted);
  for (
    let seed = 0;
    seed < SEEDS_MAX &&
    performance.now() < endMs &&
    !(last && planted.caughtBy.includes(last.invariant));
    seed++
  ) {
    last = await caughtIn(seed, planted);
    if (last && planted.caughtBy.includes(last.invariant))
      process.stderr.write(
        `The row "${planted.leftOut}" has seed ${planted.seed}, which does not show it any more: seed ${seed} does\n`,
      );
  }
  return last;
};

describe("a planted mistake is caught by the faults that every seed has", () => {
  it("for each row of the table in docs/proofs-report.md", () => {
    expect(PLANTED).toHaveLength(52);
    const page = readFileSync("docs/proofs-report.md", "utf8");
    for (const { leftOut, seed } of PLANTED) expect(page).toContain(`| ${leftOut} | ${seed} |`);
  });

  it("or by a test that the page names, and that is there", () => {
    const named = [
      ...readFileSync("docs/proofs-report.md", "utf8").matchAll(
        /^\| [^|]+ \| `(test\/[^`]+)`, "([^|]+)" \|$/gm,
      ),
    ];
    expect(named.length).toBeGreaterThan(8);
    for (const [, file = "", test] of named) expect(readFileSync(file, "utf8")).toContain(test);
  });

  it.each(PLANTED.map((planted) => [planted.leftOut, planted.seed, planted] as const))(
    "left out: %s (seed %i)",
    { timeout: PATIENCE_MS },
    async (_name, _seed, planted) => {
      const found = (await caughtFirst(planted))?.invariant;
      // A change of the code has moved all draws, and the search has ended before it was lucky: the
      // row is NOT SHOWN, which is no proof of anything.
      if (!IS_STRICT && (found === undefined || !planted.caughtBy.includes(found)))
        process.stderr.write(`NOT SHOWN: the row "${planted.leftOut}" needs a new seed\n`);
      else expect(planted.caughtBy).toContain(found);
    },
  );
});

describe("without a mistake", () => {
  it("a seed gives the same story twice, so that it replays alone", async () => {
    const [one, other] = [
      await play(7, { faults: true, told: true }),
      await play(7, { faults: true, told: true }),
    ];
    expect(one.story.length).toBeGreaterThan(100);
    expect(other).toEqual(one);
  });
});
