import type { Command, Option } from "commander";
import { commandWords, withSubcommands } from "../../lib/command/options/word-order.ts";
import { withTarget } from "../../lib/command/options/command-options.ts";
import { program } from "../../lib/command/program.ts";

const TEMPLATES = /^(jsonpath|custom-columns)/;

/** An option that so many commands have is explained once, above them. */
const SHARED_BY = 5;

/** The reference of docs/cli.md: each command as it is defined, in the order of the help. */
export const commandsMarkdown = (): string => {
  const root = defined();
  const leaves = withSubcommands(root).filter(
    (command) => command.commands.length === 0 && command.name() !== "__complete",
  );
  const shared = sharedOptions(leaves);
  const target = withTarget(root.createCommand()).options;
  const isTarget = (option: Option): boolean => target.some((other) => sameOption(other, option));
  const untargeted = leaves.filter(
    ({ options }) => options.filter(isTarget).length < target.length,
  );
  const named = shared.filter((option) => !isTarget(option));
  const groups = Map.groupBy(leaves, (leaf) => topOf(leaf).helpGroup().replace(":", ""));
  return [
    "## Options that many commands have",
    "",
    HEADER,
    ...shared.map(optionRow),
    "",
    `The first ${target.length} choose the folder or the stack, and may stand before the command, too.`,
    `Not all of them are options of ${untargeted.map((command) => `\`${commandWords(command)}\``).join(", ")}.`,
    ...[...groups].flatMap(([group, commands]) => [
      "",
      `## ${group}`,
      ...commands.flatMap((command) => ["", ...section(command, { shared, named })]),
    ]),
  ].join("\n");
};

const sameOption = (one: Option, other: Option): boolean =>
  one.flags === other.flags && one.description === other.description;

const sharedOptions = (commands: readonly Command[]): readonly Option[] => {
  const all = commands.flatMap(({ options }) => options).filter((option) => !option.hidden);
  return all.filter(
    (option, at) =>
      option.long !== "--output" &&
      all.findIndex((other) => sameOption(option, other)) === at &&
      all.filter((other) => sameOption(option, other)).length >= SHARED_BY,
  );
};

/** The program, of which nothing runs. */
const defined = (): Command =>
  program(async () => {}, {
    ...{ stdin: process.stdin, stdout: process.stdout, stderr: process.stderr },
    ...{ colours: false, by: "" },
    open: () => Promise.reject(new RangeError("nothing is opened to print a page")),
  });

/** `cluster` of "cluster add": the command that the help of the program lists. */
const topOf = (command: Command): Command =>
  command.parent?.parent ? topOf(command.parent) : command;

/** Shared options have their rows above; those that choose autoscalers are named again. */
interface SharedOptions {
  readonly shared: readonly Option[];
  readonly named: readonly Option[];
}

const section = (command: Command, { shared, named }: SharedOptions): readonly string[] => {
  const [first = "", note = ""] = command.description().split("\n\n");
  const options = command.options.filter((option) => !option.hidden);
  const isIn = (list: readonly Option[], option: Option): boolean =>
    list.some((other) => sameOption(other, option));
  const own = options.filter((option) => !isIn(shared, option));
  const words = command.registeredArguments
    .filter((word) => word.description !== "" && !/^names?$/.test(word.name()))
    .map((argument) => row(argument.name(), argument.description));
  const others = options.filter((option) => isIn(named, option)).map(({ long }) => `\`${long}\``);
  return [
    `### ${commandWords(command)}`,
    "",
    sentence(first),
    ...(note === "" ? [] : [linked(note)]),
    "",
    "```text",
    `tidemark ${commandWords(command)} ${command.usage()}`.trimEnd(),
    "",
    ...examplesOf(command),
    "```",
    ...(words.length + own.length === 0 ? [] : ["", HEADER, ...words, ...own.map(optionRow)]),
    ...(others.length === 0
      ? []
      : ["", `Also ${others.join(", ")} ([above](#options-that-many-commands-have)).`]),
  ];
};

const HEADER = "| word or option | is |\n|---|---|";

const optionRow = (option: Option): string => {
  const { flags, description, argChoices = [], defaultValue } = option;
  const formats = argChoices.filter((choice) => !TEMPLATES.test(choice));
  const templates = formats.length < argChoices.length;
  const ofOutput = option.long === "--output" && formats.length > 0;
  const choices = [
    ...formats.map((format) => `\`${format}\``),
    ...(templates ? ["a [template](#what-every-command-has-in-common)"] : []),
  ].join(", ");
  const preset = typeof defaultValue === "string" ? ` (default: \`${defaultValue}\`)` : "";
  const text = ofOutput ? `output format: ${choices}` : description;
  const named = ofOutput || choices === "" ? "" : `; one of ${choices}`;
  return row(flags, `${text}${named}${preset}`);
};

const row = (name: string, about: string): string =>
  `| \`${name}\` | ${linked(about)} |`.replaceAll(/(?<=\S)\|(?=\S)/g, "\\|");

/** The lines below "Examples:" of the help. */
const examplesOf = (command: Command): readonly string[] => {
  let help = "";
  command.configureOutput({
    writeOut: (text) => {
      help += text;
    },
  });
  command.outputHelp();
  const [, examples = ""] = /\nExamples?:\n((?: {2}.+\n?)+)/.exec(help) ?? [];
  return examples
    .trim()
    .split("\n")
    .map((call) => call.trim());
};

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;

/** A page that a text names by its file is a link here; what Markdown would read as HTML is code. */
const linked = (text: string): string =>
  text
    .replaceAll(/docs\/([\w-]+\.md)/g, "[$1]($1)")
    .replaceAll(/(?<![`\w])(--[a-z][\w-]*|-[a-zA-Z])(?![\w-])/g, "`$1`")
    .replaceAll("*", "\\*");
