import { describe, expect, it } from "vitest";
import { parsedFiles } from "./source.ts";

/*
 * What was at a time, and between two times, is read in lib/answers/service/facts: only there a
 * reader follows an autoscaler whose namespace moved, or whose partition was divided. A file that
 * reads the journal beside it shows a hole where the facts are in another journal.
 */

const files = parsedFiles(["lib", "functions"]);

const usersOf = (name: string, from: string): readonly string[] =>
  files
    .filter(
      ({ path, imports }) =>
        path.startsWith("lib/answers/") &&
        imports.some(
          ({ specifier, names, kind }) =>
            specifier.endsWith(`/${from}`) && (kind === "lazy" || names.includes(name)),
        ),
    )
    .map(({ path }) => path);

describe("answers", () => {
  it("read the past of an autoscaler in one room, and the newest journal of whole pages beside it", () => {
    expect(usersOf("journalOfPage", "journal.ts")).toEqual([
      // How much syncs changed.
      "lib/answers/service/clusters/measured.ts",
      "lib/answers/service/facts/at.ts",
      "lib/answers/service/facts/between.ts",
      "lib/answers/service/facts/journals.ts",
      "lib/answers/service/facts/newest-samples.ts",
      // The newest hour of a screen of autoscalers, and their newest minute.
      "lib/answers/service/rows/sparklines.ts",
      "lib/answers/service/views/cluster-of.ts",
    ]);
  });

  it("read stored samples there, too, but for the findings of the doctor, which need days and no minute", () => {
    expect(usersOf("storedSamples", "samples.ts")).toEqual([
      "lib/answers/service/doctor/doctor.ts",
    ]);
    expect(usersOf("storedWithPods", "samples.ts")).toEqual([
      "lib/answers/service/facts/samples-between.ts",
    ]);
    expect(usersOf("storedQuarters", "quarters.ts")).toEqual([
      "lib/answers/service/facts/newest-samples.ts",
    ]);
  });
});
