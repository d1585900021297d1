import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { play } from "../play.ts";
import { buildIn, THIS_BUILD } from "./build.ts";
import { newestTag, olderCommit, olderTree } from "./older-tree.ts";

const SEED = 1;
const PATIENCE_MS = 60_000;

/** A clone may be shallow, and a package is none. */
const isClone = (): boolean => {
  try {
    return (
      execFileSync("git", ["rev-parse", "HEAD"], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      }).length > 0
    );
  } catch {
    return false;
  }
};

describe("a seed beside another build", () => {
  it.skipIf(!isClone())(
    "is played by environments of both, the other one's sources taken from its commit",
    { timeout: PATIENCE_MS },
    async () => {
      const folder = olderTree(olderCommit("HEAD"));
      try {
        const beside = await buildIn(folder);
        expect(beside.sync).not.toBe(THIS_BUILD.sync);
        const { violation, story } = await play(SEED, { faults: true, told: true, beside });
        expect(violation).toBeUndefined();
        const completed = (of: string): number =>
          story.filter((line) => line.includes(` ${of}-`) && line.includes("completes epoch"))
            .length;
        expect(completed("older")).toBeGreaterThan(3);
        expect(completed("env")).toBeGreaterThan(3);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );

  it("is by default the newest tag of an earlier commit, also where this very commit has a tag", () => {
    const folder = mkdtempSync(join(tmpdir(), "tidemark-tags-"));
    let day = 1;
    const git = (...args: readonly string[]): void => {
      const env = { ...process.env, GIT_COMMITTER_DATE: `2026-03-0${day++}T12:00:00Z` };
      execFileSync(
        "git",
        ["-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.com", ...args],
        { stdio: "ignore", env },
      );
    };
    try {
      git("init", "--quiet");
      git("commit", "--quiet", "--allow-empty", "-m", "one");
      expect(newestTag(folder)).toBeUndefined();
      git("tag", "v0.1.0");
      git("commit", "--quiet", "--allow-empty", "-m", "two");
      git("tag", "v0.2.0");
      expect(newestTag(folder)).toBe("v0.1.0");
      git("commit", "--quiet", "--allow-empty", "-m", "three");
      expect(newestTag(folder)).toBe("v0.2.0");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("is refused for a commit that there is not", () => {
    expect(() => olderCommit("no-such-commit")).toThrow(
      'Cannot play beside "no-such-commit": this clone has no such commit',
    );
  });
});
