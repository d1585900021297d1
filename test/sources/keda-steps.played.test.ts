import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { compared, stepsTable } from "./keda/steps/differences.ts";
import { readRecorded } from "./keda/steps/recorded.ts";

const recorded = readRecorded();

describe("all recorded steps of KEDA", () => {
  it("give the same count, or a note names the difference", { timeout: 600_000 }, () => {
    const unnamed = recorded.filter((one) => {
      const { isSame, named } = compared(one);
      return !isSame && named.length === 0;
    });
    expect(recorded.length).toBeGreaterThan(1_000);
    expect(unnamed).toEqual([]);
  });

  it("are counted in docs/migrating.md", { timeout: 600_000 }, () => {
    const page = readFileSync(new URL("../../docs/migrating.md", import.meta.url), "utf8");
    expect(page).toContain(stepsTable(recorded));
  });
});
