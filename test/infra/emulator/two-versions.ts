import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { newestTag, olderCommit, olderTree } from "../../simulation/beside/older-tree.ts";

/** Where a clone has no tag, the commit that is so many before stands for the earlier version. */
const OTHERWISE = "HEAD~100";
const PARTS = ["dist", "infra", "serverless.yml"];
/** The programs that package are in `build/`; in earlier versions they lie beside it. */
const SOURCES = ["build*", ":(glob)*.ts", ":(glob)*.json", "functions", "infra", "lib", "serverless.yml"];
const EARLIER = "earlier";
/** The version of this checkout. */
export const PRESENT = "present";

export interface TwoVersions {
  /** Where the versions lie, and the name of the earlier one, for the shell of the runbooks. */
  readonly environment: Readonly<Record<string, string>>;
  readonly done: () => Promise<void>;
}

/** Packages an earlier version from git, beside the present one that lies in the folder. Throws a RangeError where this clone has no earlier version. */
export const twoVersions = async (presentFolder: string, say: (line: string) => void): Promise<TwoVersions> => {
  const commit = olderCommit(newestTag() ?? OTHERWISE);
  const folder = await mkdtemp(join(tmpdir(), "tidemark-versions-"));
  const tree = olderTree(commit, SOURCES);
  const done = async (): Promise<void> => {
    for (const made of [folder, tree]) await rm(made, { recursive: true, force: true });
  };
  try {
    say(`The earlier version is ${commit.slice(0, 12)}`);
    const program = existsSync(join(tree, "build/build.ts")) ? "./build/build.ts" : "./build.ts";
    const bundle = `import("${program}").then(({ bundleAll }) => bundleAll("dist"))`;
    await promisify(execFile)(process.execPath, ["-e", bundle], { cwd: tree });
    for (const part of PARTS) {
      await cp(join(presentFolder, part), join(folder, PRESENT, part), { recursive: true });
      await cp(join(tree, part), join(folder, EARLIER, part), { recursive: true });
    }
    return { environment: { VERSIONS: folder, earlier: EARLIER }, done };
  } catch (error) {
    await done();
    throw error;
  }
};
