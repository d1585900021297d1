import pLimit from "p-limit";
import type { ApiFailure } from "../../model/observation.ts";
import type { Access, Credentials } from "../access/access.ts";
import { CHECK_ANSWER_BYTES, CHECK_MS, CHECK_QUESTION_MS, MAX_PARALLEL_CALLS } from "../request-limits.ts";
import type { Exchange } from "../transport/exchange.ts";
import { answeredFailure, brokenFailure, type JsonObject, malformedFailure, type Subject } from "../transport/failure.ts";
import { connectionPool } from "../transport/pool.ts";
import { sender } from "../transport/send.ts";
import { decodeDocument } from "../wire/decode-json.ts";

/** One question to the API server. A POST goes only to the reviews of the API, which store nothing. */
export interface Question {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** The resource in messages: "selfsubjectreviews.authentication.k8s.io". */
  readonly resource: string;
  /** The body makes it a POST. */
  readonly body?: JsonObject;
}

export interface Reply {
  readonly body: JsonObject;
  /** The clock of the server when it answered, in milliseconds; undefined without a Date header. Exact to a second. */
  readonly dateMs: number | undefined;
  readonly tookMs: number;
}

export type CheckAnswer = { readonly kind: "answered"; readonly reply: Reply } | { readonly kind: "failed"; readonly failure: ApiFailure };

export interface Asker {
  /** Asks once: nothing is repeated. Each question is bounded in time and bytes, and so are all of them together. */
  readonly ask: (question: Question) => Promise<CheckAnswer>;
  readonly close: () => void;
}

export interface AskerOptions {
  readonly cluster: string;
  readonly access: Access;
  readonly clock: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
  /** When the check began, on that clock. */
  readonly startedMs: number;
}

/** Asks over the same pool, addresses and TLS as a sync. */
export const asker = ({ cluster, access, clock, elapsed, startedMs }: AskerOptions): Asker => {
  const pool = connectionPool(access, clock);
  let credentials: Credentials = { headers: {} };
  const noted: Access = {
    ...access,
    credentials: async () => {
      credentials = await access.credentials();
      return credentials;
    },
  };
  const send = sender(noted, pool, elapsed, CHECK_ANSWER_BYTES);
  const gate = pLimit(MAX_PARALLEL_CALLS);
  const ask = async (question: Question): Promise<CheckAnswer> => {
    const method = question.body === undefined ? "GET" : "POST";
    const subject: Subject = { cluster, method, resource: question.resource };
    const beganMs = elapsed();
    const leftMs = CHECK_MS - (beganMs - startedMs);
    if (leftMs <= 0) return failure({ code: 0, reason: "Timeout", message: `the check takes ${CHECK_MS / 1000} s at most, and they are over` });
    const timeoutMs = Math.min(CHECK_QUESTION_MS, leftMs);
    const outcome = await send(method, question, timeoutMs, false);
    if (outcome.kind === "no-credentials") return failure(outcome.failure);
    if (outcome.kind === "broken") return failure(brokenFailure(outcome, subject, timeoutMs));
    return answerOf(outcome, subject, { tookMs: elapsed() - beganMs, credentials });
  };
  return { ask: (question) => gate(ask, question), close: pool.close };
};

/** The report names the cluster and the point, so that only the state is left of the message. */
const failure = (of: ApiFailure): CheckAnswer => ({ kind: "failed", failure: { ...of, message: of.message.replace(SUBJECT, "") } });

const SUBJECT = /^Cannot (?:GET|POST) \S+ of cluster "[^"]*": /;

const answerOf = (
  { status, headers, bytes }: Exclude<Exchange, { kind: "broken" }>,
  subject: Subject,
  { tookMs, credentials }: { readonly tookMs: number; readonly credentials: Credentials },
): CheckAnswer => {
  // A report is shown to people who may not see the credentials.
  if (repeats(bytes, credentials)) return failure(malformedFailure(subject, "the answer repeats the credentials of the request"));
  const body = decodeDocument(bytes);
  if (status < 200 || status > 299) return failure(answeredFailure(status, body, subject));
  if (body === undefined) return failure(malformedFailure(subject, `the server answered ${status} without a JSON object`));
  const dateMs = Date.parse(headers.date ?? "");
  return { kind: "answered", reply: { body, dateMs: Number.isNaN(dateMs) ? undefined : dateMs, tookMs } };
};

const repeats = (bytes: Buffer, { headers }: Credentials): boolean => {
  const { authorization } = headers;
  const secret = typeof authorization === "string" ? authorization.replace(/^\w+ /, "") : "";
  return secret !== "" && bytes.includes(secret);
};
