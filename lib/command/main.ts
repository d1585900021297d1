import { type Command, CommanderError } from "commander";
import { failureText } from "../embedded/host/failure-text.ts";
import { isTidemarkError } from "../rules/model/errors.ts";
import { present } from "../rules/model/json.ts";
import { inUtc } from "../stack/report/instant-text.ts";
import { usageMessage } from "../stack/report/printed.ts";
import {
  type CommandTarget,
  chooseTarget,
  refuseUnnamed,
  TARGET_OPTIONS,
  type TargetOptions,
  targetNote,
} from "./select/command-target.ts";
import { type Io, type Printer, printerOn } from "./io.ts";
import {
  commandHint,
  kindHint,
  commandIn,
  wordsInOrder,
  withSubcommands,
} from "./options/word-order.ts";
import { program } from "./program.ts";
import type { RunAs } from "./options/command-options.ts";

/** As kubectl: a wrong call is a failure too. */
export const EXIT = { done: 0, failed: 1, differs: 1, notCompared: 2 } as const;

/**
 * Runs one command line (without node and file) and returns the exit code: 0 done, 1 an error or a
 * difference, 2 a diff that could not compare. It prints one line per error on standard error.
 */
export const main = async (args: readonly string[], io: Io): Promise<number> => {
  const printer = printerOn(io);
  let target: CommandTarget | undefined;
  const run: RunAs = async (options, shows, work) => {
    target = chooseTarget(targetOptions(root, options), io);
    const chosen = target;
    if (shows === "edit") {
      const folder = (await import("../embedded/folder/folder-lock.ts")).defaultFolderThere();
      // Where there is no data folder, the command says so by itself.
      if (folder !== undefined) refuseUnnamed(chosen, io, folder);
    }
    const onTarget = async () => {
      const session = await io.open(chosen, io.by);
      try {
        await printer.head(session.place, shows);
        await work(session, printer);
      } finally {
        await session.close();
      }
    };
    await (placesOf(root, options).some(({ utc }) => utc) ? inUtc(onTarget) : onTarget());
  };
  const root = program(run, io);
  for (const command of withSubcommands(root)) {
    command
      .exitOverride()
      // Errors are printed below. What commander itself would write is the help of a command that
      // lacks a word, which is no error, as with kubectl.
      .configureOutput({ writeOut: printer.help, writeErr: printer.help, outputError: () => {} });
  }
  try {
    await root.parseAsync(wordsInOrder(root, args), { from: "user" });
    return EXIT.done;
  } catch (error) {
    if (isTidemarkError(error, "cli.differs")) return EXIT.differs;
    const code = failure(error, printer, { target, args });
    // A script must not take a failed comparison for a difference.
    return code === EXIT.failed && COMPARING.has(commandIn(root, args).name())
      ? EXIT.notCompared
      : code;
  }
};

const COMPARING: ReadonlySet<string> = new Set(["diff", "replay"]);

/**
 * The options of the command, and those given before its name: `tidemark --data DIR get`. An option
 * after the name wins.
 */
const targetOptions = (root: Command, own: TargetOptions): TargetOptions => {
  const places = placesOf(root, own);
  return present(
    Object.fromEntries(
      TARGET_OPTIONS.map((name) => [
        name,
        places.find((options) => options[name] !== undefined)?.[name],
      ]),
    ),
  );
};

const placesOf = (root: Command, own: TargetOptions): readonly TargetOptions[] => [
  own,
  ...[root, ...root.commands].map((command): TargetOptions => command.opts()),
];

/** A programmer's error is thrown with its stack, and so is a value that is not an error. */
const isProgrammersError = (error: unknown): boolean =>
  error instanceof TypeError || error instanceof RangeError || !(error instanceof Error);

interface Called {
  readonly target: CommandTarget | undefined;
  readonly args: readonly string[];
}

const failure = (error: unknown, printer: Printer, { target, args }: Called): number => {
  if (error instanceof CommanderError) return usageFailure(error, printer);
  if (isProgrammersError(error)) throw error;
  // What is unhealthy, or not allowed, was printed.
  if (isTidemarkError(error, "cli.unhealthy") || isTidemarkError(error, "cli.denied"))
    return EXIT.failed;
  // A failure of the file system or the tables, or an unknown error, is one line.
  printer.error(
    isTidemarkError(error)
      ? error.message
      : (failureText(error) ?? `Cannot finish: ${String(error).replace(/\s+/g, " ")}`),
  );
  if (!isTidemarkError(error) || isTidemarkError(error, "cli.usage")) return EXIT.failed;
  for (const note of [kindHint(error, args), target && targetNote(target, error)])
    if (note !== undefined) printer.note(note);
  return EXIT.failed;
};

const HELPED = new Set(["commander.help", "commander.helpDisplayed", "commander.version"]);

const usageFailure = (error: CommanderError, printer: Printer): number => {
  if (HELPED.has(error.code)) return EXIT.done;
  const message = usageMessage(error.message);
  const hint =
    error.code === "commander.unknownCommand"
      ? commandHint(/"([^"]*)"/.exec(message)?.[1] ?? "")
      : undefined;
  // A command that is spelt alike means something else: "cost" for "list".
  printer.error(hint === undefined ? message : message.replace(/, did you mean .*$/, ""));
  if (hint !== undefined) printer.note(hint);
  return EXIT.failed;
};
