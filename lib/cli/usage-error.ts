import { TidemarkError } from "../model/errors.ts";

/** A usage error: nothing was read or changed. */
export const usage = (message: string): TidemarkError<"cli.usage"> => new TidemarkError("cli.usage", message, undefined);
