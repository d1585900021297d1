import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { MUTANTS } from "../mutation/promised-mutants.ts";
import { ROOT } from "./source.ts";

const page = readFileSync(join(ROOT, "docs/security.md"), "utf8");
const [, section = ""] = /\n## Threat model\n(.*?)\n## /s.exec(page) ?? [];
const lines = section
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| attacker"))
  .map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
const rows = lines.map((cells) => cells[3] ?? "");
describe("the threat model", () => {
  it("names for each line a test that is there", () => {
    expect(rows.length).toBeGreaterThan(15);
    const named = rows.map((row) => /^`(test\/[^`]+)`: (.+)$/.exec(row));
    expect(rows.filter((_, index) => !named[index])).toEqual([]);
    const lost = named.flatMap((match) => {
      const [, file = "", title = ""] = match ?? [];
      const text = existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), "utf8") : "";
      return text.includes(`"${title}"`) ? [] : [`${file}: ${title}`];
    });
    expect(lost).toEqual([]);
  });

  it("has for each guard a change that takes it away, and that the named test notices", () => {
    const guards = lines.map((cells) => /^`([^`]+)`$/.exec(cells[4] ?? "")?.[1]);
    expect(lines.filter((_, at) => guards[at] === undefined)).toEqual([]);
    const unproven = lines.flatMap((cells, at) => {
      const [, file = "", title = ""] = /^`(test\/[^`]+)`: (.+)$/.exec(cells[3] ?? "") ?? [];
      const [first = ""] = title.split("%");
      const guard = guards[at];
      const isTaken = MUTANTS.some(
        (mutant) =>
          mutant.file === guard &&
          mutant.test === file &&
          mutant.noticedBy.startsWith(first.slice(0, mutant.noticedBy.length)),
      );
      return isTaken ? [] : [`${guard}: ${title}`];
    });
    expect(unproven).toEqual([]);
  });
});
