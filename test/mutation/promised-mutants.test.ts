import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../architecture/source.ts";
import { isApplicable } from "./mutant.ts";
import { MUTANTS } from "./promised-mutants.ts";

describe("a change of the code that breaks a promise", () => {
  it.each(MUTANTS.map((mutant) => [mutant.breaks, mutant] as const))(
    "can still be made: %s",
    (_, mutant) => {
      expect(isApplicable(readFileSync(join(ROOT, mutant.file), "utf8"), mutant)).toBe(true);
    },
  );
});
