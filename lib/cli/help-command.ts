import type { Command } from "commander";
import { nearestName } from "../model/nearest-name.ts";
import { usage } from "./usage-error.ts";

/** Adds `help` and `help COMMAND`, which print help and exit with 0. Throws a usage error for an unknown command. */
export const help = (root: Command): void => {
  root.helpCommand(false);
  root
    .command("help")
    .description("show the help of a command")
    .argument("[command...]")
    .action((names: readonly string[]) => commandOf(root, names).outputHelp());
};

const commandOf = (root: Command, names: readonly string[]): Command =>
  names.reduce((parent, name) => {
    const known = parent.commands.find((command) => command.name() === name);
    if (known) return known;
    const near = nearestName(
      name,
      parent.commands.map((command) => command.name()),
    );
    throw usage(`Unknown command "${names.join(" ")}"${near === undefined ? "" : `, did you mean "${near}"?`}`);
  }, root);
