import { DEFAULT_DATA_FOLDER } from "../local/folder/layout.ts";
import { isTidemarkError } from "../model/errors.ts";
import { usage } from "./usage-error.ts";

/** What a command works on, and the option or variable that chose it. */
export type CommandTarget =
  | { readonly kind: "folder"; readonly dir: string; readonly from: "--data" | "default" }
  | { readonly kind: "stack"; readonly url: string; readonly from: "--stack" | "TIDEMARK_URL" };

/** The options of every command that choose it. */
export interface TargetOptions {
  readonly data?: string;
  readonly stack?: string;
}

/** An option wins over TIDEMARK_URL, and that wins over the default folder. Throws a usage error when both options are given. */
export const chooseTarget = ({ data, stack }: TargetOptions, stackUrl: string | undefined): CommandTarget => {
  if (data !== undefined && stack !== undefined)
    throw usage("Cannot use --data and --stack together: one names a folder, the other a deployed stack");
  if (data === "") throw usage("Cannot use an empty --data: give the path of a data folder");
  if (data !== undefined) return { kind: "folder", dir: data, from: "--data" };
  if (stack !== undefined) return { kind: "stack", url: stack, from: "--stack" };
  if (stackUrl) return { kind: "stack", url: stackUrl, from: "TIDEMARK_URL" };
  return { kind: "folder", dir: DEFAULT_DATA_FOLDER, from: "default" };
};

/** The note below an error: which stack answered, or that the default folder was used and does not exist. */
export const targetNote = (place: CommandTarget, error: unknown): string | undefined => {
  if (place.kind === "stack") return `the stack at ${place.url} answered (from ${place.from})`;
  return place.from === "default" && isTidemarkError(error, "local.no-data")
    ? "this is the default data folder; choose another with --data, or a deployed stack with --stack or TIDEMARK_URL"
    : undefined;
};
