import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { filesBelow, ROOT } from "./source.ts";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const guide = read("CONTRIBUTING.md");
const page = read("docs/contributing.md");

/** The cell of the last column in the row that begins so. */
const told = (row: string): string => {
  const line = page.split("\n").find((text) => text.startsWith(`| ${row}`));
  return line?.split("|").at(-2)?.trim() ?? "";
};

/** Files that a text names, tests not, each once; and the new files that it asks for. */
const filesOf = (text: string): number => {
  const named = [...text.matchAll(/`((?:lib|functions|infra|docs)\/[\w./-]+\.\w+)`/g)].map(([, path]) => path);
  return new Set(named).size + [...text.matchAll(/A file in `lib/g)].length;
};

/** The numbered steps of a recipe. */
const recipe = (heading: string): string => {
  const section = guide.split(/^### /m).find((text) => text.startsWith(heading)) ?? "";
  return (section.match(/^\d+\. .*$/gm) ?? []).join("\n");
};

const near = (cell: string, count: number): void => {
  const stated = Number(cell.replaceAll(/\D/g, ""));
  expect(Math.abs(count - stated) / count, `docs/contributing.md says ${stated}, there are ${count}`).toBeLessThan(0.15);
};

describe("docs/contributing.md", () => {
  it.each([
    ["add a metric source", "Add a metric source"],
    ["add a step of the native rules", "Add a step"],
    ["add a command", "Add a command"],
    ["add a field to the scale event", "Add a field to the scale event"],
    ["add a way to connect a cluster", "Add a way to connect a cluster"],
  ])("counts the files of the recipe: %s", (row, heading) => {
    expect(filesOf(recipe(heading))).toBeGreaterThan(2);
    expect(told(row)).toBe(String(filesOf(recipe(heading))));
  });

  it("counts the files from the event to the PUT", () => {
    const way = page.slice(page.indexOf("## From the event to the PUT"));
    expect(told("from the event to the PUT")).toBe(String(filesOf(way)));
  });

  it("counts the lines of lib and the comments that cite a specification, within 15 %", () => {
    const lines = filesBelow("lib").reduce((sum, path) => sum + read(path).split("\n").length - 1, 0);
    near(told("lines in `lib`"), lines);
    const code = ["lib", "functions", "test"].flatMap((folder) => filesBelow(folder));
    const cited = code.reduce((sum, path) => sum + [...read(path).matchAll(/\b(?:hpa|watermark|proposals)\.md,? §?\d/g)].length, 0);
    near(told("comments that cite"), cited);
  });
});
