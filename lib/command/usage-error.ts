import { isTidemarkError, TidemarkError } from "../rules/model/errors.ts";

/** A usage error: nothing was read or changed. */
export const usage = (message: string): TidemarkError<"cli.usage"> =>
  new TidemarkError("cli.usage", message, undefined);

/**
 * What the work gives; undefined where it failed with one of these codes. Any other failure is
 * thrown.
 */
export const unlessFailed = async <Result>(
  work: Promise<Result>,
  ...codes: readonly string[]
): Promise<Result | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (codes.some((code) => isTidemarkError(error, code))) return undefined;
    throw error;
  }
};
