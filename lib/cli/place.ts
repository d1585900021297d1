import { DEFAULT_DATA_FOLDER } from "../local/folder/layout.ts";
import { isTidemarkError } from "../model/errors.ts";
import { usage } from "./usage.ts";

/** What a command works on, and what named it. */
export type Place =
  | { readonly kind: "folder"; readonly dir: string; readonly from: "--data" | "default" }
  | { readonly kind: "stack"; readonly url: string; readonly from: "--stack" | "TIDEMARK_URL" };

/** The options that every command has for it. */
export interface PlaceOptions {
  readonly data?: string;
  readonly stack?: string;
}

/** An option wins over TIDEMARK_URL, and that over the default folder. Throws a usage error where both options are given. */
export const chosenPlace = ({ data, stack }: PlaceOptions, stackUrl: string | undefined): Place => {
  if (data !== undefined && stack !== undefined)
    throw usage("Cannot use --data and --stack together: one names a folder, the other a deployed stack");
  if (data === "") throw usage("Cannot use --data without a name: it names a data folder");
  if (data !== undefined) return { kind: "folder", dir: data, from: "--data" };
  if (stack !== undefined) return { kind: "stack", url: stack, from: "--stack" };
  if (stackUrl) return { kind: "stack", url: stackUrl, from: "TIDEMARK_URL" };
  return { kind: "folder", dir: DEFAULT_DATA_FOLDER, from: "default" };
};

/** What to say below an error about where it came from: of a stack always, of a folder that nobody named when it is not there. */
export const noteOf = (place: Place, error: unknown): string | undefined => {
  if (place.kind === "stack") return `asked of the stack at ${place.url} (${place.from})`;
  return place.from === "default" && isTidemarkError(error, "local.no-data")
    ? "the data folder is the default one: --data names another, --stack or TIDEMARK_URL a deployed stack"
    : undefined;
};
