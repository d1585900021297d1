import { CommanderError } from "commander";
import { failureText } from "../local/folder/failure-text.ts";
import { isTidemarkError } from "../model/errors.ts";
import { usageWords } from "../report/usage-words.ts";
import { type Io, printerOn } from "./io.ts";
import { chosenPlace, noteOf, type Place } from "./place.ts";
import { program, type Run } from "./program.ts";

export const EXIT = { done: 0, failed: 1, usage: 2 } as const;

/** Runs one command line (without node and file) and gives the exit code: 0 done, 1 an operating error, 2 called wrongly. One line per error on standard error. */
export const main = async (args: readonly string[], io: Io): Promise<number> => {
  const printer = printerOn(io);
  let place: Place | undefined;
  const run: Run = async (options, work) => {
    place = chosenPlace(options, io.stackUrl);
    const session = await io.open(place, io.by);
    try {
      await work(session, printer);
    } finally {
      await session.close();
    }
  };
  const root = program(run, io);
  for (const command of [root, ...root.commands, ...root.commands.flatMap(({ commands }) => commands)]) {
    command
      .exitOverride()
      .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: (text) => io.stderr.write(text), outputError: () => {} });
  }
  try {
    await root.parseAsync(args, { from: "user" });
    return EXIT.done;
  } catch (error) {
    return failure(error, io, place);
  }
};

/** A programmer's mistake is no message for people: it goes up as it is, with its stack. So does what is no error at all. */
const isMistake = (error: unknown): boolean => error instanceof TypeError || error instanceof RangeError || !(error instanceof Error);

const failure = (error: unknown, io: Io, place: Place | undefined): number => {
  if (error instanceof CommanderError) return misuse(error, io);
  if (isMistake(error)) throw error;
  if (!isTidemarkError(error)) return unforeseen(error, io);
  for (const line of error.message.split("\n")) io.stderr.write(`error: ${line}\n`);
  if (isTidemarkError(error, "cli.usage")) return EXIT.usage;
  const note = place && noteOf(place, error);
  if (note !== undefined) io.stderr.write(`note: ${note}\n`);
  return EXIT.failed;
};

/** A failure of the file system or of the tables, or one that has only its own words: on one line. */
const unforeseen = (error: unknown, io: Io): number => {
  io.stderr.write(`error: ${failureText(error) ?? `Cannot go on: ${String(error).replace(/\s+/g, " ")}`}\n`);
  return EXIT.failed;
};

const HELPED = new Set(["commander.helpDisplayed", "commander.version"]);

const misuse = (error: CommanderError, io: Io): number => {
  // Help that was asked for; commander gives the same code to the help that it prints for a command line without a command, and another exit code.
  if (HELPED.has(error.code) || (error.code === "commander.help" && error.exitCode === 0)) return EXIT.done;
  if (error.code !== "commander.help") io.stderr.write(`error: ${usageWords(error.message)}\n`);
  return EXIT.usage;
};
