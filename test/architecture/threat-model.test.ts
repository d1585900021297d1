import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "./source.ts";

const page = readFileSync(join(ROOT, "docs/security.md"), "utf8");
const [, section = ""] = /\n## Threat model\n(.*?)\n## /s.exec(page) ?? [];
const rows = section
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| attacker"))
  .map((line) => line.split(" | ").at(-1)?.replace(/ \|$/, "") ?? "");

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
});
