import { describe } from "vitest";
import { CI_SEEDS, playsSeeds } from "./seeds-of.ts";

/** The second half of the seeds. */
describe("the simulation", () => playsSeeds(Math.floor(CI_SEEDS / 2), CI_SEEDS));

/** Their requests travel for seconds, and arrive after their sync was killed (late-answers.ts). */
describe("the simulation with late answers", () => playsSeeds(2_020, 2_024));
