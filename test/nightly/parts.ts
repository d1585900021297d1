import { join } from "node:path";
import { controlPlaneBinaries } from "../control-plane/binaries.ts";

export const ROOT = join(import.meta.dirname, "../..");
/** Below the root, so that the line at the end is the same on every machine. */
const FUZZ = "test/cluster/wire/fuzz.ts";

export interface NightlyOptions {
  readonly seeds: number;
  readonly answers: number;
  readonly minutes: number;
  /** Of the simulation and of the damaged answers. */
  readonly firstSeed: number;
}

/** One command of the night, or why it cannot run here. */
export type Part = { readonly command: string; readonly args: readonly string[] } | { readonly missing: string };

const npm = (...args: readonly string[]): Part => ({ command: "npm", args: ["run", "--silent", ...args] });

/** The parts in their order: the cheap ones first. */
export const PARTS: Readonly<Record<string, (options: NightlyOptions) => Part>> = {
  answers: ({ answers, firstSeed }) => ({ command: process.execPath, args: [FUZZ, String(answers), String(firstSeed)] }),
  simulation: ({ seeds, firstSeed }) => npm("simulate", "--", "--seeds", String(seeds), "--first-seed", String(firstSeed)),
  chaos: ({ minutes }) => {
    const binaries = controlPlaneBinaries();
    return binaries.kind === "missing" ? { missing: binaries.message } : npm("chaos", "--", "--minutes", String(minutes));
  },
  mutation: () => npm("mutation"),
};
