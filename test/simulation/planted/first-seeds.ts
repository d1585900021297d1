import { parseArgs } from "node:util";
import { play } from "../play.ts";
import { STEP } from "../watch/model-steps.ts";
import type { Invariant } from "../watch/ledger.ts";
import { PLANTED } from "./all.ts";
import type { PlantedBug } from "./planted.ts";

/**
 * `node test/simulation/planted/first-seeds.ts [--seeds N] [--all]`: the first seed that shows each
 * planted mistake, and the invariant that it breaks; for the table in docs/proofs-report.md.
 * Without --all only of those that the seed of their row does not show any more.
 */
const { values } = parseArgs({
  options: { seeds: { type: "string", default: "250" }, all: { type: "boolean", default: false } },
});
const seeds = Number(values.seeds);

/**
 * The invariant by which a seed shows a mistake. A mistake may lead to others; the table is of what
 * it is known for.
 */
const shownBy = async (planted: PlantedBug, seed: number): Promise<Invariant | undefined> => {
  const unwatched = planted.caughtBy.includes(STEP) ? {} : { unwatched: STEP };
  const { violation } = await play(seed, { faults: true, told: false, planted, ...unwatched });
  return violation && planted.caughtBy.includes(violation.invariant)
    ? violation.invariant
    : undefined;
};

const firstOf = async (planted: PlantedBug): Promise<string> => {
  for (let seed = 0; seed < seeds; seed++) {
    const invariant = await shownBy(planted, seed);
    if (invariant) return `seed ${seed}: ${invariant}`;
  }
  return `not in ${seeds} seeds`;
};

for (const planted of PLANTED) {
  const isKnown = !values.all && (await shownBy(planted, planted.seed));
  process.stdout.write(
    `${planted.leftOut}: ${isKnown ? `seed ${planted.seed} still shows it` : await firstOf(planted)}\n`,
  );
}
