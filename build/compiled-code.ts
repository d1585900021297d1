import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

/** The platform of the functions (serverless.yml). */
const PLATFORM = { platform: "linux", arch: "arm64" } as const;

/** The hash of V8's flags, which lies at byte 12 of what V8 compiles. */
const FLAGS_HASH = `process.stdout.write(String(new (require("node:vm").Script)("0").createCachedData().readUInt32LE(12)))`;

/** With these two compilations of one source are equal byte for byte. */
const STEADY = ["--hash-seed=1", "--no-flush-bytecode", "--single-threaded", "--no-opt"] as const;

interface Machine {
  readonly platform: string;
  readonly arch: string;
  readonly execPath: string;
  readonly version: string;
}

/**
 * The command of the Node that compiles: the given one, or this Node where it runs on the platform
 * of the functions. `words` say to a person what the packages have, or how they get it.
 */
export const runtimeNode = (
  given: string | undefined,
  { platform, arch, execPath, version }: Machine,
): { readonly command?: readonly string[]; readonly words: string } => {
  if (given !== undefined && given.trim() !== "")
    return {
      command: given.trim().split(/\s+/),
      words: `The packages have code that was compiled by: ${given.trim()}`,
    };
  if (platform === PLATFORM.platform && arch === PLATFORM.arch)
    return { command: [execPath], words: `The packages have code that Node ${version} compiled` };
  return {
    words: `The packages have no compiled code: the functions run on ${PLATFORM.platform} ${PLATFORM.arch}, and this machine is ${platform} ${arch}; TIDEMARK_RUNTIME_NODE names a command that runs a Node of theirs (docs/operations.md, "A faster start")`,
  };
};

const run = (node: readonly string[], args: readonly string[]): string => {
  const [command = "", ...first] = node;
  const { status, stdout, stderr, error } = spawnSync(command, [...first, ...args], {
    encoding: "utf8",
  });
  if (status !== 0)
    throw new Error(
      `Cannot compile the bundles by "${node.join(" ")}": ${error?.message ?? `it ended with ${status}: ${stderr}`}`,
      { cause: error },
    );
  return stdout;
};

/** Bundles a file of `start` and all it imports into one file of CommonJS. */
const bundleFile = async (file: string, outfile: string): Promise<void> => {
  await build({
    entryPoints: [join(import.meta.dirname, "start", file)],
    outfile,
    bundle: true,
    platform: "node",
    target: "node24",
    format: "cjs",
    minify: true,
  });
};

/** Writes `index.js`, which Lambda loads, beside a bundle whose first file is `main.js`. */
export const writeStart = (folder: string): Promise<void> =>
  bundleFile("index.ts", join(folder, "index.js"));

/**
 * Leaves in each folder of a bundle what this Node compiles of it, and shows that a process of it
 * without any flag takes all of this code. Throws where it does not.
 */
export const compileBundles = async (
  node: readonly string[],
  folders: readonly string[],
): Promise<void> => {
  const own = mkdtempSync(join(tmpdir(), "tidemark-compile-"));
  try {
    const program = join(own, "compile.cjs");
    await bundleFile("compile.ts", program);
    run(node, [...STEADY, program, run(node, ["-e", FLAGS_HASH]), ...folders]);
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
  const load = folders.map((folder) => `require(${JSON.stringify(join(folder, "index.js"))})`);
  const refused = run(node, ["-e", `${load.join(";")};process.exit(0)`]);
  if (refused !== "")
    throw new Error(`Cannot package the code that "${node.join(" ")}" compiled: ${refused.trim()}`);
};
