import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../architecture/source.ts";
import { newestTag, olderCommit } from "../../simulation/beside/older-tree.ts";

/**
 * Where this clone has no tag of an earlier commit, the clone of the operator has this one at the
 * commit of so many commits ago, and what is here becomes the version after it.
 */
const EARLIER = { tag: "v0.2.0", commit: "HEAD~30" };
const PRESENT_VERSION = "0.3.0";

export interface Checkout {
  readonly folder: string;
  /** The tag of an earlier version, and the commit of the present one. */
  readonly earlier: string;
  readonly present: string;
  readonly done: () => Promise<void>;
}

/**
 * A clone of this repository in a folder of its own, as an operator has it: with tags, with what is
 * changed here and not yet committed, and with the packages that `npm ci` would bring. Throws a
 * RangeError where this clone has no earlier commit.
 */
export const cloneAsOperator = async (): Promise<Checkout> => {
  const tag = newestTag();
  const earlierCommit = olderCommit(tag ?? EARLIER.commit);
  const folder = await mkdtemp(join(tmpdir(), "tidemark-operator-"));
  const done = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const changed = await git(ROOT, "stash", "create");
    await git(ROOT, "clone", "--quiet", "--shared", "--no-checkout", ROOT, folder);
    await git(
      folder,
      "checkout",
      "--quiet",
      "--detach",
      changed === "" ? await git(ROOT, "rev-parse", "HEAD") : changed,
    );
    if (tag === undefined) {
      await git(folder, "tag", EARLIER.tag, earlierCommit);
      await release(folder);
    }
    await linkPackages(folder);
    return {
      folder,
      earlier: tag ?? EARLIER.tag,
      present: await git(folder, "rev-parse", "HEAD"),
      done,
    };
  } catch (error) {
    await done();
    throw error;
  }
};

/** A commit with the number of the next version. */
const release = async (folder: string): Promise<void> => {
  const file = join(folder, "package.json");
  await writeFile(
    file,
    (await readFile(file, "utf8")).replace(/"version": ".*"/, `"version": "${PRESENT_VERSION}"`),
  );
  const author = ["-c", "user.name=operator", "-c", "user.email=operator@example.com"];
  await git(folder, ...author, "commit", "--quiet", "--all", "--message", PRESENT_VERSION);
};

const git = async (folder: string, ...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)("git", ["-C", folder, ...args])).stdout.trim();

/**
 * The packages of this clone, but for the command of Tidemark itself: each version in the folder
 * runs its own.
 */
const linkPackages = async (folder: string): Promise<void> => {
  const [from, to] = [join(ROOT, "node_modules"), join(folder, "node_modules")];
  await mkdir(join(to, ".bin"), { recursive: true });
  const names = (await readdir(from)).filter(
    (name) => name !== ".bin" && name !== "tidemark-command",
  );
  const programs = (await readdir(join(from, ".bin"))).filter((name) => name !== "tidemark");
  for (const name of [...names, ...programs.map((program) => join(".bin", program))])
    await symlink(join(from, name), join(to, name));
  await symlink("../bin", join(to, "tidemark-command"));
  await symlink("../tidemark-command/tidemark.js", join(to, ".bin/tidemark"));
};
