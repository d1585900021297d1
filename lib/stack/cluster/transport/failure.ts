import { isTidemarkError } from "../../../rules/model/errors.ts";
import { foreignReason, foreignText } from "../../../rules/model/foreign-text.ts";
import type { Json } from "../../../rules/model/json.ts";
import type { ApiFailure } from "../../../rules/model/observation.ts";
import { OWN_ADDRESS } from "../reachable.ts";
import type { Broken } from "./exchange.ts";

/** The subject of a call in messages: `GET deployments.apps of cluster "eu-1"`. */
export interface CallSubject {
  readonly cluster: string;
  readonly method: "DELETE" | "GET" | "PATCH" | "POST" | "PUT";
  /** The resource as in messages of the API server: "pods.metrics.k8s.io". */
  readonly resource: string;
}

/** The reason of an answer that did not come, or did not end, in its time. */
export const TIMEOUT = "Timeout";

/**
 * The reason of an answer with more bytes or objects than may be read. Fewer objects may be
 * readable.
 */
export const ANSWER_TOO_LARGE = "AnswerTooLarge";

/**
 * The failure of an answer outside 2xx: the Status object of the server, or a standard message
 * where it sent none.
 */
export const answeredFailure = (
  code: number,
  body: Json | undefined,
  subject: CallSubject,
): ApiFailure => {
  const status = statusObject(body);
  if (status)
    return {
      code,
      reason: status.reason ?? wordsFor(code).reason,
      message: foreignText(status.message),
    };
  const { reason, message } = wordsFor(code);
  return {
    code,
    reason,
    message: `${message} (${subject.method.toLowerCase()} ${subject.resource})`,
  };
};

/**
 * The failure of a missing or broken answer: code 0, a reason, and a message with the name of the
 * cluster.
 */
export const brokenFailure = (
  broken: Broken,
  subject: CallSubject,
  timeoutMs: number,
): ApiFailure => {
  const { reason, state } = diagnosis(broken, timeoutMs);
  return {
    code: 0,
    reason,
    message: `Cannot ${subject.method} ${subject.resource} of cluster "${subject.cluster}": ${state}`,
  };
};

/**
 * The failure of a 2xx answer whose body is not the expected object, such as the page of a proxy.
 * One with too many values is like one with too many bytes: a smaller page may be read.
 */
export const malformedFailure = (
  subject: CallSubject,
  state: string,
  reason = "MalformedAnswer",
): ApiFailure => ({
  code: 0,
  reason,
  message: `Cannot ${subject.method} ${subject.resource} of cluster "${subject.cluster}": ${state}`,
});

/** Why an exchange broke: a reason, and words for people that name no address. */
export const diagnosis = (broken: Broken, timeoutMs: number): { reason: string; state: string } => {
  if (broken.because === "too-large")
    return { reason: ANSWER_TOO_LARGE, state: broken.error.message };
  if (broken.because === "timeout") {
    const state = broken.answering
      ? "the answer was not complete"
      : broken.sent
        ? "no answer"
        : "no connection";
    return { reason: TIMEOUT, state: `${state} within ${Math.round(timeoutMs)} ms` };
  }
  return networkDiagnosis(broken);
};

const networkDiagnosis = (broken: Broken): { reason: string; state: string } => {
  const words = foreignText(broken.error.message);
  if (isTidemarkError(broken.error, OWN_ADDRESS)) return { reason: "AddressRefused", state: words };
  const code = broken.error.code ?? "";
  const known = NETWORK_REASONS[code] ?? (isTlsCode(code, broken) ? TLS_REASON : undefined);
  if (known) return { reason: known.reason, state: `${known.state} (${code})` };
  return broken.sent
    ? {
        reason: "ConnectionReset",
        state: `the connection broke before the answer was complete: ${words}`,
      }
    : { reason: "Unreachable", state: words };
};

interface Known {
  readonly reason: string;
  readonly state: string;
}

const TLS_REASON: Known = {
  reason: "TlsVerificationFailed",
  state: "the server's certificate is not signed by the cluster's CA or not made for this address",
};

const NETWORK_REASONS: Readonly<Record<string, Known>> = {
  ECONNREFUSED: { reason: "ConnectionRefused", state: "nothing listens at the server's address" },
  ENOTFOUND: { reason: "UnknownHost", state: "the server's name does not resolve" },
  EAI_AGAIN: { reason: "UnknownHost", state: "the server's name could not be resolved now" },
  EHOSTUNREACH: { reason: "Unreachable", state: "no route to the server" },
  ENETUNREACH: { reason: "Unreachable", state: "no route to the server" },
  ETIMEDOUT: { reason: "Timeout", state: "the network gave up waiting" },
};

/**
 * Error codes of a failed TLS verification: names of OpenSSL (UNABLE_TO_…, SELF_SIGNED_…, CERT_…,
 * DEPTH_…) and ERR_TLS_… of Node. All occur before anything is sent.
 */
const isTlsCode = (code: string, broken: Broken): boolean =>
  !broken.sent &&
  /^(UNABLE_|SELF_SIGNED_|DEPTH_ZERO_|CERT_|ERR_TLS_|ERR_SSL_|INVALID_CA)/.test(code);

const statusObject = (
  body: Json | undefined,
): { readonly reason?: string; readonly message: string } | undefined => {
  if (body?.["kind"] !== "Status" || typeof body["message"] !== "string") return undefined;
  const reason = foreignReason(String(body["reason"]));
  return {
    message: body["message"],
    ...(body["reason"] !== undefined && reason !== undefined && { reason }),
  };
};

/**
 * Messages of Kubernetes clients for an answer without a Status object, because people search for
 * them.
 */
const wordsFor = (status: number): { reason: string; message: string } =>
  STATUS_WORDS[status] ?? {
    reason: status >= 500 ? "InternalError" : "Unknown",
    message: `the server answered ${status} and said no more`,
  };

const STATUS_WORDS: Readonly<Record<number, { reason: string; message: string }>> = {
  400: { reason: "BadRequest", message: "the server rejected our request for an unknown reason" },
  401: {
    reason: "Unauthorized",
    message: "the server has asked for the client to provide credentials",
  },
  403: {
    reason: "Forbidden",
    message: "the server does not allow access to the requested resource",
  },
  404: { reason: "NotFound", message: "the server could not find the requested resource" },
  409: { reason: "Conflict", message: "the server reported a conflict" },
  410: { reason: "Expired", message: "the requested version has expired on the server" },
  422: {
    reason: "Invalid",
    message: "the server rejected our request due to an error in our request",
  },
  429: {
    reason: "TooManyRequests",
    message: "the server has received too many requests and has asked us to try again later",
  },
  503: {
    reason: "ServiceUnavailable",
    message: "the server is currently unable to handle the request",
  },
  504: {
    reason: "Timeout",
    message:
      "the server was unable to return a response in the time allotted, but may still be processing the request",
  },
};
