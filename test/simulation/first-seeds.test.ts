import { describe } from "vitest";
import { CI_SEEDS, playsSeeds } from "./seeds-of.ts";

/**
 * The first half of the seeds; the other half is in a file of its own, so that two workers share
 * them.
 */
describe("the simulation", () => playsSeeds(0, Math.floor(CI_SEEDS / 2)));
