import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isApplicable, type PromisedMutant } from "./mutant.ts";
import { MUTANTS } from "./promised-mutants.ts";

/**
 * `npm run nightly -- --only promised`: small changes of the code around the rules, each of which
 * breaks a promise of docs/protocol.md or takes a guard of docs/security.md away. For each there is
 * one test that must notice it. They are played in a copy of the repository. Words of what they
 * break choose some. Exit code 1 where a test passes in spite of its change, or fails without it.
 */
const ROOT = join(import.meta.dirname, "../..");
const COPIED = [
  "bin",
  "build",
  "docs",
  "examples",
  "functions",
  "infra",
  "lib",
  "test",
  "package-lock.json",
  "package.json",
  "serverless.yml",
  "tsconfig.json",
  "vitest.config.ts",
];

const copyOfRepository = (): string => {
  const copy = mkdtempSync(join(tmpdir(), "tidemark-promised-"));
  for (const path of COPIED) cpSync(join(ROOT, path), join(copy, path), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  return copy;
};

const plain = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

const passes = (copy: string, { test, noticedBy }: PromisedMutant): boolean => {
  const args = [
    join(ROOT, "node_modules/vitest/vitest.mjs"),
    "run",
    test,
    "-t",
    plain(noticedBy),
    "--retry",
    "0",
  ];
  const { status, stdout } = spawnSync(process.execPath, args, {
    cwd: copy,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
  });
  if (!/Tests .*(?:passed|failed)/.test(stdout))
    throw new Error(`no test "${noticedBy}" ran in ${test}:\n${stdout}`);
  return status === 0;
};

const problemWith = (copy: string, mutant: PromisedMutant): string | undefined => {
  const path = join(copy, mutant.file);
  const whole = readFileSync(path, "utf8");
  if (!isApplicable(whole, mutant)) return `${mutant.file} no longer has once: ${mutant.from}`;
  if (!passes(copy, mutant)) return `fails without the change: ${mutant.test}`;
  writeFileSync(
    path,
    whole.replace(mutant.from, () => mutant.to),
  );
  try {
    return passes(copy, mutant)
      ? `nothing notices the change: ${mutant.test} "${mutant.noticedBy}" passes`
      : undefined;
  } finally {
    writeFileSync(path, whole);
  }
};

const copy = copyOfRepository();
try {
  let failed = 0;
  const words = process.argv.slice(2);
  const chosen = MUTANTS.filter(
    ({ breaks }) => words.length === 0 || words.some((word) => breaks.includes(word)),
  );
  for (const mutant of chosen) {
    const problem = problemWith(copy, mutant);
    if (problem !== undefined) failed++;
    process.stdout.write(
      `${problem === undefined ? "✓" : "✗"} ${mutant.breaks}${problem === undefined ? "" : `: ${problem}`}\n`,
    );
  }
  process.stdout.write(`${chosen.length - failed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  rmSync(copy, { recursive: true, force: true });
}
