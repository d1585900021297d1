import { join } from "node:path";
import { controlPlaneBinaries } from "../control-plane/binaries.ts";
import { roomOfNight } from "../mutation/parts.ts";
import { newestTag, olderCommit } from "../simulation/beside/older-tree.ts";

export const ROOT = join(import.meta.dirname, "../..");
/** Below the root, so that the line at the end is the same on every machine. */
const FUZZ = "test/cluster/wire/fuzz.ts";
const READS = "test/service/read-budgets.played.test.ts";
const PROMISED = "test/mutation/promised.ts";

export interface NightlyOptions {
  readonly seeds: number;
  readonly answers: number;
  /** How many times as often as in `npm test` each property is played. */
  readonly properties: number;
  readonly minutes: number;
  /** Of the simulation and of the damaged answers. */
  readonly firstSeed: number;
}

/** One command of the night, or why it cannot run here. */
export type Part =
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly env?: Readonly<Record<string, string>>;
    }
  | { readonly missing: string };

/** Seeds beside an earlier build are fewer: most of what they play is that of the other seeds. */
const BESIDE_SHARE = 10;
/** Where there was no release yet: the build of so many commits ago. */
const COMMITS_AGO = 200;

const earlierCommit = (): string => olderCommit(newestTag() ?? `HEAD~${COMMITS_AGO}`);

const PROPERTY_TIMEOUT_MS = 1_800_000;

const npm = (...args: readonly string[]): Part => ({
  command: "npm",
  args: ["run", "--silent", ...args],
});

/** The parts in their order: the cheap ones first. */
export const PARTS: Readonly<Record<string, (options: NightlyOptions) => Part>> = {
  answers: ({ answers, firstSeed }) => ({
    command: process.execPath,
    args: [FUZZ, String(answers), String(firstSeed)],
  }),
  properties: ({ properties }) => ({
    command: "npm",
    args: ["run", "--silent", "test", "--", "--testTimeout", String(PROPERTY_TIMEOUT_MS)],
    env: { PROPERTY_RUNS: String(properties) },
  }),
  keda: ({ properties }) => ({
    command: "npx",
    args: ["vitest", "run", "--project", "simulation", "test/sources/keda-steps.played.test.ts"],
    env: { PROPERTY_RUNS: String(Math.max(2, properties)) },
  }),
  simulation: ({ seeds, firstSeed }) =>
    npm("simulate", "--", "--seeds", String(seeds), "--first-seed", String(firstSeed)),
  beside: ({ seeds, firstSeed }) => {
    try {
      const numbers = [
        "--seeds",
        String(Math.ceil(seeds / BESIDE_SHARE)),
        "--first-seed",
        String(firstSeed),
      ];
      return npm("simulate", "--", ...numbers, "--beside", earlierCommit());
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return { missing: error.message };
    }
  },
  chaos: ({ minutes }) => {
    const binaries = controlPlaneBinaries();
    return binaries.kind === "missing"
      ? { missing: binaries.message }
      : npm("prove", "--", "chaos", "--minutes", String(minutes));
  },
  reads: () => ({
    command: "npx",
    args: ["vitest", "run", READS],
    env: { READS_OF_ALL_SIZES: "true" },
  }),
  promised: () => ({ command: process.execPath, args: [PROMISED] }),
  mutation: () => npm("prove", "--", "mutation"),
  rooms: ({ firstSeed }) => npm("prove", "--", "mutation", roomOfNight(firstSeed)),
};
