import { Argument, type Command } from "commander";
import { block, lines, text } from "../report/printed.ts";
import { example } from "./command-examples.ts";
import type { Shell } from "./completion/scripts.ts";
import type { Io, Printer } from "./io.ts";

/** `completion`, and the hidden command that the scripts of the shells call with the words before the cursor. */
export const completionCommands = (root: Command, io: Pick<Io, "open" | "by" | "stackName" | "stackUrl">, printer: Printer): void => {
  root
    .command("completion")
    .description("print the script that completes commands, options and names in a shell")
    .addArgument(new Argument("<shell>").choices(["bash", "zsh", "fish"]))
    .addHelpText(
      "after",
      example(
        "source <(tidemark completion bash)",
        "source <(tidemark completion zsh)",
        "tidemark completion fish > ~/.config/fish/completions/tidemark.fish",
      ),
    )
    .action(async (shell: Shell) => {
      await printer.print(block((await import("./completion/scripts.ts")).SCRIPTS[shell]));
    });
  root
    .command("__complete", { hidden: true })
    .description("print the words that can follow, one a line, as the completion of kubectl plugins reads them")
    .argument("[words...]")
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (before: readonly string[]) => {
      const [{ completionOf }, { readNames }] = await Promise.all([import("./completion/candidates.ts"), import("./completion/read-names.ts")]);
      const { candidates, files } = await completionOf(root, before, (typed) => readNames(io, typed));
      const words = candidates.map(({ word, about }) => (about === undefined || about === "" ? word : text`${word}\t${about}`));
      await printer.print(lines([...words, files ? ":0" : ":4"]));
    });
};
