import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageOf, PAGE_ROOM } from "./rooms.ts";
import { type Import, parsedFiles, ROOT } from "./source.ts";

interface Declared {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
}
const { dependencies, devDependencies, scripts }: Declared = JSON.parse(
  readFileSync(join(ROOT, "package.json"), "utf8"),
);

/** Packages that no file imports: what uses each of them. */
const USED_BY: Readonly<Record<string, string>> = {
  "@biomejs/biome": "npm run lint",
  "@types/aws-lambda": "types of the events in functions",
  "@types/d3-array": "types of d3-array",
  "@types/d3-scale": "types of d3-scale",
  "@types/d3-shape": "types of d3-shape",
  "@types/d3-time-format": "types of d3-time-format",
  "@types/node": "types of Node",
  "@vitest/coverage-v8": "vitest --coverage",
  "axe-core": "the dashboard's tests",
  "d3-array": "the dashboard's page",
  "d3-scale": "the dashboard's page",
  "d3-shape": "the dashboard's page",
  "d3-time-format": "the dashboard's page",
  osls: "npm run package",
  oxlint: "npm run lint",
  "oxlint-tsgolint": "oxlint --type-aware",
  "playwright-core": "the dashboard's tests",
  "tidemark-command": "npx tidemark",
};

const named = (imports: readonly Import[]): ReadonlySet<string> =>
  new Set(
    imports
      .filter(({ specifier }) => !/^(\.|node:)/.test(specifier))
      .map(({ specifier }) => packageOf(specifier)),
  );
const importsOf = (folders: readonly string[]): readonly Import[] =>
  parsedFiles(folders).flatMap(({ imports }) => imports);

/** The page of the dashboard is shipped as esbuild has built it, with what it imports. */
const shipped = named(
  parsedFiles(["lib", "functions"])
    .filter(({ path }) => !path.startsWith(`${PAGE_ROOM}/`))
    .flatMap(({ imports }) => imports)
    .filter(({ kind }) => kind !== "type"),
);
const atRoot = readdirSync(ROOT).filter((name) => name.endsWith(".ts"));
const developed = named(importsOf(["test", "docs", "build", PAGE_ROOM, ...atRoot]));

describe("the dependencies", () => {
  it("were found in package.json", () => {
    expect(shipped.size).toBeGreaterThan(10);
    expect(developed.size).toBeGreaterThan(10);
    expect(Object.keys(dependencies)).toContain("zod");
  });

  it("are each imported by code that runs", () => {
    expect(Object.keys(dependencies).filter((name) => !shipped.has(name))).toEqual([]);
  });

  it("for development are each imported by tests, figures or the build, or have a use of another kind", () => {
    expect(
      Object.keys(devDependencies).filter(
        (name) => !developed.has(name) && USED_BY[name] === undefined,
      ),
    ).toEqual([]);
  });

  it("that no file imports are declared, and the scripts that use them exist", () => {
    const used = Object.entries(USED_BY);
    expect(used.filter(([name]) => devDependencies[name] === undefined)).toEqual([]);
    const lost = used.filter(
      ([, by]) => by.startsWith("npm run ") && scripts[by.slice("npm run ".length)] === undefined,
    );
    expect(lost).toEqual([]);
  });
});
