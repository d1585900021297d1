import { type Command, Option } from "commander";
import { usage } from "../usage-error.ts";
import type { DocumentFormat } from "../output/documents.ts";
import type { TargetOptions } from "../select/command-target.ts";
import { type Printer, type Session, type Shows, showsOf } from "../io.ts";
import { textOfFile } from "../../local/run/text-file.ts";
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

type Work = (session: Session, printer: Printer) => Promise<void>;

/** Runs a command with its open data folder or stack, and always closes it. What it shows says where its head is printed. */
export type RunAs = (target: TargetOptions, shows: Shows, work: Work) => Promise<void>;

export interface Run extends RunAs {
  /** For a command that edits. */
  readonly edit: (target: TargetOptions, work: Work) => Promise<void>;
  /** For a command whose format says what it shows. */
  readonly show: (options: TargetOptions & { readonly output: string }, work: Work) => Promise<void>;
}

export const runBy = (run: RunAs): Run =>
  Object.assign((...call: Parameters<RunAs>) => run(...call), {
    edit: (target: TargetOptions, work: Work) => run(target, "edit", work),
    show: (options: TargetOptions & { readonly output: string }, work: Work) => run(options, showsOf(options.output), work),
  });

/** Bytes of a file with a template. A template of a person has some hundred. */
const TEMPLATE_MAX_BYTES = 64 * 1024;
const FILE_PREFIX = "jsonpath-file=";
const COLUMNS_FILE_PREFIX = "custom-columns-file=";

