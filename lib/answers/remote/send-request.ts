import { SignatureV4 } from "@smithy/signature-v4";
import { type AwsCredentials, Sha256 } from "../../stack/aws/sha256.ts";
import { isTidemarkError, TidemarkError } from "../../rules/model/errors.ts";
import { IF_NONE_MATCH_HEADER } from "../api/paths.ts";
import { percentEncoded } from "../../rules/model/foreign-text.ts";
import { jsonIn } from "../../rules/model/json.ts";
import {
  type HttpAnswer,
  type AnsweredProblem,
  problemIn,
  readResponse,
  platformError,
  problemError,
} from "./answer.ts";
import type { Caller } from "./caller.ts";
import { type FunctionPlace, functionPlace } from "../api/signed-call.ts";
import { invokedFunction, type StackUrl, stackUrlIn } from "./find-stack.ts";
import { answerOfInvocation, invokePath, signedCallOf } from "./invoke-function.ts";

/** What a request needs from outside. */
export interface SenderOptions {
  readonly stack: StackUrl;
  readonly caller: Caller;
  /** This machine's clock, in milliseconds since 1970. Signatures carry its time. */
  readonly clock: () => number;
  readonly wait: (ms: number) => Promise<void>;
  /** Uniform in [0, 1), for the jitter between attempts. */
  readonly random: () => number;
  /** The longest wait for one answer, where it is not the time that a function can live. */
  readonly deadlineMs?: number;
}

/** Sends one request, with retries where they have no second effect, and returns the answer. */
export type SendRequest = (request: UnsignedRequest) => Promise<unknown>;

const ATTEMPTS_MAX = 5;
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;
/** Longer than each function can live, so an answer that has not come by then will not come. */
const DEADLINE_MS = { GET: 70_000, POST: 130_000 };
/** How long a retry waits for the first request with its key to end. */
const RUNNING_WAIT_MS = 160_000;

/** An answer of the stack. `value` is its JSON; absent where it says that nothing has changed. */
interface Answered {
  readonly kind: "answered";
  readonly value?: unknown;
  readonly received: HttpAnswer;
}

type Outcome = Answered | Failed;
type Failed = {
  readonly error: TidemarkError;
  /** The problem that Tidemark answered; absent where the platform refused, or nothing came. */
  readonly received?: HttpAnswer;
} & (
  | { readonly kind: "again"; readonly waitMs?: number; readonly running?: true }
  | { readonly kind: "refused" }
);

/** Sends one request, as `SendRequest`, and gives the answer as it came, with its problems. */
export type ExchangeRequest = (request: UnsignedRequest) => Promise<HttpAnswer>;

/**
 * Sends requests to a stack for a program that reads its answers itself. Throws `remote.*` where
 * the stack cannot be reached or is not Tidemark.
 */
export const requestExchange =
  (wire: SenderOptions): ExchangeRequest =>
  async (request) => {
    const ended = await sendWithRetries(wire, request);
    if (ended.kind === "answered") return ended.received;
    if (ended.received) return ended.received;
    throw ended.error;
  };

/**
 * Sends requests to a stack. A GET can be retried, and so can a POST, because its idempotency key
 * makes it one edit. Throws the stack's own errors, and `remote.*` where the stack cannot be
 * reached.
 */
export const requestSender =
  (wire: SenderOptions): SendRequest =>
  async (request) => {
    const ended = await sendWithRetries(wire, request);
    if (ended.kind === "answered") return ended.value;
    const stack = connectStack(ended.error, wire.stack);
    // Followed once, because that URL names no other.
    const followed = stack && (await sendWithRetries({ ...wire, stack }, request));
    if (followed?.kind === "answered") return followed.value;
    throw (followed ?? ended).error;
  };

/** How a request ended at last. */
const sendWithRetries = async (wire: SenderOptions, request: UnsignedRequest): Promise<Outcome> => {
  const giveUpMs = wire.clock() + RUNNING_WAIT_MS;
  for (let attempt = 1; ; attempt++) {
    const outcome = await attemptOnce(wire, request);
    if (outcome.kind === "answered") return outcome;
    if (isFinal(outcome, attempt, wire.clock() > giveUpMs)) return outcome;
    await wire.wait(waitMsBefore(outcome, attempt, wire.random()));
  }
};

