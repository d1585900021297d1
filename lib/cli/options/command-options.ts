import { type Command, Option } from "commander";
import { usage } from "../usage-error.ts";
import type { TargetOptions } from "../select/command-target.ts";
import type { Printer, Session, Shows } from "../io.ts";

const FILES = "manifests in YAML or JSON: a file, a folder, or - for standard input; repeatable";

/** The options that name files and folders of manifests. */
export const withFiles = (command: Command): Command => withRecursive(command.requiredOption("-f, --filename <file>", FILES, repeatable));

/** The same for a command that can do without files. */
export const withOptionalFiles = (command: Command): Command => withRecursive(command.option("-f, --filename <file>", FILES, repeatable));

const withRecursive = (command: Command): Command =>
  command.option("-R, --recursive", "read the folders inside a folder too").addOption(
    new Option("-k, --kustomize <folder>", "kustomize is a program of its own").hideHelp().argParser((folder: string) => {
      throw usage(`Cannot read a kustomization: run kustomize build ${folder} | tidemark ${command.name()} -f -`);
    }),
  );

/** Collects the values of an option that can be given several times. */
export const repeatable = (value: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), value];

const MODES: ReadonlyMap<string, boolean> = new Map([
  ["none", false],
  ["client", true],
  ["server", true],
]);

/** `--dry-run`, with the values of kubectl. The value of the option is true where nothing is to be stored. */
export const dryRun = (): Option =>
  new Option(
    "--dry-run [mode]",
    "check everything, store nothing; as with kubectl, =server and =client mean the same here, and =none that it is no dry run",
  ).argParser((mode: string) => {
    const isDry = MODES.get(mode);
    if (isDry === undefined) throw usage(`Cannot use --dry-run "${mode}": give none, client or server`);
    return isDry;
  });

/** The options that choose the data folder or the stack. They are accepted before and after the name of the command. */
export const withTarget = (command: Command): Command =>
  withPlace(command).option("--region <region>", "AWS region of the stack (default: from the AWS settings)");

/** Without --region, for a command whose own --region means something else. */
export const withPlace = (command: Command): Command =>
  withStack(command.option("--data <dir>", "data folder of the embedded run (default: .tidemark)"));

/** Without a data folder and --region. */
export const withStack = (command: Command): Command =>
  command
    .option("--utc", "print and read times in UTC, not in the time zone of this machine")
    .option("--stack <stack>", "a deployed stack: its name, or a function URL (default: TIDEMARK_STACK or TIDEMARK_URL)")
    .option("--stage <stage>", "stage of the stack: --stack tidemark --stage prod is --stack tidemark-prod")
    .option("--profile <profile>", "AWS profile with the credentials for the stack (default: from the AWS settings)");

/** Runs a command with its open data folder or stack, and always closes it. What it shows says where its head is printed. */
export type Run = (target: TargetOptions, shows: Shows, work: (session: Session, printer: Printer) => Promise<void>) => Promise<void>;
