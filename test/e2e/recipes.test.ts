import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../architecture/source.ts";

interface Recipe {
  readonly patch: string;
  /** Most files that a person edits for it, documentation included. */
  readonly filesMax: number;
  /** The page that is then written from the code: `npm run docs -- NAME`. */
  readonly page: string;
  readonly tests: readonly string[];
}

/**
 * The recipes of CONTRIBUTING.md that are followed here. Where a change of the code breaks a patch,
 * follow the recipe once more and store what it took.
 */
const RECIPES: Readonly<Record<string, Recipe>> = {
  "a metric source": {
    patch: "source.patch",
    filesMax: 4,
    page: "crd",
    tests: [
      "test/sources/missing.test.ts",
      "test/manifest/native/page.test.ts",
      "test/manifest/native/schema.test.ts",
    ],
  },
  "a metric source with a kind of its own": {
    patch: "kind.patch",
    filesMax: 6,
    page: "crd",
    tests: ["test/architecture/source-kinds.test.ts", "test/sources/missing.test.ts"],
  },
  "a step of the native rules": {
    patch: "step.patch",
    filesMax: 4,
    page: "crd",
    tests: [
      "test/policy/native/properties.test.ts",
      "test/manifest/native/page.test.ts",
      "test/manifest/native/schema.test.ts",
      "test/manifest/native/rule-table.test.ts",
    ],
  },
  "a field of the scale event": {
    patch: "event-field.patch",
    filesMax: 4,
    page: "openapi",
    tests: ["test/sync/settle.test.ts", "test/service/reading.test.ts", "test/api/openapi.test.ts"],
  },
};

const patchOf = ({ patch }: Recipe): string => join(ROOT, "test/recipes", patch);
const filesOf = (recipe: Recipe): readonly string[] =>
  [...readFileSync(patchOf(recipe), "utf8").matchAll(/^\+\+\+ b\/(.+)$/gm)].map(
    ([, file = ""]) => file,
  );

/** The files of this checkout in a folder of their own, beside the packages of this one. */
const copyOfCheckout = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-recipe-"));
  const files = execFileSync(
    "git",
    ["-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
    { encoding: "utf8" },
  );
  const kept = files
    .split("\0")
    .filter((file) =>
      /^(bin|build|docs|examples|functions|infra|lib|test)\/|^[^/]+\.(ts|json)$/.test(file),
    );
  for (const file of kept) cpSync(join(ROOT, file), join(folder, file));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return folder;
};

const execute = promisify(execFile);

/** Applies a recipe to a copy, or only looks whether it would apply. */
const follow = (folder: string, recipe: Recipe, ...options: readonly string[]) =>
  execute("git", ["apply", "-C1", ...options, patchOf(recipe)], {
    cwd: folder,
    env: { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir() },
  });

describe("the recipe for", () => {
  let folder = "";
  beforeAll(() => {
    folder = copyOfCheckout();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(Object.entries(RECIPES))("%s takes few files of this checkout", async (_name, recipe) => {
    expect(filesOf(recipe).length).toBeGreaterThan(1);
    expect(filesOf(recipe).length).toBeLessThanOrEqual(recipe.filesMax);
    await follow(folder, recipe, "--check");
  });

  it("each of them, followed one after the other, compiles and passes its tests", {
    timeout: 300_000,
  }, async () => {
    const recipes = Object.values(RECIPES);
    const run = (file: string, ...args: readonly string[]) =>
      execute(process.execPath, [file, ...args], { cwd: folder });
    for (const recipe of recipes) await follow(folder, recipe);
    await run(join(ROOT, "node_modules/typescript/bin/tsc"), "-p", ".");
    for (const page of new Set(recipes.map((recipe) => recipe.page)))
      await run("docs/figures/run.ts", page);
    const tests = new Set(recipes.flatMap((recipe) => recipe.tests));
    const { stdout } = await run(
      join(ROOT, "node_modules/vitest/vitest.mjs"),
      "run",
      "--project",
      "unit",
      ...tests,
    );
    expect(stdout).toMatch(/\n[1-9]\d* passed, 0 failed\n/);
  });
});
