import { kindNamed } from "../select/selected-names.ts";
import type { Command, Option } from "commander";
import { isTidemarkError } from "../../rules/model/errors.ts";

const SHORT_WITH_VALUE = /^(-[A-Za-z])=(.*)$/s;

/**
 * The optional value of an option, which kubectl takes with "=" only: the next word is no value of
 * it.
 */
const ALONE: ReadonlyMap<string, string> = new Map([["--dry-run", "--dry-run=server"]]);

/**
 * The words of a command line in the order that commander reads: options that stand before their
 * command go behind it, as kubectl allows ("tidemark -n shop get"). An option of the words before
 * (--data, --region) keeps its place, where it can mean something else than behind. Also "-o=json"
 * becomes "-o json".
 */
export const wordsInOrder = (root: Command, args: readonly string[]): readonly string[] => {
  const words = beforeDashes(args).flatMap((word) => {
    const flag = flagWithValue(root, word);
    if (flag !== undefined) return flag;
    const short = SHORT_WITH_VALUE.exec(word);
    return short ? [short[1] ?? "", short[2] ?? ""] : [ALONE.get(word) ?? word];
  });
  return [...reordered(root, words), ...args.slice(beforeDashes(args).length)];
};

const FLAG_WITH_VALUE = /^(-[A-Za-z]|--[\w-]+)=(true|false)$/;

/**
 * The words for "--watch=true" and "-w=false", which kubectl takes of an option without a value:
 * the option, or none.
 */
const flagWithValue = (root: Command, word: string): readonly string[] | undefined => {
  const [, flag = "", value] = FLAG_WITH_VALUE.exec(word) ?? [];
  const known = withSubcommands(root).flatMap((command) => optionIn(command, flag) ?? []);
  if (known.length === 0 || known.some(({ required, optional }) => required || optional))
    return undefined;
  return value === "true" ? [flag] : [];
};

/** What follows "--" is never an option. */
const beforeDashes = (args: readonly string[]): readonly string[] =>
  args.includes("--") ? args.slice(0, args.indexOf("--")) : args;

/** The command that the words name, as far as they do. */
export const commandIn = (root: Command, args: readonly string[]): Command =>
  walk(root, beforeDashes(args)).command;

/** The words of a command without its name: its own options, and those that stand before it. */
export const wordsWithoutName = (root: Command, args: readonly string[]): readonly string[] => {
  const { command, front, moved, rest } = walk(root, beforeDashes(args));
  const at = front.lastIndexOf(command.name());
  return [...front.toSpliced(at, 1), ...moved, ...rest, ...args.slice(beforeDashes(args).length)];
};

const reordered = (root: Command, words: readonly string[]): readonly string[] => {
  const { command, front, moved, rest } = walk(root, words);
  // Without a command nothing is moved, so that the message names what was written.
  return command === root ? words : [...front, ...moved, ...rest];
};

interface Walked {
  readonly command: Command;
  /** Words of the command, and options that belong to the word before them. */
  readonly front: readonly string[];
  readonly moved: readonly string[];
  readonly rest: readonly string[];
}

const walk = (root: Command, words: readonly string[]): Walked => {
  const front: string[] = [];
  const moved: string[] = [];
  let command = root;
  let at = 0;
  for (
    let step = nextStep(root, command, words);
    step;
    step = nextStep(root, command, words.slice(at))
  ) {
    const isMoved = step.kind === "option" && optionIn(command, step.words[0] ?? "") === undefined;
    (isMoved ? moved : front).push(...step.words);
    at += step.words.length;
    if (step.kind === "command") command = step.command;
  }
  return { command, front, moved, rest: words.slice(at) };
};

type Step =
  | { readonly kind: "command"; readonly command: Command; readonly words: readonly string[] }
  | { readonly kind: "option"; readonly words: readonly string[] };

/**
 * The next option with its value, or the next word of the command; undefined where the command is
 * complete or unknown.
 */
const nextStep = (root: Command, command: Command, words: readonly string[]): Step | undefined => {
  const [word] = words;
  if (word === undefined || command.commands.length === 0) return undefined;
  if (word.startsWith("-") && word !== "-")
    return { kind: "option", words: words.slice(0, takesNext(root, word) ? 2 : 1) };
  const next = command.commands.find(
    (each) => each.name() === word || each.aliases().includes(word),
  );
  return next && { kind: "command", command: next, words: [word] };
};

const flagOf = (word: string): string =>
  word.startsWith("--") ? (word.split("=")[0] ?? word) : word.slice(0, 2);

const optionIn = (command: Command, word: string): Option | undefined =>
  command.options.find(({ short, long }) => short === flagOf(word) || long === flagOf(word));

/**
 * True for an option whose value is the next word. An option has the same form with every command.
 */
const takesNext = (root: Command, word: string): boolean => {
  const known = withSubcommands(root).flatMap((command) => optionIn(command, word) ?? []);
  const isWhole = word.startsWith("--") ? !word.includes("=") : word.length === 2;
  return isWhole && known.some(({ required }) => required);
};

/** A command and all commands below it. */
export const withSubcommands = (command: Command): readonly Command[] => [
  command,
  ...command.commands.flatMap(withSubcommands),
];

/** "cluster add": the words that call a command. */
export const commandWords = (command: Command): string =>
  command.parent?.parent ? `${commandWords(command.parent)} ${command.name()}` : command.name();