/** `-o` with the formats of a command; the first is the default. What can be printed as JSON can be printed by a template too, which a file can hold. */
export const output = (formats: readonly string[]): Option => {
  const hasTemplates = formats.includes("json");
  const templates = hasTemplates ? ["jsonpath=TEMPLATE", "jsonpath-file=FILE", "custom-columns=HEADER:PATH,…", "custom-columns-file=FILE"] : [];
  const words = ["output format", ...templates];
  const option = new Option("-o, --output <format>", hasTemplates ? `${words.slice(0, -1).join(", ")} or ${words.at(-1)}` : "output format")
    .default(formats[0])
    .argParser((given: string) => {
      if (formats.includes(given)) return given;
      const format = hasTemplates ? withTemplateOfFile(given) : given;
      if (!hasTemplates || !isTemplate(format)) {
        const hint = hasTemplates ? formatHint(given) : undefined;
        throw usage(`Cannot use --output "${given}": ${hint ?? `give one of ${[...formats, ...templates].join(", ")}`}`);
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
  if (words.startsWith(COLUMNS_FILE_PREFIX)) return columnsOfLines(textOfFile(words.slice(COLUMNS_FILE_PREFIX.length), TEMPLATE_MAX_BYTES));
  return words.startsWith(FILE_PREFIX) ? `jsonpath=${textOfFile(words.slice(FILE_PREFIX.length), TEMPLATE_MAX_BYTES)}` : words;
};

/** Examples of the commands that have no others where they are defined. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  describe: ["tidemark describe shop/web", "tidemark describe hpa/web wpa/api -n shop", "tidemark describe -l app=web -n shop"],
  explain: ["tidemark explain shop/web", "tidemark explain shop/web --at 2h", "tidemark explain shop/web --at 'yesterday 18:30'"],
  schedule: ["tidemark schedule shop/web", "tidemark schedule shop/web --next 30 --at 2026-12-24"],
  series: ["tidemark series --labels team,tier"],
  status: ["tidemark status", "tidemark status -w --stack tidemark-prod"],
  cost: ["tidemark cost --stack tidemark-prod", "tidemark cost --clusters 50 --autoscalers 2000 --period 30s", "tidemark cost --sources"],
  "stack deploy": ["tidemark stack deploy --params prod.yaml", "tidemark stack deploy --params prod.yaml --set logDays=90"],
  "stack diff": ["tidemark stack diff --params prod.yaml"],
  "stack status": ["tidemark stack status --params prod.yaml", "tidemark stack status --params prod.yaml -o json"],
  "stack remove": ["tidemark stack remove --params prod.yaml"],
  pause: [
    "tidemark pause shop/web --until 2h",
    "tidemark pause hpa/web hpa/api -n shop --until 'monday 09:00'",
    "tidemark pause -A -l team=shop --clusters '*'",
  ],
  resume: ["tidemark resume shop/web"],
  convert: ["tidemark convert -f hpa.yaml > web.yaml", "tidemark convert -R -f manifests/ -o json"],
  crd: ["tidemark crd | kubectl apply --server-side -f -"],
  "explain-reason": ["tidemark explain-reason ScaleDownStabilized", "tidemark explain-reason"],
  "explain-schema": ["tidemark explain-schema scaleUp", "tidemark explain-schema -o json > podautoscaler.schema.json"],
  "cluster list": ["tidemark cluster list", "tidemark cluster list -o jsonpath='{.items[*].name}'"],
  "cluster describe": ["tidemark cluster describe eu-1"],
  "cluster pause": ["tidemark cluster pause eu-1 --until 2h"],
  "cluster resume": ["tidemark cluster resume eu-1"],
  "cluster remove": ["tidemark cluster remove eu-1"],
  "partition describe": ["tidemark partition describe eu-1/shop"],
  "partition reset": ["tidemark partition reset eu-1/shop", "tidemark partition reset eu-1/shop --yes"],
  "fleet freeze": ["tidemark fleet freeze --reason 'API servers are being upgraded'"],
  "fleet thaw": ["tidemark fleet thaw"],
  "fleet adopt": ["tidemark fleet adopt --yes"],
  "fleet describe": ["tidemark fleet describe"],
  "calendar put": ["tidemark calendar put de -f holidays-de.ics", "tidemark calendar put closed -f closed.txt"],
  "calendar list": ["tidemark calendar list", "tidemark calendar list -o dates"],
  "calendar delete": ["tidemark calendar delete closed"],
  "source put": [
    "tidemark source put main --service monitoring/prometheus:9090 --for-cluster '*' --for-namespace '*'",
    "tidemark source put shop --url https://mimir.example.com/prometheus --header x-scope-orgid=shop --for-cluster 'prod-*' --for-namespace shop --auth bearer --secret tidemark-prod/source.shop",
  ],
  "source check": ["tidemark source check main", "tidemark source check main --cluster eu-1 --query 'sum(rate(http_requests_total[2m]))'"],
  "source list": ["tidemark source list"],
  "source status": ["tidemark source status", "tidemark source status -o json"],
  "source describe": ["tidemark source describe main"],
  "source delete": ["tidemark source delete main"],
  "access grant": ["tidemark access grant 'arn:aws:sts::123456789012:assumed-role/TeamA/*' --role edit --cluster 'prod-*' -n team-a"],
  "access revoke": ["tidemark access revoke 3f9a1c20"],
  "access list": ["tidemark access list"],
  "access require": ["tidemark access require on"],
  "auth can-i": ["tidemark auth can-i edit --cluster eu-1 -n shop"],
  start: ["tidemark start", "tidemark start --kubeconfig ~/.kube/config --manifest web.yaml", "tidemark start --speed 60 --for 3h"],
  version: ["tidemark version", "tidemark version --stack tidemark-prod"],
  help: ["tidemark help cluster add"],
};

/** Adds the examples to the help of each command that has some. */
export const addExamples = (root: Command): void => {
  for (const command of root.commands) {
    addTo(command, command.name());
    for (const below of command.commands) addTo(below, `${command.name()} ${below.name()}`);
  }
};

const addTo = (command: Command, path: string): void => {
  const calls = EXAMPLES[path];
  if (calls) command.addHelpText("after", example(...calls));
};

/** The examples below the help of a command. */
export const example = (...calls: readonly string[]): string =>
  `\nExample${calls.length > 1 ? "s" : ""}:\n${calls.map((call) => `  ${call}`).join("\n")}`;
