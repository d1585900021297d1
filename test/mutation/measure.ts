import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PARTS, ROOMS } from "./parts.ts";
import { stryker } from "./stryker.ts";
import { atLoad, kept, type MutationReport, withResults } from "./summary.ts";

const REPORTS = join(import.meta.dirname, "../../reports/mutation");
const reportPath = (part: string): string => join(REPORTS, `${part.replaceAll("/", "-")}.json`);

/**
 * Read by vitest.config.ts of this folder: the folder of tests that a run is limited to, beside the
 * recorded decisions.
 */
const ROOM = "MUTATION_ROOM";

/** The same: the tests of a room, in place of those. */
const TESTS = "MUTATION_TESTS";

/** The report of a part as it was last measured. */
export const readReport = (part: string): MutationReport | undefined =>
  existsSync(reportPath(part)) ? reportAt(reportPath(part)) : undefined;

const reportAt = (fileName: string): MutationReport => {
  try {
    return JSON.parse(readFileSync(fileName, "utf8")) as MutationReport;
  } catch (cause) {
    throw new Error(
      `Cannot read the report "${fileName}": delete it, and its part is measured anew`,
      { cause },
    );
  }
};

/**
 * Measures one part and leaves its report: first all that runs in tests, each mutant against the
 * tests that reach it. What runs only when a file is loaded is reached by every test and needs
 * fresh threads, so it comes in a run of its own, with the tests of its room and the recorded
 * decisions. Results of an earlier report are kept where neither the mutant nor the test that
 * killed it has changed.
 */
export const measure = async (part: string): Promise<MutationReport> => {
  const fileName = reportPath(part);
  // What survived at load would be kept whatever tests were added, because no test is named as
  // reaching it; what the clock ended may be a busy machine's.
  const before = readReport(part);
  // A file of its own: Stryker writes what it knows and what it reports side by side.
  const knownName = reportPath(`${part}-known`);
  if (before) writeFileSync(knownName, JSON.stringify(kept(before)));
  const atLoadName = reportPath(`${part}-at-load`);
  const room = ROOMS[part];
  if (room) process.env[TESTS] = room.tests.join(",");
  await stryker({
    mutate: [...(room?.mutate ?? PARTS[part] ?? [])],
    ignoreStatic: true,
    incremental: true,
    incrementalFile: knownName,
    jsonReporter: { fileName },
  });
  rmSync(knownName);
  const first = reportAt(fileName);
  const left = atLoad(first);
  // What a room computes when it is loaded is constants and requests, which its tests name.
  if (left.length === 0 || room) return first;
  process.env[ROOM] = part.split("/")[0];
  await stryker({ mutate: [...left], jsonReporter: { fileName: atLoadName } });
  delete process.env[ROOM];
  const whole = withResults(first, reportAt(atLoadName));
  rmSync(atLoadName);
  writeFileSync(fileName, JSON.stringify(whole));
  return whole;
};
