import { execFileSync } from "node:child_process";
import { mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../../..");
/** The sources of a commit take some 3 MB. */
const TREE_BYTES_MAX = 100_000_000;

const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync("git", ["-C", folder, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });

/**
 * The commit that a name stands for; without a name the newest tag. Throws a RangeError that says
 * what to give.
 */
export const olderCommit = (name: string | undefined): string => {
  const wanted = name ?? newestTag();
  if (wanted === undefined)
    throw new RangeError(
      "Cannot play beside a release: this clone has no tag; name a commit, as in --beside HEAD~100",
    );
  try {
    return git(
      ROOT,
      "rev-parse",
      "--verify",
      "--quiet",
      "--end-of-options",
      `${wanted}^{commit}`,
    ).trim();
  } catch {
    throw new RangeError(`Cannot play beside "${wanted}": this clone has no such commit`);
  }
};

/**
 * The newest tag of an earlier commit: the tag of this very commit is no earlier version. Undefined
 * where there is none, and where this is no clone.
 */
export const newestTag = (folder: string = ROOT): string | undefined => {
  try {
    const listed = (...args: readonly string[]): readonly string[] =>
      git(folder, "tag", "--sort=-creatordate", ...args).split("\n");
    const here = listed("--points-at", "HEAD");
    return listed("--merged", "HEAD").find((tag) => tag !== "" && !here.includes(tag));
  } catch {
    return undefined;
  }
};

/**
 * Takes the sources of a commit into a folder of their own, beside the packages of this one. The
 * caller removes it.
 */
export const olderTree = (
  commit: string,
  paths: readonly string[] = ["lib", "package.json"],
): string => {
  const folder = mkdtempSync(join(tmpdir(), "simulation-beside-"));
  const sources = execFileSync("git", ["-C", ROOT, "archive", commit, ...paths], {
    maxBuffer: TREE_BYTES_MAX,
  });
  execFileSync("tar", ["-x", "-C", folder], { input: sources });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return folder;
};
