import { TidemarkError } from "../model/errors.ts";

/** The command was called wrongly: exit code 2, nothing was read or changed. */
export const usage = (message: string): TidemarkError<"cli.usage"> => new TidemarkError("cli.usage", message, undefined);
