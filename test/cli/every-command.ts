import { type Command, Option } from "commander";
import { withSubcommands } from "../../lib/command/options/word-order.ts";
import { program } from "../../lib/command/program.ts";

/** What an argument or option without a value of its own gets. */
export const OTHER = "OTHER";

const root = program(async () => {}, {
  ...{
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    colours: false,
    by: "ada",
  },
  open: () => Promise.reject(new Error("nothing is opened to list commands")),
});
const LEAVES = withSubcommands(root).filter(({ commands }) => commands.length === 0);
const pathOf = (command: Command): readonly string[] =>
  command.parent ? [...pathOf(command.parent), command.name()] : [];

/** Stands for the kubeconfig of an API server of the test. */
export const KUBECONFIG = "KUBECONFIG";

/** Words for arguments and options that must be valid. Any other one gets OTHER. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  "cluster/partition": ["eu-1/default"],
  shell: ["bash"],
  field: ["spec"],
  reason: ["ScaleUpLimit"],
  command: ["get"],
  words: ["get", ""],
  workload: ["deployment/web"],
  verb: ["view"],
  "on|off": ["on"],
  "--page": ["0"],
  "--max": ["3"],
  "--filename": ["-"],
  "--kubeconfig": [KUBECONFIG],
};
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  events: ["-A"],
  "override set": ["-n", "shop", "--hold", "--dry-run"],
  changes: ["-A"],
  import: ["--kubeconfig", KUBECONFIG],
  "cluster add": ["--kubeconfig", KUBECONFIG],
};

/** Commands that take files with a recorded load only, and open no place then. */
const FILES_OF_A_LOAD: ReadonlySet<string> = new Set(["forecast", "tune"]);

const wordsFor = (command: Command): readonly string[] => {
  const path = pathOf(command);
  const named = path[0] === "cluster" ? "eu-1" : "shop/web";
  const free = Object.hasOwn(NEEDED, path.join(" "));
  const args = command.registeredArguments.flatMap((argument) =>
    free && !argument.required
      ? []
      : (VALUES[argument.name()] ?? (/^names?$/.test(argument.name()) ? [named] : [OTHER])),
  );
  const options = command.options
    .filter((option) => option.mandatory || ["--yes", "--filename"].includes(option.long ?? ""))
    .filter(({ long }) => long !== "--filename" || !FILES_OF_A_LOAD.has(path.join(" ")))
    .flatMap((option) => [
      option.long ?? "",
      ...(option.required ? (VALUES[option.long ?? ""] ?? [option.argChoices?.[0] ?? OTHER]) : []),
    ]);
  return [
    ...path,
    ...(path.join(" ") === "delete" ? [] : args),
    ...options,
    ...(NEEDED[path.join(" ")] ?? []),
  ];
};

const takesTarget = (command: Command): boolean =>
  command.options.some(({ long }) => long === "--data");

const formatsOf = (command: Command): readonly (readonly string[])[] => {
  const output = command.options.find(({ long }) => long === "--output");
  const choices =
    (output ?? new Option("-o")).argChoices?.filter(
      (each) => !/^(jsonpath|custom-columns)/.test(each),
    ) ?? [];
  const template = output?.argChoices?.includes("jsonpath=")
    ? [
        ["-o", "jsonpath={..*}"],
        ["-o", "custom-columns=ALL:..*"],
      ]
    : [];
  return choices.length === 0 ? [[]] : [...choices.map((format) => ["-o", format]), ...template];
};

/**
 * A call of every command of the program in each of its formats, made from what the program says of
 * itself: a new command is covered.
 */
export const CALLS = LEAVES.flatMap((command) =>
  formatsOf(command).map((format) => ({
    words: [...wordsFor(command), ...format],
    format: format[1],
    takesTarget: takesTarget(command),
    path: pathOf(command).join(" "),
  })),
);
