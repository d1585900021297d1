import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import config from "../../vitest.config.ts";
import { ROOT } from "./source.ts";

const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const ci = readFileSync(join(ROOT, ".ci/run"), "utf8");
const projects = (config.test?.projects ?? []).map((one) => (typeof one === "object" && "test" in one ? String(one.test?.name) : ""));
const projectsOf = (script: string): readonly string[] => [...(scripts[script] ?? "").matchAll(/--project (\S+)/g)].map(([, name = ""]) => name);

describe("the projects of the tests", () => {
  it("are unit, contracts and conformance for a person, and those that take long", () => {
    expect(projectsOf("test")).toEqual(["unit", "contracts", "conformance"]);
    expect(projectsOf("test:long")).toEqual(["simulation", "e2e", "real-server", "infra"]);
    const apart = ["simulation", "e2e", "infra"].flatMap((name) => projectsOf(`test:${name}`));
    expect(apart).toEqual(projectsOf("test:long"));
  });

  it("name files that exist", () => {
    const named = readFileSync(join(ROOT, "vitest.config.ts"), "utf8").match(/test\/[\w/.-]+\.test\.ts/g) ?? [];
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it("are each run once by CI, the README's command among them", () => {
    expect([...projectsOf("test"), ...projectsOf("test:long")].toSorted()).toEqual(projects.toSorted());
    expect([...ci.matchAll(/^tests (.+)$/gm)].map(([, command]) => command)).toEqual(["npm test", "npm run --silent test:long"]);
    expect(readFileSync(join(ROOT, "README.md"), "utf8")).toContain("npm test");
  });
});

/** Runs `.ci/run` in a folder of its own, with a stand-in for npm that answers as told. */
const ciWith = (answers: {
  readonly test: string;
  readonly long: string;
  readonly types?: string;
}): { readonly last: string; readonly status: number | null } => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-ci-"));
  try {
    mkdirSync(join(folder, "bin"));
    cpSync(join(ROOT, ".ci"), join(folder, ".ci"), { recursive: true });
    const npm = `#!/bin/sh\ncase "$*" in\n  *test:long) ${answers.long};;\n  test) ${answers.test};;\n  *types) ${answers.types ?? "exit 0"};;\nesac\n`;
    writeFileSync(join(folder, "bin/npm"), npm);
    chmodSync(join(folder, "bin/npm"), 0o755);
    const env = { ...process.env, PATH: `${join(folder, "bin")}:${process.env["PATH"]}` };
    const { stdout, status } = spawnSync("bash", [join(folder, ".ci/run")], { encoding: "utf8", env });
    return { last: stdout.trimEnd().split("\n").at(-1) ?? "", status };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

describe("the last line of .ci/run", () => {
  it.each([
    ["adds what both runs of the tests counted", { test: "echo 5 passed, 0 failed", long: "echo 3 passed, 0 failed" }, "8 passed, 0 failed", 0],
    ["adds the failures of both runs", { test: "echo 4 passed, 1 failed; exit 1", long: "echo 1 passed, 2 failed; exit 1" }, "5 passed, 3 failed", 1],
    ["counts a run without a line as one failure", { test: "echo 5 passed, 0 failed", long: "exit 1" }, "5 passed, 1 failed", 1],
    ["counts a run without tests as one failure", { test: "echo 5 passed, 0 failed", long: "echo 0 passed, 0 failed" }, "5 passed, 1 failed", 1],
    [
      "counts a failed check as one failure",
      { test: "echo 5 passed, 0 failed", long: "echo 3 passed, 0 failed", types: "exit 2" },
      "8 passed, 1 failed",
      1,
    ],
  ])("%s", (_name, answers, last, status) => {
    expect(ciWith(answers)).toEqual({ last, status });
  });
});
