import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Stryker } from "@stryker-mutator/core";
import { PARTS } from "./parts.ts";
import { atLoad, type MutationReport, withResults } from "./summary.ts";

const REPORTS = join(import.meta.dirname, "../../reports/mutation");
const reportPath = (part: string): string => join(REPORTS, `${part.replace("/", "-")}.json`);

/** The report of a part as it was last measured. */
export const readReport = (part: string): MutationReport | undefined =>
  existsSync(reportPath(part)) ? (JSON.parse(readFileSync(reportPath(part), "utf8")) as MutationReport) : undefined;

/**
 * Measures one part and leaves its report: first all that runs in tests, each mutant against the tests that reach it. What runs only when a file is loaded is reached by every
 * test and needs fresh threads, so it comes in a run of its own.
 */
export const measure = async (part: string): Promise<MutationReport> => {
  const fileName = reportPath(part);
  const run = async (mutate: readonly string[], ignoreStatic: boolean): Promise<MutationReport> => {
    await new Stryker({ mutate: [...mutate], ignoreStatic, jsonReporter: { fileName } }).runMutationTest();
    return JSON.parse(readFileSync(fileName, "utf8")) as MutationReport;
  };
  const first = await run(PARTS[part] ?? [], true);
  const left = atLoad(first);
  if (left.length === 0) return first;
  const whole = withResults(first, await run(left, false));
  writeFileSync(fileName, JSON.stringify(whole));
  return whole;
};
