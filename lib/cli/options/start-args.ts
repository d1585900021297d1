import { program } from "../program.ts";
import { commandIn, wordsWithoutName } from "./word-order.ts";

/** The options of a run in "--data DIR start --speed 10"; undefined where the words name another command. */
export const startArgs = (args: readonly string[]): readonly string[] | undefined => {
  // Only the names of the commands and the forms of their options are read here.
  const root = program(async () => {}, NOTHING_RUNS);
  return commandIn(root, args).name() === "start" ? wordsWithoutName(root, args) : undefined;
};

const NOTHING_RUNS: Parameters<typeof program>[1] = {
  ...{ stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, colours: false, by: "" },
  open: () => Promise.reject(new RangeError("nothing is opened to read the words of a command line")),
};
