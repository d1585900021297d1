import type { Command } from "commander";
import { nearest } from "../service/nearest.ts";
import { usage } from "./usage.ts";

/** `help`, and `help COMMAND` as deep as commands go: prints the help and exits with 0. Throws a usage error for a command that there is not. */
export const help = (root: Command): void => {
  root.helpCommand(false);
  root
    .command("help")
    .description("how to call a command")
    .argument("[command...]")
    .action((names: readonly string[]) => commandOf(root, names).outputHelp());
};

const commandOf = (root: Command, names: readonly string[]): Command =>
  names.reduce((parent, name) => {
    const known = parent.commands.find((command) => command.name() === name);
    if (known) return known;
    const near = nearest(
      name,
      parent.commands.map((command) => command.name()),
    );
    throw usage(`Unknown command "${names.join(" ")}"${near === undefined ? "" : `, did you mean "${near}"?`}`);
  }, root);
