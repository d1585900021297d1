import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { hpa } from "../replay/world.ts";

const ROOT = join(import.meta.dirname, "../..");
const CI = join(ROOT, "examples/ci");

let folder: string;
let base: string;
const git = (...args: readonly string[]): string => {
  const { status, stdout, stderr } = spawnSync(
    "git",
    ["-c", "user.name=ada", "-c", "user.email=ada@example.com", ...args],
    { cwd: folder, encoding: "utf8" },
  );
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
};
const write = (path: string, content: string): void => writeFileSync(join(folder, path), content);
const target = (averageUtilization: number): string =>
  JSON.stringify(
    hpa({
      metrics: [
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization } },
        },
      ],
    }),
  );

/** A repository with a load and a manifest, and programs that stand for those of the runner. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-ci-"));
  for (const name of ["autoscalers", "loads", "ci", "bin"]) mkdirSync(join(folder, name));
  cpSync(join(CI, "replay-changed.sh"), join(folder, "ci/replay-changed.sh"));
  const rows = Array.from(
    { length: 300 },
    (_, at) => `${1_767_571_200 + at * 60},${at < 150 ? 90 : 280}`,
  );
  write("loads/web.csv", `timestamp,value\n${rows.join("\n")}\n`);
  write("autoscalers/web.yaml", target(50));
  const program = (name: string, text: string): void =>
    writeFileSync(join(folder, "bin", name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  program("tidemark", `exec "${process.execPath}" "${join(ROOT, "bin/tidemark.js")}" "$@"`);
  program("gh", `echo "$@" >> "${join(folder, "gh.log")}"`);
  git("init", "-q", "-b", "main");
  git("add", "autoscalers", "loads", "ci");
  git("commit", "-qm", "before");
  base = git("rev-parse", "HEAD");
  git("update-ref", "refs/remotes/origin/main", base);
  git("checkout", "-qb", "change");
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the steps as a runner does: each in a shell of its own, until one fails. */
const ran = (steps: readonly string[], env: Readonly<Record<string, string>>): number => {
  for (const step of steps) {
    const { status } = spawnSync("bash", ["-e", "-c", step], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, ...env, PATH: `${join(folder, "bin")}:${process.env["PATH"]}` },
    });
    if (status !== 0) return status ?? 1;
  }
  return 0;
};

const github = (): number => {
  const { jobs } = parse(readFileSync(join(CI, "github.yml"), "utf8"));
  const { env, steps } = jobs.replay;
  return ran(
    steps.flatMap(({ run }: { readonly run?: string }) => run ?? []),
    { ...env, GH_TOKEN: "none", GITHUB_BASE_REF: "main", GITHUB_HEAD_REF: "change" },
  );
};
const gitlab = (): number => {
  const { replay } = parse(readFileSync(join(CI, "gitlab.yml"), "utf8"));
  return ran([replay.script.join("\n")], {
    ...Object.fromEntries(Object.entries(replay.variables).map(([name, is]) => [name, String(is)])),
    CI_MERGE_REQUEST_DIFF_BASE_SHA: base,
  });
};
const changed = (averageUtilization: number): void => {
  write("autoscalers/web.yaml", target(averageUtilization));
  git("commit", "-qam", `target ${averageUtilization}`);
};

describe("the workflows of examples/ci", { timeout: 60_000 }, () => {
  it.each([
    [48, 0, "a small change passes"],
    [25, 1, "a change that doubles the pods fails, and is commented all the same"],
  ])("with a target of %d end with %d: %s", (averageUtilization, expected) => {
    changed(averageUtilization);
    expect(github()).toBe(expected);
    const comment = readFileSync(join(folder, "comment.md"), "utf8");
    expect(comment).toMatch(/^\| replica-hours \| [\d.]+ \| [\d.]+/m);
    expect(comment).toContain("before.yaml | web.yaml");
    expect(readFileSync(join(folder, "gh.log"), "utf8")).toContain(
      "pr comment change --body-file comment.md",
    );
    expect(gitlab()).toBe(expected);
  });
});
