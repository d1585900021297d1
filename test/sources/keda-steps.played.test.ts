import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { AT_NIGHT } from "../runs.ts";
import { compared, recordedCells, stepsTable } from "./keda/steps/differences.ts";
import { readRecorded } from "./keda/steps/recorded.ts";

const recorded = readRecorded();

/** Every so many-th object; at night all of them. */
const EACH = AT_NIGHT ? 1 : 5;

describe("the recorded steps of KEDA", () => {
  it("give the same count, or a note names the difference", { timeout: 600_000 }, () => {
    const played = recorded.filter((_, at) => at % EACH === 0);
    const unnamed = played.filter((one) => {
      const { isSame, named } = compared(one);
      return !isSame && named.length === 0;
    });
    expect(recorded.length).toBeGreaterThan(2_500);
    expect(unnamed).toEqual([]);
  });

  it("are counted in docs/migrating.md", { timeout: 600_000 }, () => {
    const page = readFileSync(new URL("../../docs/migrating.md", import.meta.url), "utf8");
    for (const cells of recordedCells(recorded)) expect(page).toContain(cells);
    // The outcomes need all of them to be played.
    if (AT_NIGHT) expect(page).toContain(stepsTable(recorded));
  });
});
