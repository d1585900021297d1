import type { Command, Option } from "commander";
import { commandIn } from "../options/word-order.ts";
import type { NamedAutoscaler } from "../../embedded/folder/names.ts";
import type { Named } from "./names.ts";

export interface Candidate {
  readonly word: string;
  readonly about?: string;
}

interface Completion {
  readonly candidates: readonly Candidate[];
  /** True where the shell may offer files. */
  readonly files: boolean;
}

/** Where names are read from: the data folder or the stack that the words choose. */
type ReadNames = (words: readonly string[]) => Named;

/**
 * The words that can stand at the place of the last one. Those before it say which command and
 * which option it belongs to.
 */
export const completionOf = async (
  root: Command,
  words: readonly string[],
  read: ReadNames,
): Promise<Completion> => {
  // bash gives the "=" of "--cluster=eu" as a word of its own.
  const all = words.filter((word, index) => word !== "=" || index === words.length - 1);
  const last = all.at(-1) ?? "";
  const before = all.slice(0, -1);
  const start = last === "=" ? "" : last;
  const command = commandIn(root, before);
  const option = optionBefore(command, before.at(-1));
  if (option) return ofOption(option, start, read(before));
  if (start.startsWith("-")) return { candidates: optionsOf(command, start), files: false };
  if (command.commands.length > 0)
    return { candidates: starting(subcommandsOf(command), start), files: false };
  return {
    candidates: starting(await wordsOf(root, command, { start, before, read }), start),
    files: false,
  };
};

const starting = (candidates: readonly Candidate[], start: string): readonly Candidate[] =>
  candidates.filter(({ word }) => word.startsWith(start));

const subcommandsOf = (command: Command): readonly Candidate[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((each) => ({ word: each.name(), about: each.summary() || each.description() }));

/**
 * Its own: an option of the words before the command is refused behind it, unless the command has
 * it too.
 */
const optionsOf = (command: Command, start: string): readonly Candidate[] =>
  command.options.flatMap(({ long, short, description, hidden }) => {
    const flag = [long, short].find((each) => each?.startsWith(start) === true);
    return hidden || flag === undefined ? [] : [{ word: flag, about: description }];
  });

/** The option that the word before is, where its value follows. */
const optionBefore = (command: Command, word: string | undefined): Option | undefined =>
  word === undefined
    ? undefined
    : command.options.find(
        ({ long, short, required }) => required && (word === long || word === short),
      );

const FILE_OPTIONS: ReadonlySet<string> = new Set(["--filename", "--data", "--kubeconfig"]);

const ofOption = async (
  { long = "", argChoices }: Option,
  start: string,
  named: Named,
): Promise<Completion> => {
  const words =
    argChoices ??
    (/^--clusters?$/.test(long)
      ? await named.clusters()
      : long === "--namespace"
        ? await named.namespaces()
        : []);
  return { candidates: starting(candidatesOf(words), start), files: FILE_OPTIONS.has(long) };
};

/**
 * What no shell reads as more than a word. bash puts a candidate on the command line as it is, and
 * runs what a name holds on Enter.
 */
const PLAIN_WORD = /^[A-Za-z0-9][A-Za-z0-9._/-]*=?$/;

/** Names come from what is stored, whoever has written it: a word that is not plain is left out. */
const candidatesOf = (words: readonly string[]): readonly Candidate[] =>
  words.filter((word) => PLAIN_WORD.test(word)).map((word) => ({ word }));

const wordsOf = async (
  root: Command,
  command: Command,
  {
    start,
    before,
    read,
  }: { readonly start: string; readonly before: readonly string[]; readonly read: ReadNames },
): Promise<readonly Candidate[]> => {
  if (command.name() === "help") return subcommandsOf(root);
  return candidatesOf(
    command.registeredArguments[0]?.argChoices ?? (await namesFor(command, start, read(before))),
  );
};

const AUTOSCALER_COMMANDS: ReadonlySet<string> = new Set([
  ...["get", "describe", "explain", "schedule", "events", "changes"],
  ...["edit", "delete", "pause", "resume", "override set", "override list"],
]);
/** Commands of a group that take no name that is stored. */
const NAMELESS: ReadonlySet<string> = new Set(["cluster list", "cluster add", "calendar list"]);
const TYPES = ["hpa", "pa", "wpa"];
/** What the commands of a group take. */
const NAMES_OF_GROUP: Readonly<
  Record<string, "clusters" | "partitions" | "calendars" | "overrides">
> = {
  ...{ cluster: "clusters", partition: "partitions", calendar: "calendars", override: "overrides" },
};

/** The names that a command takes: of autoscalers, clusters or partitions. */
const namesFor = async (
  command: Command,
  start: string,
  named: Named,
): Promise<readonly string[]> => {
  const group = command.parent?.name() ?? "";
  const path = group === "tidemark" ? command.name() : `${group} ${command.name()}`;
  if (NAMELESS.has(path)) return [];
  if (AUTOSCALER_COMMANDS.has(path)) return autoscalerWords(await named.autoscalers(), start);
  const kind = NAMES_OF_GROUP[group];
  return kind === undefined ? [] : named[kind]();
};

/**
 * Short names first; with a point of a path in the word, the longer forms: "shop/web",
 * "eu-1/shop/web" and "hpa/web".
 */
const autoscalerWords = (
  autoscalers: readonly NamedAutoscaler[],
  start: string,
): readonly string[] => {
  const [first = "", ...more] = start.split("/");
  const names = [...new Set(autoscalers.map(({ name }) => name))];
  if (more.length === 0)
    return [
      ...names,
      ...autoscalers.map(({ namespace, name }) => `${namespace}/${name}`),
      ...TYPES,
    ];
  if (TYPES.includes(first)) return names.map((name) => `${first}/${name}`);
  const paths = autoscalers.map(
    ({ cluster, namespace, name }) => `${cluster}/${namespace}/${name}`,
  );
  return [
    ...new Set([...autoscalers.map(({ namespace, name }) => `${namespace}/${name}`), ...paths]),
  ];
};