/**
 * The place of the same stack that connects clusters. Only a function URL of the same region, or a
 * function of the same account and region, is followed, because the signed request carries
 * credentials of the caller's account.
 */
const connectStack = (
  error: unknown,
  { region, from, invokes }: StackUrl,
): StackUrl | undefined => {
  if (!isTidemarkError(error, "api.connects-elsewhere")) return undefined;
  const { url } = error.details as { readonly url?: string };
  if (invokes) {
    const place = url === undefined ? undefined : functionPlace(url);
    const isSame = place?.region === region && place.account === invokes.account;
    return isSame ? invokedFunction(place, from) : undefined;
  }
  const stack = url === undefined ? undefined : stackUrlIn(url, from);
  return stack?.region === region ? stack : undefined;
};

/**
 * Waits for the first request of a key until it must have ended. Anything else is tried a few
 * times.
 */
const isFinal = (outcome: Failed, attempt: number, isLate: boolean): boolean =>
  outcome.kind === "refused" || (outcome.running === true ? isLate : attempt >= ATTEMPTS_MAX);

const waitMsBefore = (outcome: Failed, attempt: number, random: number): number => {
  const requestedMs = outcome.kind === "again" ? (outcome.waitMs ?? 0) : 0;
  return Math.max(
    requestedMs,
    random * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1)),
  );
};

const attemptOnce = async (wire: SenderOptions, request: UnsignedRequest): Promise<Outcome> => {
  const credentials = await wire.caller.credentials();
  const { stack } = wire;
  const nowMs = wire.clock();
  const sent = stack.invokes
    ? await invocationOf(request, stack.invokes, credentials, nowMs)
    : request;
  const { method, path, query, body } = sent;
  const options = {
    method,
    headers: await signedHeaders(sent, stack, credentials, nowMs),
    redirect: "error" as const,
    signal: AbortSignal.timeout(wire.deadlineMs ?? DEADLINE_MS[request.method]),
    ...(body !== undefined && { body }),
  };
  try {
    const response = await fetch(`${stack.origin}${path}${queryText(query)}`, options);
    const answer = stack.invokes ? await answerOfInvocation(response) : response;
    return await outcomeOf(wire, request, await readResponse(answer));
  } catch (cause) {
    if (cause instanceof TidemarkError) throw cause;
    return unreachable(stack, cause);
  }
};

/** The request to Lambda that carries a request to a function, and the proof of its caller. */
const invocationOf = async (
  { method, path, query, headers, body = "" }: UnsignedRequest,
  place: FunctionPlace,
  credentials: AwsCredentials,
  nowMs: number,
): Promise<UnsignedRequest> => {
  // A function answers 6 MB at most, and more of a list fits in compressed.
  const request = {
    ...{ method, path, body, query: queryText(query).slice(1) },
    headers: { ...headers, "accept-encoding": "gzip" },
  };
  const call = await signedCallOf(place, request, credentials, nowMs);
  return {
    ...{ method: "POST", path: invokePath(place), query: {} },
    headers: { "content-type": "application/json" },
    body: JSON.stringify(call),
  };
};

const NOT_MODIFIED = 304;

const outcomeOf = async (
  wire: SenderOptions,
  { method, headers }: UnsignedRequest,
  received: HttpAnswer,
): Promise<Outcome> => {
  const { status, type, text, retryAfterMs } = received;
  if (status === NOT_MODIFIED && headers[IF_NONE_MATCH_HEADER] !== undefined)
    return { kind: "answered", received };
  if (status === 200 && type === "application/json") {
    const value = jsonIn(text);
    if (value !== undefined) return { kind: "answered", value, received };
  }
  const waiting = retryAfterMs === undefined ? {} : { waitMs: retryAfterMs };
  const problem = problemIn(received);
  if (problem) return { ...problemOutcome(method, problem, waiting), received };
  const error = await platformError(received, wire.stack, wire.caller, wire.clock());
  return RETRIED_STATUSES.has(status)
    ? { kind: "again", error, ...waiting }
    : { kind: "refused", error };
};

