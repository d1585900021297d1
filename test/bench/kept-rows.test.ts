import { describe, expect, it } from "vitest";
import { type KeptTable, withRows } from "./kept-rows.ts";

const TABLE: KeptTable = { name: "speed", head: ["N", "controller", "s"], keyCells: 2 };
const EMPTY = "before\n<!-- speed -->\n\n<!-- end of speed -->\nbehind\n";

describe("a table whose rows are measured in several runs", () => {
  it("keeps the rows of other runs, and has the rows of this one in their place, in order of size", () => {
    const first = withRows(EMPTY, TABLE, [
      ["3,000", "tuned", "45"],
      ["300", "tuned", "5"],
    ]);
    const second = withRows(first, TABLE, [
      ["3,000", "tuned", "44"],
      ["1,000", "default", "50"],
    ]);
    expect(second).toBe(
      "before\n<!-- speed -->\n| N | controller | s |\n| --- | --- | --- |\n| 300 | tuned | 5 |\n| 1,000 | default | 50 |\n| 3,000 | tuned | 44 |\n<!-- end of speed -->\nbehind\n",
    );
  });

  it("is refused on a page without its place", () => {
    expect(() => withRows("no table", TABLE, [])).toThrow('Cannot write the table "speed"');
  });
});
