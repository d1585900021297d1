import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { AWS_KINDS, SOURCE_KINDS } from "../../lib/rules/model/metric-source.ts";
import { KINDS } from "../../lib/rules/sources/kinds.ts";
import { sourceNamed } from "../../lib/rules/sources/sources.ts";
import { filesBelow, ROOT } from "./source.ts";

const page = readFileSync(join(ROOT, "docs/sources.md"), "utf8");
/** The first cell of each row of the table below a heading. */
const firstCells = (heading: string): string => {
  const [, section = ""] = new RegExp(`\n#+ ${heading}\n(.*?)(?:\n#|$)`, "s").exec(page) ?? [];
  const rows = section.split("\n").filter((line) => line.startsWith("| `"));
  return rows.map((row) => row.split("|")[1]).join();
};

describe("a kind of metric source", () => {
  it.each(["Kinds", "Cost"])('has a row in the table of docs/sources.md below "%s"', (heading) => {
    const cells = firstCells(heading);
    expect(SOURCE_KINDS.filter((kind) => !cells.includes(`\`${kind}\``))).toEqual([]);
  });

  it("is asked by a source that answers its kind, and is a service of AWS where it has a role", () => {
    for (const kind of SOURCE_KINDS) {
      const { asking } = sourceNamed(KINDS[kind].asks);
      expect([kind, asking.way === "registered" && asking.kinds.includes(kind)]).toEqual([
        kind,
        true,
      ]);
    }
    expect(SOURCE_KINDS.filter((kind) => KINDS[kind].aws)).toEqual(AWS_KINDS);
  });

  it("is asked for by name only where fields are refused that one kind has, and where people look for sources", () => {
    const files = filesBelow("lib");
    expect(files.length).toBeGreaterThan(500);
    const kinds = SOURCE_KINDS.join("|");
    const compares = new RegExp(`kind [!=]== "(?:${kinds})"|case "(?:${kinds})":`);
    expect(
      files.filter((path) => compares.test(readFileSync(join(ROOT, path), "utf8"))).toSorted(),
    ).toEqual([
      "lib/answers/service/sources/source-faults.ts",
      // How a server of each kind is looked for in a cluster.
      "lib/command/commands/source-discover.ts",
      "lib/rules/manifest/import/keda/discover.ts",
    ]);
  });
});
