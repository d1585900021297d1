import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../architecture/source.ts";

const OUTPUT_BYTES_MAX = 16 * 1_048_576;
const RUN_TIMEOUT_MS = 600_000;

/**
 * The blocks of bash in the section "Runbooks" of docs/operations.md, by the heading above them.
 * Those above the first heading are named "".
 */
export const runbookBlocks = (): ReadonlyMap<string, string> => {
  const page = readFileSync(join(ROOT, "docs/operations.md"), "utf8");
  const section = /\n## Runbooks\n(.*?)\n## /s.exec(page)?.[1];
  if (section === undefined)
    throw new Error('Cannot find the section "Runbooks" in docs/operations.md');
  const parts = section.split(/^### /m).map((part, at) => {
    const title = at === 0 ? "" : (part.split("\n")[0] ?? "");
    return [
      title,
      [...part.matchAll(/^```bash\n(.*?)^```$/gms)].map(([, block = ""]) => block).join(""),
    ] as const;
  });
  return new Map(parts.filter(([, block]) => block !== ""));
};

/**
 * The packages are there before. The AWS command line is run by its interpreter, because its first
 * line names the folder in which it was installed, which was renamed since.
 */
const STAND_INS = [
  'npm() { if [ "$1" = ci ]; then echo "npm ci was done before"; else command npm "$@"; fi; }',
  'aws() { "$PROGRAMS/python3" "$PROGRAMS/aws" "$@"; }',
];

export interface Shell {
  /** A clone of the repository, with its packages. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Another region than that of the page. */
  readonly region?: string;
}

/**
 * Runs a block as a person would, after the lines that every runbook begins with. Throws with all
 * output where a command fails.
 */
export const runBlock = async (
  { folder, environment, region }: Shell,
  block: string,
): Promise<string> => {
  // The runbook that moves to another region writes a file of parameters for it.
  const elsewhere =
    region === undefined
      ? ""
      : `export AWS_REGION=${region} AWS_DEFAULT_REGION=${region}; params=${region}-$params`;
  const script = [
    "set -euo pipefail",
    ...STAND_INS,
    runbookBlocks().get("") ?? "",
    elsewhere,
    block,
  ].join("\n");
  const options = {
    cwd: folder,
    env: environment,
    maxBuffer: OUTPUT_BYTES_MAX,
    timeout: RUN_TIMEOUT_MS,
  };
  try {
    const running = promisify(execFile)("bash", ["-c", script], options);
    // A block that reads nothing may have ended by now.
    running.child.stdin?.on("error", () => undefined);
    // The instant that a restore asks for. Every table of the emulator is older.
    running.child.stdin?.end(`${new Date(Date.now() - 60_000).toISOString()}\n`);
    return (await running).stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as {
      readonly stdout?: string;
      readonly stderr?: string;
    };
    throw new Error(`Cannot run a block of docs/operations.md:\n${block}\n${stdout}${stderr}`, {
      cause: error,
    });
  }
};