/**
 * What kubectl calls otherwise, or does and Tidemark does not: its command, and what to call here.
 */
const COMMANDS: Readonly<Record<string, string>> = {
  "api-resources": "Tidemark keeps autoscalers of three types: tidemark get pa,hpa,wpa",
  annotate: "annotations are part of a manifest: tidemark edit NAME",
  check: "tidemark status looks at everything, and tidemark cluster check NAME at one cluster",
  cordon: "tidemark cluster pause NAME holds every workload of a cluster",
  "cluster-info":
    "tidemark status shows whether everything works, and tidemark cluster list the clusters",
  config:
    "tidemark --stack NAME or --data DIR says what a command works on, and TIDEMARK_STACK says it for all",
  drain: "tidemark cluster pause NAME holds every workload of a cluster",
  expose: "Tidemark scales workloads and makes none: kubectl expose",
  freeze:
    "tidemark fleet freeze holds every workload of every cluster, and tidemark cluster pause NAME the workloads of one",
  label: "labels are part of a manifest: tidemark edit NAME",
  log: "tidemark events NAME lists scales, and tidemark explain NAME the newest decision",
  logs: "tidemark events NAME lists scales, and tidemark explain NAME the newest decision",
  list: "tidemark get lists autoscalers, and tidemark cluster list clusters",
  ls: "tidemark get lists autoscalers",
  patch: "tidemark edit NAME, or tidemark apply -f FILE",
  rm: "tidemark delete NAME",
  rollback:
    "tidemark handback NAME gives an autoscaler back, and tidemark changes NAME -o json has every earlier manifest",
  rollout: "tidemark changes NAME -o json has every earlier manifest, which apply stores again",
  scale:
    "tidemark override set NAME --pin COUNT --until 2h --reason WHY holds a count, and ends by itself",
  set: "tidemark edit NAME, or tidemark override set NAME",
  show: "tidemark describe NAME",
  stop: "tidemark pause NAME holds one workload, and tidemark fleet freeze all of them",
  thaw: "tidemark fleet thaw ends a freeze",
  top: "tidemark get -o wide has the metrics, and tidemark timeline NAME draws them",
  uncordon: "tidemark cluster resume NAME",
  unfreeze: "tidemark fleet thaw ends a freeze",
  unpause: "tidemark resume NAME",
  wait: "tidemark get NAME -w prints each change",
  watch: "tidemark get -w prints each change, and tidemark status -w the whole fleet",
  why: "tidemark explain NAME --at TIME",
};

/** Kinds that are no autoscalers of Tidemark, as kubectl writes them. */
const OTHER_KINDS =
  /^(po|pods?|deploy|deployments?|sts|statefulsets?|rs|replicasets?|nodes?|ns|namespaces?|svc|services?|cm|configmaps?|all)$/i;

/** What to call here in place of a command of kubectl. */
export const commandHint = (name: string): string | undefined =>
  kindNamed(name) === undefined ? COMMANDS[name] : `a type follows a command: tidemark get ${name}`;

/** What a person may have meant who asked for a kind in place of a name. */
export const kindHint = (error: unknown, args: readonly string[]): string | undefined => {
  if (!isTidemarkError(error, "service.unknown") && !isTidemarkError(error, "cli.several"))
    return undefined;
  const word = args
    .map((arg) => arg.split("/")[0] ?? "")
    .find((arg) => error.message.includes(`"${arg}`) && isKind(arg));
  if (word === undefined) return undefined;
  return (
    GROUPS.find(([kind]) => kind.test(word))?.[1] ??
    `Tidemark keeps autoscalers only: kubectl get ${word}`
  );
};

/** What Tidemark keeps beside autoscalers has commands of its own. */
const GROUPS: readonly (readonly [RegExp, string])[] = [
  [
    /^(metric)?sources?(\.tidemark\.dev)?$/i,
    "tidemark source list shows the metric sources, and tidemark source describe NAME one of them",
  ],
  [
    /^clusters?$/i,
    "tidemark cluster list shows the clusters, and tidemark cluster describe NAME one of them",
  ],
  [
    /^(ev|events?)$/i,
    "tidemark events --all lists the scale events, and tidemark changes --all the edits",
  ],
  [/^overrides?$/i, "tidemark override list shows the overrides"],
  [/^calendars?$/i, "tidemark calendar list shows the calendars"],
  [
    /^partitions?$/i,
    "tidemark cluster describe NAME shows the partitions of a cluster, and tidemark partition describe CLUSTER/PARTITION one of them",
  ],
  [
    /^(so|scaledobjects?)(\.keda\.sh)?$/i,
    "tidemark import --kubeconfig FILE carries the ScaledObjects of a cluster over",
  ],
];

const isKind = (word: string): boolean =>
  [OTHER_KINDS, ...GROUPS.map(([kind]) => kind)].some((kind) => kind.test(word));

/** The template that prints what a format of kubectl prints that does not exist here. */
export const formatHint = (format: string): string | undefined =>
  /^(go-template(-file)?|template)(=|$)/.test(format)
    ? `a template does the same: -o jsonpath='{range .items[*]}{.metadata.name}{"\\t"}{.spec.maxReplicas}{"\\n"}{end}'`
    : undefined;
