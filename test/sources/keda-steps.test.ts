import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { compared, DIFFERENCES } from "./keda/steps/differences.ts";
import { readRecorded } from "./keda/steps/recorded.ts";

/** What test/sources/keda/steps/record.ts has recorded. */
const recorded = readRecorded();

/** Every so many-th object; all of them are played in keda-steps.played.test.ts. */
const EACH = 50;

describe("the counts of KEDA and of the PodAutoscaler that convert makes", () => {
  it.each(recorded.filter((_, at) => at % EACH === 0).map((one, at) => [at * EACH, one] as const))(
    "are the same at each step, or a note names the difference: object %i",
    (_at, one) => {
      const { isSame, named, first, own } = compared(one);
      expect(
        isSame || named.length > 0,
        `step ${first}: ${own.join(" ")}; ${one.keda.join(" ")}`,
      ).toBe(true);
    },
  );

  it("differ by what docs/migrating.md names", () => {
    const page = readFileSync(new URL("../../docs/migrating.md", import.meta.url), "utf8");
    for (const { field, words } of DIFFERENCES) expect(page).toContain(`- \`${field}\`: ${words}.`);
  });
});
