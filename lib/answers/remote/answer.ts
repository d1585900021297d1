import { PROBLEM_TYPE, TAG_HEADER } from "../api/paths.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { asObject, jsonIn, present } from "../../rules/model/json.ts";
import type { Caller } from "./caller.ts";
import type { StackUrl } from "./find-stack.ts";
import { SECOND_MS } from "../../rules/model/time-text.ts";

export interface HttpAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  /** The platform's name for its own refusal. */
  readonly errorType: string;
  /** The server's clock. */
  readonly dateMs?: number;
  readonly retryAfterMs?: number;
  /** What the answer shows, for a request that has an earlier one. */
  readonly tag?: string;
}

/** A problem that Tidemark answered. Other refusals come from the platform. */
export interface AnsweredProblem {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  /** The URL that takes this request. */
  readonly url?: string;
  /** What a look at a cluster found, where that is why it is refused. */
  readonly report?: unknown;
}

export const readResponse = async (response: Response): Promise<HttpAnswer> => {
  const dateMs = Date.parse(response.headers.get("date") ?? "");
  const tag = response.headers.get(TAG_HEADER);
  const retryAfterMs = Number(response.headers.get("retry-after") ?? Number.NaN) * 1_000;
  return {
    status: response.status,
    type: (response.headers.get("content-type") ?? "").split(";")[0]?.trim() ?? "",
    text: await response.text(),
    errorType: response.headers.get("x-amzn-errortype") ?? "",
    ...(Number.isFinite(dateMs) && { dateMs }),
    ...(retryAfterMs >= 0 && { retryAfterMs }),
    ...(tag !== null && { tag }),
  };
};

export const problemIn = ({ type, text }: HttpAnswer): AnsweredProblem | undefined => {
  if (type !== PROBLEM_TYPE) return undefined;
  const { status, code, detail, url, report } = asObject(jsonIn(text));
  if (typeof status !== "number" || typeof code !== "string" || typeof detail !== "string")
    return undefined;
  return present({ status, code, detail, url: typeof url === "string" ? url : undefined, report });
};

/**
 * An error that Tidemark answered, with its own code and message: the same as from the embedded
 * run.
 */
export const problemError = ({ code, detail, ...details }: AnsweredProblem): TidemarkError =>
  new TidemarkError(code, detail, details);

/** An error that the platform answered before Tidemark ran, in words that a person can act on. */
export const platformError = async (
  received: HttpAnswer,
  stack: StackUrl,
  caller: Caller,
  nowMs: number,
): Promise<TidemarkError> => {
  const cannot = `Cannot use the stack at "${stack.invokes?.arn ?? stack.origin}"`;
  const { status } = received;
  const error = (code: string, words: string): TidemarkError =>
    new TidemarkError(`remote.${code}`, `${cannot}: ${words}`, {
      status,
      said: messageIn(received),
    });
  switch (status) {
    case 401:
    case 403:
      return error("forbidden", await forbiddenWords(received, stack, caller, nowMs));
    case 404:
      return error(
        "not-found",
        `no function ${stack.invokes ? `is named "${stack.invokes.name}"` : "answers at this URL"}; check that the stack still exists`,
      );
    case 413:
      return error(
        "too-large",
        "the request is larger than a function takes; apply the manifests in several steps",
      );
    case 429:
      return error("busy", "it gets more requests than its account allows; try again later");
    case 502:
    case 503:
    case 504:
      return error(
        "failed",
        `no clear answer: its function failed or ran out of time (status ${status}); the log of the function says why`,
      );
    default:
      return error(
        "unreadable",
        `the answer is not from Tidemark (status ${status}, ${received.type || "no content type"}); check the URL`,
      );
  }
};

const SIGNATURE_MINUTES = 5;

const forbiddenWords = async (
  received: HttpAnswer,
  { invokes }: StackUrl,
  caller: Caller,
  nowMs: number,
): Promise<string> => {
  const sentMessage = messageIn(received);
  if (/signature expired|signature not yet current/i.test(sentMessage))
    return skewWords(received, nowMs);
  if (/token.*expired|expired.*token/i.test(sentMessage + received.errorType))
    return "the AWS credentials have expired; sign in again";
  if (/security token.*invalid|unrecognizedclient/i.test(sentMessage + received.errorType))
    return "AWS does not know these credentials; check the profile and sign in again";
  if (/signature.*does not match|invalidsignature/i.test(sentMessage + received.errorType)) {
    return "the signature does not match: the secret key does not belong to the access key, or a proxy changed the request";
  }
  const name = await caller.name();
  const rights = invokes
    ? "lambda:InvokeFunction"
    : "lambda:InvokeFunctionUrl and lambda:InvokeFunction";
  return `"${name}" may not call it; its policy must allow ${rights} on this function (docs/api.md)`;
};

const skewWords = ({ dateMs }: HttpAnswer, nowMs: number): string => {
  const limit = `a signature is valid for ${SIGNATURE_MINUTES} minutes`;
  if (dateMs === undefined) return `the clock of this machine is wrong: ${limit}; set the clock`;
  const seconds = Math.round(Math.abs(nowMs - dateMs) / SECOND_MS);
  return `the clock of this machine is ${seconds} s ${nowMs < dateMs ? "behind" : "ahead of"} the clock of AWS: ${limit}`;
};

const MESSAGE_CHARACTERS = 300;

/** The platform answers "Message" for a refusal and "message" for a wrong signature. */
const messageIn = ({ text }: HttpAnswer): string => {
  const { message, Message } = asObject(jsonIn(text));
  return String(message ?? Message ?? "").slice(0, MESSAGE_CHARACTERS);
};
