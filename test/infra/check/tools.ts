import { execFile } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export const CHECK_PACKAGES = ["cfn-lint==1.58.0", "checkov==3.3.30"] as const;
/**
 * An emulator of AWS, and the command line of AWS that talks to it. The command line pins botocore;
 * boto3 has the same number.
 */
export const EMULATOR_PACKAGES = [
  "moto[server]==5.2.5",
  "boto3==1.43.11",
  "awscli==1.45.11",
] as const;
/**
 * Resolves the hundred packages of checkov in a second, where pip goes back and forth between their
 * versions for half an hour.
 */
const INSTALLER = "uv==0.13.9";
const OUTPUT_BYTES_MAX = 64 * 1_048_576;
const run = promisify(execFile);

/** What checks install, outside of the repository. */
export const CACHE = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "tidemark");

/**
 * The folder of the programs of these packages. Installs them on the first call into a cache
 * outside the repository, which needs Python 3.9 or newer and its package registry.
 */
export const pythonPrograms = async (
  packages: readonly string[],
  say: (line: string) => void,
): Promise<string> => {
  const folder = join(CACHE, packages.join("-").replaceAll(/==|\[|\]/g, "-"));
  const programs = join(folder, "bin");
  if (existsSync(programs)) return programs;
  say(`Installing ${packages.join(" and ")} into "${folder}"`);
  mkdirSync(CACHE, { recursive: true });
  // Installed beside the final name, so that an interrupted installation is not taken for a whole
  // one.
  const unfinished = `${folder}-unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  await run("python3", ["-m", "venv", unfinished]).catch((error: unknown) => {
    throw new Error(
      `Cannot install ${packages.join(" and ")}: python3 with its module venv is needed`,
      { cause: error },
    );
  });
  await run(
    join(unfinished, "bin/pip"),
    ["install", "--quiet", "--disable-pip-version-check", INSTALLER],
    { maxBuffer: OUTPUT_BYTES_MAX },
  );
  const into = ["--quiet", "--python", join(unfinished, "bin/python3")];
  await run(join(unfinished, "bin/uv"), ["pip", "install", ...into, ...packages], {
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  renameSync(unfinished, folder);
  return programs;
};

/** What a check program printed. Both end with a code above 0 when they found something. */
export const printedBy = async (
  python: string,
  program: string,
  args: readonly string[],
): Promise<string> => {
  try {
    // Run by the interpreter, because the first line of a program names the folder in which it was
    // installed, which was renamed since.
    return (await run(python, [program, ...args], { maxBuffer: OUTPUT_BYTES_MAX })).stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as {
      readonly stdout?: string;
      readonly stderr?: string;
    };
    if (stdout.trim() !== "") return stdout;
    throw new Error(`Cannot run ${program}: ${stderr.trim() || String(error)}`, { cause: error });
  }
};
