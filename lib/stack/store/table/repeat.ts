import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { TidemarkError } from "../../../rules/model/errors.ts";
import { itemKey, planKey } from "./keys.ts";
import { clockWrongBy, mustHaveRightClock } from "./server-clock.ts";
import type { Tables } from "./tables.ts";

const ATTEMPTS_MAX = 8;
const FIRST_WAIT_MS = 25;
const LONGEST_WAIT_MS = 1_000;

/** Errors of requests that were not executed. The same request may be sent again. */
const THROTTLES = new Set([
  "ProvisionedThroughputExceededException",
  "ProvisionedThroughputExceeded",
  "ThrottlingException",
  "ThrottlingError",
  "RequestLimitExceeded",
  "LimitExceededException",
]);
/** Errors without an answer, or with one that does not say whether the request was executed. */
const UNCLEAR = new Set([
  "InternalServerError",
  "InternalServerErrorException",
  "ServiceUnavailable",
  "TimeoutError",
  "AbortError",
  "ECONNRESET",
  "ECONNREFUSED",
  "EPIPE",
  "ETIMEDOUT",
  "EAI_AGAIN",
  "ENOTFOUND",
]);
const FIRST_SERVER_ERROR = 500;

const textOf = (error: object, key: "name" | "code"): string => {
  const value: unknown = Reflect.get(error, key);
  return typeof value === "string" ? value : "";
};

const statusOf = (error: object): number => {
  const metadata: unknown = Reflect.get(error, "$metadata");
  const status: unknown =
    typeof metadata === "object" && metadata !== null
      ? Reflect.get(metadata, "httpStatusCode")
      : undefined;
  return typeof status === "number" ? status : 0;
};

/**
 * True for errors after which the same request is sent again: throttling, an error of the server,
 * or no answer.
 */
export const isTransient = (error: unknown): boolean => {
  if (typeof error !== "object" || error === null) return false;
  const names = [textOf(error, "name"), textOf(error, "code")];
  return (
    names.some((name) => THROTTLES.has(name) || UNCLEAR.has(name)) ||
    statusOf(error) >= FIRST_SERVER_ERROR
  );
};

/** True when the service throttled the request and did not execute it. */
export const isThrottle = (error: unknown): boolean =>
  typeof error === "object" &&
  error !== null &&
  (THROTTLES.has(textOf(error, "name")) || THROTTLES.has(textOf(error, "code")));

/**
 * True for the code of a statement of a batch that was throttled or failed on the server. Only this
 * statement is sent again.
 */
export const isTransientCode = (code: string | undefined): boolean =>
  code !== undefined && (THROTTLES.has(code) || UNCLEAR.has(code));

/**
 * Sends a request until its answer is clear, with exponential backoff and full jitter, until
 * `tables.untilMs`. A conditional write may always be sent again: it has the same condition and
 * token, so that it takes effect once, and the caller interprets a refusal. Throws `store.unclear`
 * when time or attempts are over.
 */
export const repeat = async <Result>(
  tables: Tables,
  action: string,
  send: () => Promise<Result>,
): Promise<Result> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      if (!isTransient(error)) throw error;
      await backOff(tables, action, attempt, error);
    }
  }
};

/** Waits before the next attempt, or throws `store.unclear` when this was the last. */
export const backOff = async (
  tables: Tables,
  action: string,
  attempt: number,
  cause: unknown,
): Promise<void> => {
  const waitMs = tables.random() * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
  if (
    attempt >= ATTEMPTS_MAX ||
    tables.clock() + waitMs > (tables.untilMs ?? Number.POSITIVE_INFINITY)
  ) {
    throw new TidemarkError(
      "store.unclear",
      `Cannot ${action}: no clear answer after ${attempt} attempts`,
      { action, attempts: attempt },
      { cause },
    );
  }
  await tables.wait(waitMs);
};

/**
 * Makes sure that the own clock was compared with the clock of the service: by a read, whose answer
 * has its time, where there was no answer yet, or the last one showed an error that may have been
 * corrected since.
 */
export const compareClock = async (tables: Tables): Promise<void> => {
  if (!tables.serverClock) return;
  if (tables.serverClock() !== undefined && clockWrongBy(tables) === undefined) return;
  if (tables.askServerClock) return tables.askServerClock();
  const params = { TableName: tables.stateTable, Key: itemKey(planKey) };
  await repeat(tables, "ask the tables for the time", () =>
    tables.client.send(new GetItemCommand(params)),
  );
};

/**
 * The own clock for work that stores, or sends, what follows from it: each reading is compared with
 * the clock of the service. Readings throw `store.clock-wrong`.
 */
export const comparedClock = async (
  tables: Tables,
  action: string,
  clock: () => number = tables.clock,
): Promise<() => number> => {
  await compareClock(tables);
  return () => {
    mustHaveRightClock(tables, action);
    return clock();
  };
};

/**
 * Sends a write like `repeat`, and only under a right clock: whatever is stored carries a time, or
 * was decided by one. Every write of every function goes through here; those without a time, which
 * undo what a wrong clock has begun, are sent by `repeat` and say so. Throws `store.clock-wrong`.
 */
export const repeatWrite = async <Result>(
  tables: Tables,
  action: string,
  send: () => Promise<Result>,
): Promise<Result> => {
  await compareClock(tables);
  return repeat(tables, action, () => {
    mustHaveRightClock(tables, action);
    return send();
  });
};

/** Sends a conditional write until its answer is clear. False where its condition refused it. */
export const wasExecuted = async (
  tables: Tables,
  action: string,
  send: () => Promise<unknown>,
): Promise<boolean> => {
  try {
    await repeatWrite(tables, action, send);
    return true;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return false;
  }
};

/** True for the refusal of a condition, the only exception that the senders translate. */
export const isRefusal = (error: unknown): boolean =>
  typeof error === "object" &&
  error !== null &&
  textOf(error, "name") === "ConditionalCheckFailedException";
