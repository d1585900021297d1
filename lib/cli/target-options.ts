import type { Command } from "commander";

/** The options that choose the data folder or the stack. They are accepted before and after the name of the command. */
export const withTarget = (command: Command): Command =>
  withPlace(command).option("--region <region>", "AWS region of the stack (default: that of the AWS settings)");

/** Without --region, for a command whose own --region means something else. */
export const withPlace = (command: Command): Command =>
  withStack(command.option("--data <dir>", "data folder of the embedded run (default: .tidemark)"));

/** Without a data folder and --region. */
export const withStack = (command: Command): Command =>
  command
    .option("--utc", "print and read times in UTC, not in the time zone of this machine")
    .option("--stack <stack>", "a deployed stack: its name, or a function URL (default: TIDEMARK_STACK or TIDEMARK_URL)")
    .option("--stage <stage>", "stage of the stack: --stack tidemark --stage prod is --stack tidemark-prod")
    .option("--profile <profile>", "AWS profile with the credentials for the stack (default: that of the AWS settings)");