/** Status codes of the platform after which a retry is safe. */
const RETRIED_STATUSES = new Set([429, 502, 503, 504]);
/**
 * Status codes of Tidemark after which a query may succeed later. The answer to an edit is stored
 * under its key, so a retry would only get it again.
 */
const RETRIED_PROBLEMS = new Set([429, 503]);

const problemOutcome = (
  method: UnsignedRequest["method"],
  problem: AnsweredProblem,
  waiting: { readonly waitMs?: number },
): Failed => {
  const error = problemError(problem);
  if (problem.code === "api.running") return { kind: "again", error, running: true, ...waiting };
  return method === "GET" && RETRIED_PROBLEMS.has(problem.status)
    ? { kind: "again", error, ...waiting }
    : { kind: "refused", error };
};

/** No connection was made, and a retry will not find the host either. */
const NO_HOST = new Set(["ENOTFOUND", "ERR_INVALID_URL"]);
/**
 * Error codes of a certificate that is not accepted: names of OpenSSL and ERR_TLS_… of Node.
 * Nothing was sent, and a retry meets the same certificate.
 */
const WRONG_CERTIFICATE = /^(UNABLE_TO_|SELF_SIGNED_|CERT_|DEPTH_ZERO_|ERR_TLS_CERT)/;

const unreachable = ({ origin }: StackUrl, cause: unknown): Failed => {
  const code = codeOf(cause);
  const refused = (words: string): Failed => ({
    kind: "refused",
    error: new TidemarkError(
      "remote.unreachable",
      `Cannot reach the stack at "${origin}": ${words}`,
      {},
      { cause },
    ),
  });
  if (NO_HOST.has(code)) return refused("the host does not exist; check the URL");
  if (WRONG_CERTIFICATE.test(code)) {
    return refused(
      `its certificate is not accepted (${code}), and nothing was sent; where a proxy of your company opens TLS, name its CA in NODE_EXTRA_CA_CERTS`,
    );
  }
  const error = new TidemarkError(
    "remote.unclear",
    `Cannot reach the stack at "${origin}": no clear answer after ${ATTEMPTS_MAX} attempts (${code})`,
    {},
    { cause },
  );
  return { kind: "again", error };
};

/** fetch wraps the network error, sometimes twice. */
const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if ("code" in error && typeof error.code === "string") return error.code;
  if (error.cause instanceof AggregateError) return codeOf(error.cause.errors[0]);
  if (error.name === "TimeoutError") return "no answer in time";
  return error.cause === undefined ? error.message : codeOf(error.cause);
};

/** One request before it is signed. */
interface UnsignedRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The service name that function URLs expect in signatures. */
const SERVICE = "lambda";

/**
 * SigV4 headers. They prove the sender and protect the request from changes, and are valid for five
 * minutes around `nowMs`.
 */
export const signedHeaders = async (
  request: UnsignedRequest,
  { host, region }: Pick<StackUrl, "host" | "region">,
  credentials: AwsCredentials,
  nowMs: number,
): Promise<Readonly<Record<string, string>>> => {
  const signer = new SignatureV4({ service: SERVICE, region, credentials, sha256: Sha256 });
  const { method, path, query, body } = request;
  const { headers } = await signer.sign(
    {
      method,
      protocol: "https:",
      hostname: host,
      path,
      query: { ...query },
      headers: { ...request.headers, host },
      ...(body !== undefined && { body }),
    },
    { signingDate: new Date(nowMs) },
  );
  // The connection sets the host header itself.
  const { host: _host, ...rest } = headers;
  return rest;
};

/** The query string in the canonical form of the signature. */
const queryText = (query: Readonly<Record<string, string>>): string => {
  const pairs = Object.entries(query).map(
    ([name, value]) => `${percentEncoded(name)}=${percentEncoded(value)}`,
  );
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
};
