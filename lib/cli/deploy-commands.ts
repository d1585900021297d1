import type { Command } from "commander";
import type { DeployOptions, ShowOptions, StackOptions } from "./commands/stack.ts";
import type { CommandIo, Printer } from "./io.ts";
import { output } from "./output-option.ts";
import { repeatable } from "./repeatable.ts";
import { usage } from "./usage-error.ts";

/** Loads the code when a command runs, so that help stays fast. */
const code = () => import("./commands/stack.ts");

/** Commands that deploy the stack from a checkout, with the parameters of a file. */
export const deployCommands = (root: Command, io: CommandIo, printer: Printer): void => {
  const stack = root
    .command("stack")
    .enablePositionalOptions()
    .description("deploy, compare, show and remove the stack that a file of parameters describes");
  /** The file says stage and region. An option before the command that names another target would be passed over. */
  const aimed = <Options extends StackOptions>(options: Options): Options => {
    const { profile, ...others } = root.opts<Readonly<Record<string, string | undefined>>>();
    const stray = Object.keys(others).find((name) => others[name] !== undefined);
    if (stray !== undefined) throw usage(`Cannot use --${stray} with stack commands: stage and region are in the file of --params`);
    return profile === undefined ? options : { profile, ...options };
  };
  const withParams = (command: Command): Command =>
    command
      .requiredOption("--params <file>", "YAML with stage, region and parameters of the stack")
      .option("--profile <profile>", "AWS profile with the credentials (default: that of the AWS settings)");
  withParams(stack.command("deploy"))
    .description("deploy the checkout in this folder; refuses a file with a mistake, and a deployment that would drop a value of the stack")
    .option("--set <name=value>", "deploy this value too, and then write it into the file (repeatable)", repeatable)
    .option("--drop <name>", "let the stack lose the value of this parameter (repeatable)", repeatable)
    .action(async (options: DeployOptions) => (await code()).deploy(printer, aimed(options), io));
  withParams(stack.command("diff"))
    .description("show what a deployment with the file would change; exit code 1 when something differs")
    .addOption(output(["text", "json", "yaml"]))
    .action(async (options: ShowOptions) => (await code()).diff(printer, aimed(options), io));
  withParams(stack.command("status"))
    .description("show state, version and parameters of the stack; exit code 1 when its deployment failed")
    .addOption(output(["text", "json", "yaml"]))
    .action(async (options: ShowOptions) => (await code()).status(printer, aimed(options), io));
  withParams(stack.command("remove"))
    .description("remove the stack; its tables stay, with all data")
    .option("--yes", "confirm it without a question")
    .action(async (options: StackOptions & { readonly yes?: boolean }) => (await code()).remove(printer, aimed(options), io));
};
