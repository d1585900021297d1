import { TidemarkError } from "../../rules/model/errors.ts";

/** A wish that cannot be met whatever is stored. */
export const invalid = (message: string, details: object = {}): TidemarkError =>
  new TidemarkError("service.invalid", message, details);

/** A name that nothing has. */
export const unknown = (message: string, details: object): TidemarkError =>
  new TidemarkError("service.unknown", message, details);

/** An edit that another edit, or the present state, is in the way of. */
export const conflict = (message: string, details: object = {}): TidemarkError =>
  new TidemarkError("service.conflict", message, details);

/** Attempts of an edit while other editors win. */
const ATTEMPTS_MAX = 5;

/**
 * Repeats an edit under the version that it reads, while other editors win: `attempt` returns
 * undefined where another one was faster. Throws what `refused` gives.
 */
export const untilStored = async <Result>(
  refused: () => TidemarkError,
  attempt: () => Promise<Result | undefined>,
): Promise<Result> => {
  for (let made = 1; made <= ATTEMPTS_MAX; made++) {
    const result = await attempt();
    if (result !== undefined) return result;
  }
  throw refused();
};
