import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parsedFiles, ROOT } from "./source.ts";

const files = parsedFiles(["lib", "functions"]);
const lines = (text: string): number => text.trimEnd().split("\n").length;
const longer = (prefix: string, limit: number): readonly string[] =>
  files
    .filter(({ path, text }) => path.startsWith(prefix) && lines(text) > limit)
    .map(({ path, text }) => `${path}: ${lines(text)} lines`);

/** Every file that git knows or would add, without what only machines read. */
const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: ROOT,
  encoding: "utf8",
})
  .split("\n")
  .filter(
    (path) =>
      path !== "" &&
      !/^(package-lock\.json|lib\/embedded\/traces\/|test\/conformance\/vectors\/|.*\.(png|gz|csv))/.test(
        path,
      ),
  );

/** Calls that write to the terminal, each with its argument on one line. */
const writesIn = (path: string): readonly string[] =>
  readFileSync(join(ROOT, path), "utf8")
    .replace(
      /\.write\(\n\s*([^;]*?);/g,
      (_, rest: string) => `.write(${rest.replace(/\s*\n\s*/g, "")};`,
    )
    .split("\n")
    .filter((line) =>
      /\b(stdout|stderr|stream)\.write\((?!.*(\.written\(\)|\$\{BEGIN\}))/.test(line),
    )
    .map((line) => `${path}: ${line.trim()}`);

const linesWith = (pattern: RegExp, paths: readonly string[]): readonly string[] =>
  paths.flatMap((path) =>
    readFileSync(join(ROOT, path), "utf8")
      .split("\n")
      .flatMap((line, index) =>
        pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
      ),
  );

describe("the files", () => {
  it("were found in every room", () => {
    expect(files.length).toBeGreaterThan(10);
    expect(tracked).toContain("package.json");
  });

  it("hold one idea: 400 lines at most, handlers fewer than 60", () => {
    expect(longer("lib/", 400)).toEqual([]);
    expect(longer("functions/", 59)).toEqual([]);
  });

  it("have comments of 100 columns: only a drawing may be wider", () => {
    const wide = files.flatMap(({ path, text }) =>
      text.split("\n").flatMap((line, at) => {
        const comment = /^\s*(?:\*|\/\/) (.*)$/.exec(line)?.[1] ?? "";
        const isDrawing = /\S {3,}\S|[─│├└┐┘▁█]/.test(comment);
        return [...line].length > 100 && comment !== "" && !isDrawing ? [`${path}:${at + 1}`] : [];
      }),
    );
    expect(wide).toEqual([]);
  });

  it("are named for what they hold", () => {
    expect(
      tracked.filter((path) =>
        /(^|\/)(utils?|helpers?|common|misc|managers?)(\/|\.|-)/i.test(path),
      ),
    ).toEqual([]);
  });

  it("write to the terminal only what is Printed, and to the log only by the logger that escapes", () => {
    const code = files.map(({ path }) => path);
    expect(code.flatMap(writesIn)).toEqual([]);
    expect(
      linesWith(/\bnew Logger\(|\bconsole\.(log|info|warn|error|debug)\(/, code).map(
        (line) => line.split(":")[0],
      ),
    ).toEqual(["lib/stack/report/reporter.ts"]);
  });

  it("carry no path of a machine", () => {
    const homes = /(^|[^\w.])\/(home|root|Users|work)\/|\/tmp\/\w/;
    expect(linesWith(homes, tracked)).toEqual([]);
  });

  it("of the code leave nothing half done and silence no check", () => {
    const leftovers =
      /\b(TODO|FIXME|XXX|HACK)\b|@ts-(ignore|nocheck|expect-error)|biome-ignore|oxlint-disable/;
    const code = files.map(({ path }) => path);
    expect(linesWith(leftovers, code)).toEqual([]);
  });

  it("of the tests run whole: a skipped test says why", () => {
    const focused = /\b(it|test|describe)\.(only|skip|todo)\b(?!.*(because|until|needs))/;
    const tests = tracked.filter(
      (path) => path.endsWith(".test.ts") && path !== "test/architecture/shape.test.ts",
    );
    expect(tests.length).toBeGreaterThan(0);
    expect(linesWith(focused, tests)).toEqual([]);
  });
});
