import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "./source.ts";

/**
 * What each rule is there for, as the smallest file that breaks it. They are linted in a folder of their own under the repository's own configuration, so that a rule
 * that was switched off, or an override that shadows it, fails here.
 */
const CLOCKS_AND_IO = `import { readFileSync } from "node:fs";
export const probe = (): unknown => [Date.now(), performance.now(), setTimeout(() => 1, 1), process.env["A"], fetch, readFileSync];
`;
const NAMED_ZOD = `import { z } from "zod";\nexport const probe = z;\n`;

const BREAKS: readonly (readonly [what: string, path: string, snippet: string, rule: string])[] = [
  ["clocks, timers and environment in the nouns", "lib/model/clock.ts", CLOCKS_AND_IO, "noRestrictedGlobals"],
  ["clocks, timers and environment in the rules", "lib/policy/hpa/steps/clock.ts", CLOCKS_AND_IO, "noRestrictedGlobals"],
  ["I/O in the nouns", "lib/model/clock.ts", CLOCKS_AND_IO, "noRestrictedImports"],
  ["I/O in the rules", "lib/policy/hpa/steps/clock.ts", CLOCKS_AND_IO, "noRestrictedImports"],
  ["the named import of zod", "lib/manifest/zod.ts", NAMED_ZOD, "noRestrictedImports"],
  ["any", "lib/store/any.ts", "export const probe = (x: any): unknown => x;\n", "noExplicitAny"],
  ["non-null assertions", "lib/store/bang.ts", "export const probe = (x?: string): string => x!;\n", "noNonNullAssertion"],
  ["default exports", "lib/store/default.ts", "export default 1;\n", "noDefaultExport"],
  ["enums", "lib/store/enum.ts", "export enum Probe {\n  A,\n}\n", "noEnum"],
  ["the console", "lib/store/console.ts", "console.log(1);\n", "noConsole"],
  ["the console in handlers", "functions/console.ts", "console.log(1);\n", "noConsole"],
];
const FINE = ["lib/sync/clock.ts", "export const clock = (): number => Date.now();\n"] as const;
const PROMISES = `export const wait = async (): Promise<void> => {};
export const forget = (): void => {
  wait();
};
export const half = (x: "a" | "b"): string => {
  switch (x) {
    case "a":
      return "1";
  }
  return "";
};
`;

interface Diagnostic {
  readonly category: string;
  readonly location: { readonly path: string };
}
let folder = "";
let said: readonly string[] = [];
let globals = 0;

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-lint-"));
  for (const file of ["biome.json", ".oxlintrc.json", "tsconfig.json", ".gitignore", "package.json"]) cpSync(join(ROOT, file), join(folder, file));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  for (const [, path, snippet] of BREAKS) write(path, snippet);
  write(...FINE);
  write("lib/sync/promises.ts", PROMISES);
  const { stdout } = spawnSync(
    join(ROOT, "node_modules/.bin/biome"),
    ["lint", "--error-on-warnings", "--reporter=json", "--max-diagnostics=200", "."],
    {
      cwd: folder,
      encoding: "utf8",
    },
  );
  const report: { readonly diagnostics: readonly Diagnostic[] } = JSON.parse(stdout);
  said = report.diagnostics.map(({ category, location }) => `${location.path} ${category.split("/").at(-1)}`);
  globals = said.filter((line) => line === "lib/model/clock.ts noRestrictedGlobals").length;
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("biome", () => {
  it.each(BREAKS)("refuses %s: %s", (_what, path, _snippet, rule) => {
    expect(said).toContain(`${path} ${rule}`);
  });

  it("refuses each of the five globals of the probe", () => {
    expect(globals).toBe(5);
  });

  it("lets the clock be read elsewhere", () => {
    expect(said.filter((line) => line.startsWith(FINE[0]))).toEqual([]);
  });
});

describe("oxlint", () => {
  it("refuses floating promises and switches that forget a case", () => {
    const { stdout } = spawnSync(join(ROOT, "node_modules/.bin/oxlint"), ["--type-aware", "lib/sync"], { cwd: folder, encoding: "utf8" });
    expect(stdout).toContain("no-floating-promises");
    expect(stdout).toContain("switch-exhaustiveness-check");
  });
});
