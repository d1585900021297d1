import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { LONGEST, spread } from "./order.ts";

describe("the order of the files of tests", () => {
  it("names only files that there are", () => {
    expect(LONGEST.filter((file) => !existsSync(file))).toEqual([]);
  });

  it("begins with the first of both lists, and spreads the shorter one over the longer one", () => {
    expect(spread(["A", "B"], ["1", "2", "3", "4", "5", "6"])).toEqual(["A", "1", "2", "3", "B", "4", "5", "6"]);
    expect(spread([], ["1", "2"])).toEqual(["1", "2"]);
    expect(spread(["A", "B"], [])).toEqual(["A", "B"]);
  });
});
