import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PARTS } from "./parts.ts";

const RUN = join(import.meta.dirname, "run.ts");
const nightly = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  spawnSync(process.execPath, [RUN, ...args], {
    encoding: "utf8",
    env: { ...process.env, ...env },
  });

describe("npm run nightly", () => {
  it("runs the parts that are named, with their numbers, and says at the end what each did", () => {
    const { status, stdout } = nightly([
      "--only",
      "answers,simulation",
      "--answers",
      "200",
      "--seeds",
      "1",
      "--first-seed",
      "7",
    ]);
    expect(status).toBe(0);
    expect(stdout).toContain("200 damaged answers:");
    expect(stdout).toContain("1 passed, 0 failed");
    expect(stdout.trimEnd().split("\n").slice(-2)).toEqual([
      expect.stringMatching(/^answers: passed in \d+ s: node .*fuzz\.ts 200 7$/),
      expect.stringMatching(
        /^simulation: passed in \d+ s: npm run --silent simulate -- --seeds 1 --first-seed 7$/,
      ),
    ]);
  });

  it("is not green where a part cannot run", () => {
    const { status, stdout } = nightly(["--only", "chaos"], {
      KUBEBUILDER_ASSETS: join(import.meta.dirname, "none"),
    });
    expect(status).toBe(1);
    expect(stdout).toMatch(
      /^chaos: not run: there is no etcd in ".*"; "npm run prove -- control-plane --build" builds it there, with Go$/m,
    );
  });

  it("refuses a part that there is not, and a number that is none", () => {
    expect(nightly(["--only", "dreams"])).toMatchObject({
      status: 2,
      stderr:
        'Cannot run part "dreams": there are answers, properties, keda, simulation, beside, chaos, reads, promised, mutation, rooms\n',
    });
    expect(nightly(["--answers", "many"])).toMatchObject({
      status: 2,
      stderr: 'Cannot run: --answers must be a number above 0, not "many"\n',
    });
  });

  it("has each part in the table of docs/proofs.md", () => {
    const page = readFileSync(join(import.meta.dirname, "../../docs/proofs.md"), "utf8");
    const section = page.slice(page.indexOf("## At night"));
    expect([...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)).toEqual(
      Object.keys(PARTS),
    );
  });
});
