import pLimit from "p-limit";
import type { ApiFailure } from "../../../rules/model/observation.ts";
import type { Access, Credentials } from "../access/access.ts";
import {
  CHECK_ANSWER_BYTES,
  CHECK_MS,
  CHECK_QUESTION_MS,
  MAX_PARALLEL_CALLS,
  CHECK_NAMESPACES_MAX,
} from "../request-limits.ts";
import { type Exchange, connectionPool } from "../transport/exchange.ts";
import {
  answeredFailure,
  brokenFailure,
  malformedFailure,
  type CallSubject,
} from "../transport/failure.ts";
import { sender } from "../transport/send.ts";
import { decodeDocument } from "../wire/decode-json.ts";
import { foreignText } from "../../../rules/model/foreign-text.ts";
import { asObject, asText, type Json } from "../../../rules/model/json.ts";
import type { TransportOptions } from "../transport/transport.ts";

/**
 * One question to the API server. A POST goes only to the reviews of the API, which store nothing.
 */
export interface Question {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** The resource in messages: "selfsubjectreviews.authentication.k8s.io". */
  readonly resource: string;
  /** The body makes it a POST. */
  readonly body?: Json;
}

export interface CheckReply {
  readonly body: Json;
  /**
   * The clock of the server when it answered, in milliseconds; undefined without a Date header.
   * Exact to a second.
   */
  readonly dateMs: number | undefined;
  readonly tookMs: number;
}

export type CheckAnswer =
  | { readonly kind: "answered"; readonly reply: CheckReply }
  | { readonly kind: "failed"; readonly failure: ApiFailure };

export interface Asker {
  /**
   * Asks once: nothing is repeated. Each question is bounded in time and bytes, and so are all of
   * them together.
   */
  readonly ask: (question: Question) => Promise<CheckAnswer>;
  readonly close: () => void;
}

export interface AskerOptions
  extends Pick<TransportOptions, "cluster" | "access" | "clock" | "elapsed"> {
  /** When the check began, on the clock of `elapsed`. */
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
    const subject: CallSubject = { cluster, method, resource: question.resource };
    const beganMs = elapsed();
    const leftMs = CHECK_MS - (beganMs - startedMs);
    if (leftMs <= 0)
      return failure({
        code: 0,
        reason: "Timeout",
        message: `the check takes ${CHECK_MS / 1000} s at most, and they are over`,
      });
    const timeoutMs = Math.min(CHECK_QUESTION_MS, leftMs);
    const outcome = await send(method, question, timeoutMs, false);
    if (outcome.kind === "no-credentials") return failure(outcome.failure);
    if (outcome.kind === "broken") return failure(brokenFailure(outcome, subject, timeoutMs));
    return answerOf(outcome, subject, { tookMs: elapsed() - beganMs, credentials });
  };
  return { ask: (question) => gate(ask, question), close: pool.close };
};

/** The report names the cluster and the point, so that only the state is left of the message. */
const failure = (of: ApiFailure): CheckAnswer => ({
  kind: "failed",
  failure: { ...of, message: of.message.replace(SUBJECT, "") },
});

const SUBJECT = /^Cannot (?:GET|POST) \S+ of cluster "[^"]*": /;

const answerOf = (
  { status, headers, bytes }: Exclude<Exchange, { kind: "broken" }>,
  subject: CallSubject,
  { tookMs, credentials }: { readonly tookMs: number; readonly credentials: Credentials },
): CheckAnswer => {
  // A report is shown to people who may not see the credentials.
  if (repeats(bytes, credentials))
    return failure(malformedFailure(subject, "the answer repeats the credentials of the request"));
  const body = decodeDocument(bytes);
  if (status < 200 || status > 299) return failure(answeredFailure(status, body, subject));
  if (body === undefined)
    return failure(
      malformedFailure(subject, `the server answered ${status} without a JSON object`),
    );
  const dateMs = Date.parse(headers.date ?? "");
  return {
    kind: "answered",
    reply: { body, dateMs: Number.isNaN(dateMs) ? undefined : dateMs, tookMs },
  };
};

const repeats = (bytes: Buffer, { headers }: Credentials): boolean => {
  const { authorization } = headers;
  const secret = typeof authorization === "string" ? authorization.replace(/^\w+ /, "") : "";
  return secret !== "" && bytes.includes(secret);
};

/** One right, as a SelfSubjectAccessReview names it. */
export interface Right {
  readonly group: string;
  /** The plural, with a subresource behind a slash: "deployments/scale". */
  readonly resource: string;
  readonly verb: string;
}

/** `allowed` says in which namespaces not; `unknown` is a question without an answer. */
export type RightAnswer =
  | { readonly kind: "allowed" }
  | { readonly kind: "refused"; readonly namespaces?: readonly string[]; readonly reason: string }
  | { readonly kind: "unknown"; readonly failure: ApiFailure };

/**
 * Asks for rights in the whole cluster, and in each of the namespaces where the whole cluster is
 * refused.
 */
export type AskRight = (right: Right) => Promise<RightAnswer>;

export const rightsAsker =
  ({ ask }: Asker, namespaces: readonly string[] | undefined): AskRight =>
  async (right) => {
    const whole = await reviewed(ask, right, undefined);
    if (whole.kind !== "refused" || namespaces === undefined) return whole;
    const answers = await Promise.all(
      namespaces
        .slice(0, CHECK_NAMESPACES_MAX)
        .map(async (namespace) => ({ namespace, answer: await reviewed(ask, right, namespace) })),
    );
    const unknown = answers.find(({ answer }) => answer.kind === "unknown");
    if (unknown) return unknown.answer;
    const refused = answers
      .filter(({ answer }) => answer.kind === "refused")
      .map(({ namespace }) => namespace);
    return refused.length === 0 ? { kind: "allowed" } : { ...whole, namespaces: refused };
  };

/** The question whether the user has a right, and its answer. */
export const accessReview = (resourceAttributes: Json): Question & { readonly body: Json } => ({
  path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
  resource: "selfsubjectaccessreviews.authorization.k8s.io",
  body: {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes },
  },
});

const reviewed = async (
  ask: Asker["ask"],
  { group, resource, verb }: Right,
  namespace: string | undefined,
): Promise<RightAnswer> => {
  const [plural, subresource] = resource.split("/");
  const outcome = await ask(
    accessReview({
      group,
      resource: plural,
      verb,
      ...(subresource !== undefined && { subresource }),
      ...(namespace !== undefined && { namespace }),
    }),
  );
  if (outcome.kind === "failed") return { kind: "unknown", failure: outcome.failure };
  const { allowed, reason } = asObject(outcome.reply.body["status"]);
  return allowed === true
    ? { kind: "allowed" }
    : { kind: "refused", reason: foreignText(asText(reason)) };
};

/** "update deployments/scale.apps" */
export const rightText = ({ group, resource, verb }: Right): string =>
  `${verb} ${resource}${group === "" ? "" : `.${group}`}`;
