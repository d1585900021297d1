import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { filesBelow, ROOT } from "./source.ts";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const page = read("docs/contributing.md");

/** The last number of the row of a table that begins with these words. */
const nowOf = (row: string): string => {
  const line = page.split("\n").find((each) => each.startsWith(`| ${row} |`));
  if (line === undefined) throw new Error(`docs/contributing.md has no row "${row}"`);
  return line.split("|").at(-2)?.trim() ?? "";
};
const numberOf = (text: string): number =>
  Number(/^[\d,]+/.exec(text)?.[0].replaceAll(",", "") ?? Number.NaN);

/** What follows a text up to the next empty line that begins another walk, or the next heading. */
const walkFrom = (begin: string): readonly string[] => {
  const from = page.indexOf(begin);
  if (from < 0) throw new Error(`docs/contributing.md has no walk "${begin}"`);
  const after = page.slice(from + begin.length);
  const text = after.slice(0, after.search(/\n\n(?:From |The event |## )/));
  return [
    ...new Set([...text.matchAll(/`((?:lib|functions)\/[\w./-]+)`/g)].map(([, at]) => at ?? "")),
  ];
};

describe("what docs/contributing.md counts", () => {
  it.each([
    ["from the event to the PUT", "## From the event to the PUT"],
    ["from the answer of a PUT to its event", "The event of its answer:"],
    ["from `explain` to its sentences", "From `explain` to its sentences:"],
    ["from `apply` to the stored autoscaler", "From `apply` to the stored autoscaler:"],
    [
      "from a metric of a manifest to the answer of its source",
      "From a metric of a manifest to the answer of its source:",
    ],
  ])("is the number of files on the walk: %s", (row, begin) => {
    expect(walkFrom(begin).length).toBe(numberOf(nowOf(row)));
  });

  it.each([
    ["add a metric source", "source"],
    ["add a metric source with a kind of its own", "kind"],
    ["add a step of the native rules", "step"],
    ["add a field to the scale event", "event-field"],
  ])("is the number of files of the patch: %s", (row, patch) => {
    const files = read(`test/recipes/${patch}.patch`).match(/^\+\+\+ b\//gm) ?? [];
    expect(files.length).toBe(numberOf(nowOf(row)));
  });

  it("is every recipe of CONTRIBUTING.md", () => {
    const recipes = read("CONTRIBUTING.md").match(/^### Add /gm) ?? [];
    const words = ["four", "five", "six", "seven", "eight"];
    expect(page).toContain(`has ${words[recipes.length - 4]} recipes.`);
  });

  it("is every script of package.json", () => {
    const { scripts } = JSON.parse(read("package.json"));
    expect(page).toContain(`\`package.json\` has ${Object.keys(scripts).length} scripts.`);
  });

  it("is the packages of the lockfile that are not only tools", () => {
    const packages: Readonly<Record<string, { dev?: true; devOptional?: true; link?: true }>> =
      JSON.parse(read("package-lock.json")).packages;
    const shipped = Object.entries(packages).filter(
      ([path, { dev, devOptional, link }]) =>
        path.includes("node_modules/") && !dev && !devOptional && !link,
    );
    expect(shipped.length).toBe(numberOf(nowOf("packages of the repository without tools")));
  });

  it("is within a tenth of the lines and files of lib", () => {
    const files = filesBelow("lib", ".ts");
    const lines = files.reduce((sum, file) => sum + read(file).split("\n").length - 1, 0);
    const isNear = (is: number, says: number): boolean => Math.abs(is - says) < says / 10;
    const said = numberOf(nowOf("lines in `lib`, at a width of 100"));
    expect([lines, said, isNear(lines, said)]).toEqual([lines, said, true]);
    const saidFiles = numberOf(nowOf("files in `lib`; of at most 20 lines"));
    expect([files.length, saidFiles, isNear(files.length, saidFiles)]).toEqual([
      files.length,
      saidFiles,
      true,
    ]);
  });
});
