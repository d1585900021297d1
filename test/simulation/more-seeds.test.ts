import { describe } from "vitest";
import { CI_SEEDS, playsSeeds } from "./seeds-of.ts";

/** The second half of the seeds. */
describe("the simulation", () => playsSeeds(Math.floor(CI_SEEDS / 2), CI_SEEDS));
