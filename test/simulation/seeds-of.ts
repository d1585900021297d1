import { expect, it } from "vitest";
import { playSeed } from "./seed.ts";

/**
 * Seeds of both test files together; `SIMULATION_SEEDS` sets another number. Nights play hundreds
 * of fresh ones (docs/proofs.md).
 */
export const CI_SEEDS = Number(process.env["SIMULATION_SEEDS"] ?? 40);

const BATCH = 10;
const SEED_PATIENCE_MS = 30_000;

/**
 * A test for every ten seeds of a range; the first failing seed is told with the end of its story.
 */
export const playsSeeds = (from: number, until: number): void => {
  for (let first = from; first < until; first += BATCH) {
    const last = Math.min(until, first + BATCH) - 1;
    it(`never breaks an invariant, seeds ${first} to ${last}`, {
      timeout: BATCH * SEED_PATIENCE_MS,
    }, async () => {
      for (let seed = first; seed <= last; seed++) {
        const { violation, played } = await playSeed(seed, { told: false });
        expect(
          violation,
          `seed ${seed}; npm run simulate -- --seeds 1 --first-seed ${seed} tells its story`,
        ).toBeUndefined();
        expect(
          played.completed + played.dropped + played.failed + played.ended,
        ).toBeGreaterThanOrEqual(200);
      }
    });
  }
};
