import { readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { forksIn } from "./dialect-forks.ts";
import { parsedFiles, ROOT } from "./source.ts";

/**
 * Rooms that may tell dialects apart: one decides by them, one makes their specs, and one declares
 * them.
 */
const KNOWING = ["lib/rules/policy/", "lib/rules/manifest/", "lib/rules/model/"];
/** What shows the name that is stored in a spec, and compares it with nothing. */
const SHOWING = [
  "lib/answers/service/views/autoscaler-view.ts",
  "lib/command/output/describe-sheet.ts",
  "lib/dashboard/page/autoscaler/autoscaler-page.tsx",
];

const found = forksIn(["lib", "functions"]);
const outside = found.filter(({ path }) => !KNOWING.some((room) => path.startsWith(room)));

describe("a dialect", () => {
  it("is told apart somewhere, so that the search is known to see files and forks", () => {
    expect(found.map(({ path }) => path)).toContain("lib/rules/policy/dialects.ts");
    expect(
      found.filter(({ path }) => path.startsWith("lib/rules/manifest/")).length,
    ).toBeGreaterThan(0);
  });

  it("is never told apart outside of the rooms that decide and convert: the others ask it (lib/rules/policy/dialect.ts)", () => {
    expect(
      outside
        .filter(({ kind, path }) => kind === "fork" || !SHOWING.includes(path))
        .map(({ path, line, text }) => `${path}:${line}: ${text}`),
    ).toEqual([]);
  });

  it("is told apart in one place of the policy: the lookup in the table that lists all dialects", () => {
    const forks = found.filter(
      ({ kind, path }) => kind === "fork" && path.startsWith("lib/rules/policy/"),
    );
    expect(forks.map(({ path, text }) => `${path}: ${text}`)).toEqual([
      "lib/rules/policy/dialects.ts: DIALECT_OF[spec.dialect]",
    ]);
  });

  it("has a line in that table, and the table lists no more: each folder, once", () => {
    const table =
      /const DIALECT_OF[^{]*\{[^}]*\}[^{]*\{([^}]*)\}/.exec(
        readFileSync(join(ROOT, "lib/rules/policy/dialects.ts"), "utf8"),
      )?.[1] ?? "";
    const names = [...table.matchAll(/^ {2}"?([\w-]+)"?: \w+,$/gm)].map(([, name]) => name);
    expect(names.sort()).toEqual(Object.keys(USES).filter((folder) => !COMMON.includes(folder)));
  });
});

/**
 * What a folder of the policy may use beside itself. The dialects of an HPA run its steps, with
 * some put in their place.
 */
const USES: Readonly<Record<string, readonly string[]>> = {
  bounds: [],
  hpa: ["shared"],
  "multi-threshold": ["shared", "hpa"],
  native: ["shared"],
  original: ["shared", "hpa"],
  shared: [],
  watermark: ["shared"],
};

/** Folders that are no dialect. Those of this list are for every one. */
const COMMON: readonly string[] = ["bounds", "shared"];

describe("the folders of lib/rules/policy", () => {
  const all = parsedFiles(["lib", "functions"]);
  const files = all.filter(({ path }) => path.startsWith("lib/rules/policy/"));
  const folderOf = (path: string): string => path.split("/").slice(3, -1)[0] ?? "";
  const arrows = files.flatMap(({ path, imports }) =>
    imports
      .filter(({ specifier }) => specifier.startsWith("."))
      .map(({ specifier }) => ({
        path,
        from: folderOf(path),
        target: posix.join(dirname(path), specifier),
      }))
      .map((arrow) => ({ ...arrow, to: folderOf(arrow.target) })),
  );

  it("are the ones on the list", () => {
    expect(
      [...new Set(files.map(({ path }) => folderOf(path)))]
        .filter((folder) => folder !== "")
        .sort(),
    ).toEqual(Object.keys(USES));
    const dialects = files
      .filter(({ path }) => path.endsWith("/dialect.ts"))
      .map(({ path }) => folderOf(path));
    expect(dialects.filter((folder) => folder !== "").sort()).toEqual(
      Object.keys(USES).filter((folder) => !COMMON.includes(folder)),
    );
  });

  it("use no other dialect, but for the two that are an HPA's", () => {
    const strays = arrows.filter(
      ({ from, to }) => from !== "" && to !== "" && from !== to && !USES[from]?.includes(to),
    );
    expect(strays.map(({ path, target }) => `${path} -> ${target}`)).toEqual([]);
  });

  it("are reached from dialects.ts alone, but for what they share", () => {
    const strays = arrows.filter(
      ({ path, from, to }) =>
        from === "" && to !== "" && !COMMON.includes(to) && path !== "lib/rules/policy/dialects.ts",
    );
    expect(strays.map(({ path, target }) => `${path} -> ${target}`)).toEqual([]);
  });

  it("are reached by no other room, but for what they share", () => {
    const strays = all
      .filter(({ path }) => !path.startsWith("lib/rules/policy/"))
      .flatMap(({ path, imports }) =>
        imports.map(({ specifier }) => ({ path, target: posix.join(dirname(path), specifier) })),
      )
      .filter(
        ({ target }) =>
          target.startsWith("lib/rules/policy/") && !["", ...COMMON].includes(folderOf(target)),
      );
    expect(strays.map(({ path, target }) => `${path} -> ${target}`)).toEqual([]);
  });
});
