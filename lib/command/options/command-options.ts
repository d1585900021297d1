import { type Command, Option } from "commander";
import { usage } from "../usage-error.ts";
import type { DocumentFormat } from "../output/documents.ts";
import type { Via } from "../../answers/remote/find-stack.ts";
import type { TargetOptions } from "../select/command-target.ts";
import { type Printer, type Session, type Shows, showsOf } from "../io.ts";
import { textOfFile } from "../../embedded/host/text-file.ts";
import { columnsOfLines, isTemplate, templateOf } from "../jsonpath/format.ts";
import { formatHint } from "./word-order.ts";

/** Of a command that prints a sheet for people, or a document. */
export interface SheetOptions extends TargetOptions {
  readonly output: "text" | DocumentFormat;
}

/** Of a command that prints a table, or a document. */
export interface TableOptions extends TargetOptions {
  readonly output: "table" | DocumentFormat;
}

const FILES = "manifests in YAML or JSON: a file, a folder, or - for standard input; repeatable";

/** The options that name files and folders of manifests. */
export const withFiles = (command: Command): Command =>
  withRecursive(command.requiredOption("-f, --filename <file>", FILES, repeatable));

/** The same for a command that can do without files. */
export const withOptionalFiles = (command: Command): Command =>
  withRecursive(command.option("-f, --filename <file>", FILES, repeatable));

const withRecursive = (command: Command): Command =>
  command.option("-R, --recursive", "read the folders inside a folder too").addOption(
    new Option("-k, --kustomize <folder>", "kustomize is a program of its own")
      .hideHelp()
      .argParser((folder: string) => {
        throw usage(
          `Cannot read a kustomization: run kustomize build ${folder} | tidemark ${command.name()} -f -`,
        );
      }),
  );

/** Collects the values of an option that can be given several times. */
export const repeatable = (
  value: string,
  before: readonly string[] | undefined,
): readonly string[] => [...(before ?? []), value];

const MODES: ReadonlyMap<string, boolean> = new Map([
  ["none", false],
  ["client", true],
  ["server", true],
]);

/**
 * `--dry-run`, with the values of kubectl. The value of the option is true where nothing is to be
 * stored.
 */
export const dryRun = (): Option =>
  new Option(
    "--dry-run [mode]",
    "check everything, store nothing; as with kubectl, =server and =client mean the same here, and =none that it is no dry run",
  ).argParser((mode: string) => {
    const isDry = MODES.get(mode);
    if (isDry === undefined)
      throw usage(`Cannot use --dry-run "${mode}": give none, client or server`);
    return isDry;
  });

/**
 * The options that choose the data folder or the stack. They are accepted before and after the name
 * of the command.
 */
export const withTarget = (command: Command): Command =>
  withPlace(command).option(
    "--region <region>",
    "AWS region of the stack (default: from the AWS settings)",
  );

/** Without --region, for a command whose own --region means something else. */
export const withPlace = (command: Command): Command =>
  withStack(command.option("--data <dir>", "data folder of the embedded run (default: .tidemark)"));

/** Without a data folder and --region. */
export const withStack = (command: Command): Command =>
  command
    .option("--utc", "print and read times in UTC, not in the time zone of this machine")
    .option(
      "--stack <stack>",
      "a deployed stack: its name, or a function URL (default: TIDEMARK_STACK or TIDEMARK_URL)",
    )
    .option(
      "--stage <stage>",
      "stage of the stack: --stack tidemark --stage prod is --stack tidemark-prod",
    )
    .addOption(
      new Option(
        "--via <way>",
        "how a named stack is called: by its function URLs, or by lambda:Invoke (default: as it was deployed)",
      ).choices(["url", "invoke"] satisfies readonly Via[]),
    )
    .option(
      "--profile <profile>",
      "AWS profile with the credentials for the stack (default: from the AWS settings)",
    );

type Work = (session: Session, printer: Printer) => Promise<void>;

/**
 * Runs a command with its open data folder or stack, and always closes it. What it shows says where
 * its head is printed.
 */
export type RunAs = (target: TargetOptions, shows: Shows, work: Work) => Promise<void>;

export interface CommandRun extends RunAs {
  /** For a command that edits. */
  readonly edit: (target: TargetOptions, work: Work) => Promise<void>;
  /** For a command whose format says what it shows. */
  readonly show: (
    options: TargetOptions & { readonly output: string },
    work: Work,
  ) => Promise<void>;
}

export const runBy = (run: RunAs): CommandRun =>
  Object.assign((...call: Parameters<RunAs>) => run(...call), {
    edit: (target: TargetOptions, work: Work) => run(target, "edit", work),
    show: (options: TargetOptions & { readonly output: string }, work: Work) =>
      run(options, showsOf(options.output), work),
  });

/** Bytes of a file with a template. A template of a person has some hundred. */
const TEMPLATE_MAX_BYTES = 64 * 1024;
const FILE_PREFIX = "jsonpath-file=";
const COLUMNS_FILE_PREFIX = "custom-columns-file=";

/**
 * `-o` with the formats of a command; the first is the default. What can be printed as JSON can be
 * printed by a template too, which a file can hold.
 */
export const output = (formats: readonly string[]): Option => {
  const hasTemplates = formats.includes("json");
  const templates = hasTemplates
    ? [
        "jsonpath=TEMPLATE",
        "jsonpath-file=FILE",
        "custom-columns=HEADER:PATH,…",
        "custom-columns-file=FILE",
      ]
    : [];
  const words = ["output format", ...templates];
  const option = new Option(
    "-o, --output <format>",
    hasTemplates ? `${words.slice(0, -1).join(", ")} or ${words.at(-1)}` : "output format",
  )
    .default(formats[0])
    .argParser((given: string) => {
      if (formats.includes(given)) return given;
      const format = hasTemplates ? withTemplateOfFile(given) : given;
      if (!hasTemplates || !isTemplate(format)) {
        const hint = hasTemplates ? formatHint(given) : undefined;
        throw usage(
          `Cannot use --output "${given}": ${hint ?? `give one of ${[...formats, ...templates].join(", ")}`}`,
        );
      }
      // A template that cannot be read is refused before anything is opened.
      templateOf(format);
      return format;
    });
  // For the completion of the shell: the parser above checks the format.
  option.argChoices = [...formats, ...templates.map((template) => template.replace(/=.*/, "="))];
  return option;
};

/** Replaces the name of the file by its template, unchanged, with its line ends. */
const withTemplateOfFile = (words: string): string => {
  if (words.startsWith(COLUMNS_FILE_PREFIX))
    return columnsOfLines(textOfFile(words.slice(COLUMNS_FILE_PREFIX.length), TEMPLATE_MAX_BYTES));
  return words.startsWith(FILE_PREFIX)
    ? `jsonpath=${textOfFile(words.slice(FILE_PREFIX.length), TEMPLATE_MAX_BYTES)}`
    : words;
};

/** The examples below the help of a command. */
export const example = (...calls: readonly string[]): string =>
  `\nExample${calls.length > 1 ? "s" : ""}:\n${calls.map((call) => `  ${call}`).join("\n")}`;
