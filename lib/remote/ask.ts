import { isTidemarkError, TidemarkError } from "../model/errors.ts";
import { type Problem, parsedJson, problemIn, type Received, receivedOf } from "./answer.ts";
import type { Caller } from "./caller.ts";
import { platformError, problemError } from "./refusals.ts";
import { queryText, signedHeaders, type Unsigned } from "./sign.ts";
import { type StackUrl, stackUrlIn } from "./stack-url.ts";

/** Everything outside that a request needs. */
export interface Wire {
  readonly stack: StackUrl;
  readonly caller: Caller;
  /** Milliseconds since 1970, of this machine: the signature's. */
  readonly clock: () => number;
  readonly wait: (ms: number) => Promise<void>;
  /** Uniform in [0, 1): the jitter between attempts. */
  readonly random: () => number;
}

/** Sends one request, again where that has no second effect, and gives what was answered. */
export type Ask = (request: Unsigned) => Promise<unknown>;

const ATTEMPTS_MAX = 5;
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;
/** Above the life of each function, so that an answer that does not come means that there is none. */
const DEADLINE_MS = { GET: 70_000, POST: 130_000 };
/** How long a repeat waits for the first request of its key to end. */
const RUNNING_MS = 160_000;

type Outcome = { readonly kind: "answered"; readonly value: unknown } | Failed;
type Failed =
  | { readonly kind: "again"; readonly error: TidemarkError; readonly waitMs?: number; readonly running?: true }
  | { readonly kind: "refused"; readonly error: TidemarkError };

/**
 * Asks a stack. Every GET may be sent again, and so may every POST: its key makes it one edit however often it comes. Throws the stack's own errors, and `remote.*` where the stack could not
 * be asked.
 */
export const asking =
  (wire: Wire): Ask =>
  async (request) => {
    try {
      return await answeredBy(wire, request);
    } catch (error) {
      const stack = namedBy(error, wire.stack);
      if (!stack) throw error;
      // Once: that URL names no other.
      return answeredBy({ ...wire, stack }, request);
    }
  };

const answeredBy = async (wire: Wire, request: Unsigned): Promise<unknown> => {
  const giveUpMs = wire.clock() + RUNNING_MS;
  for (let attempt = 1; ; attempt++) {
    const outcome = await attemptOnce(wire, request);
    if (outcome.kind === "answered") return outcome.value;
    if (isOver(outcome, attempt, wire.clock() > giveUpMs)) throw outcome.error;
    await wire.wait(waitMsBefore(outcome, attempt, wire.random()));
  }
};

/** The URL of the same stack that has the right to connect clusters. Only a function URL of the same region is followed: a request is signed for its host, and carries what was asked. */
const namedBy = (error: unknown, { region, from }: StackUrl): StackUrl | undefined => {
  if (!isTidemarkError(error, "api.connects-elsewhere")) return undefined;
  const { url } = error.details as { readonly url?: string };
  const stack = url === undefined ? undefined : stackUrlIn(url, from);
  return stack?.region === region ? stack : undefined;
};

/** The first request of a key is waited for until it must have ended; everything else is tried a few times. */
const isOver = (outcome: Failed, attempt: number, isLate: boolean): boolean =>
  outcome.kind === "refused" || (outcome.running === true ? isLate : attempt >= ATTEMPTS_MAX);

const waitMsBefore = (outcome: Failed, attempt: number, random: number): number => {
  const asked = outcome.kind === "again" ? (outcome.waitMs ?? 0) : 0;
  return Math.max(asked, random * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1)));
};

const attemptOnce = async (wire: Wire, request: Unsigned): Promise<Outcome> => {
  const credentials = await wire.caller.credentials();
  const { stack } = wire;
  const headers = await signedHeaders(request, stack, credentials, wire.clock());
  const { method, path, query, body } = request;
  const options = {
    method,
    headers,
    redirect: "error" as const,
    signal: AbortSignal.timeout(DEADLINE_MS[method]),
    ...(body !== undefined && { body }),
  };
  try {
    return await outcomeOf(wire, request, await receivedOf(await fetch(`${stack.origin}${path}${queryText(query)}`, options)));
  } catch (cause) {
    if (cause instanceof TidemarkError) throw cause;
    return unreached(stack, cause);
  }
};

const outcomeOf = async (wire: Wire, { method }: Unsigned, received: Received): Promise<Outcome> => {
  const { status, type, text, retryAfterMs } = received;
  if (status === 200 && type === "application/json") {
    const value = parsedJson(text);
    if (value !== undefined) return { kind: "answered", value };
  }
  const waiting = retryAfterMs === undefined ? {} : { waitMs: retryAfterMs };
  const problem = problemIn(received);
  if (problem) return problemOutcome(method, problem, waiting);
  const error = await platformError(received, wire.stack, wire.caller, wire.clock());
  return AGAIN.has(status) ? { kind: "again", error, ...waiting } : { kind: "refused", error };
};

/** Where nothing was done, or a repeat is told what was. */
const AGAIN = new Set([429, 502, 503, 504]);
/** Answers of Tidemark after which looking again may help; those to an edit are kept under its key, and would only be told again. */
const PASSING = new Set([429, 503]);

const problemOutcome = (method: Unsigned["method"], problem: Problem, waiting: { readonly waitMs?: number }): Outcome => {
  const error = problemError(problem);
  if (problem.code === "api.running") return { kind: "again", error, running: true, ...waiting };
  return method === "GET" && PASSING.has(problem.status) ? { kind: "again", error, ...waiting } : { kind: "refused", error };
};

/** No connection was ever made: nothing was asked, and asking again will not find the host either. */
const NOBODY = new Set(["ENOTFOUND", "ERR_INVALID_URL"]);

const unreached = ({ origin }: StackUrl, cause: unknown): Outcome => {
  const code = codeOf(cause);
  if (NOBODY.has(code)) {
    return {
      kind: "refused",
      error: new TidemarkError("remote.unreachable", `Cannot reach the stack at "${origin}": there is no such host`, {}, { cause }),
    };
  }
  const error = new TidemarkError(
    "remote.unclear",
    `Cannot reach the stack at "${origin}": no clear answer after ${ATTEMPTS_MAX} attempts (${code})`,
    {},
    { cause },
  );
  return { kind: "again", error };
};

/** fetch wraps what went wrong, and some of that again. */
const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if ("code" in error && typeof error.code === "string") return error.code;
  if (error.cause instanceof AggregateError) return codeOf(error.cause.errors[0]);
  if (error.name === "TimeoutError") return "no answer in time";
  return error.cause === undefined ? error.message : codeOf(error.cause);
};
