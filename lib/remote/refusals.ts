import { TidemarkError } from "../model/errors.ts";
import { type Problem, parsedJson, type Received } from "./answer.ts";
import type { Caller } from "./caller.ts";
import type { StackUrl } from "./stack-url.ts";

/** What Tidemark refused, in its own words and under its own code: the same error as from the embedded run. */
export const problemError = ({ code, detail, status, url }: Problem): TidemarkError => new TidemarkError(code, detail, { status, url });

/** What the platform refused before Tidemark was asked, as something that a person can act on. */
export const platformError = async (received: Received, stack: StackUrl, caller: Caller, nowMs: number): Promise<TidemarkError> => {
  const cannot = `Cannot use the stack at "${stack.origin}"`;
  const { status } = received;
  const error = (code: string, words: string): TidemarkError =>
    new TidemarkError(`remote.${code}`, `${cannot}: ${words}`, { status, said: saidIn(received) });
  switch (status) {
    case 401:
    case 403:
      return error("forbidden", await forbiddenWords(received, caller, nowMs));
    case 404:
      return error("not-found", "there is no function behind this URL; was the stack removed?");
    case 413:
      return error("too-large", "the request is larger than a function takes; apply the manifests in several steps");
    case 429:
      return error("busy", "it is asked more often than its account allows");
    case 502:
    case 503:
    case 504:
      return error("failed", `no clear answer: its function failed or ran out of time (status ${status}); the log of the function says why`);
    default:
      return error("unreadable", `what answers there is no Tidemark: status ${status}, ${received.type || "no type"}`);
  }
};

const SIGNATURE_MINUTES = 5;
const MS_PER_SECOND = 1_000;

const forbiddenWords = async (received: Received, caller: Caller, nowMs: number): Promise<string> => {
  const said = saidIn(received);
  if (/signature expired|signature not yet current/i.test(said)) return skewWords(received, nowMs);
  if (/token.*expired|expired.*token/i.test(said + received.errorType)) return "the AWS credentials have expired; sign in again";
  if (/security token.*invalid|unrecognizedclient/i.test(said + received.errorType)) return "AWS does not know these credentials";
  if (/signature.*does not match|invalidsignature/i.test(said + received.errorType)) {
    return "the signature does not match: the secret key is another one than that of the access key, or something between changed the request";
  }
  const name = await caller.name();
  return `"${name}" may not call it; its policy must allow lambda:InvokeFunctionUrl and lambda:InvokeFunction on this function (docs/api.md)`;
};

const skewWords = ({ dateMs }: Received, nowMs: number): string => {
  const limit = `a signature is good for ${SIGNATURE_MINUTES} minutes`;
  if (dateMs === undefined) return `the clock of this machine is wrong: ${limit}`;
  const seconds = Math.round(Math.abs(nowMs - dateMs) / MS_PER_SECOND);
  return `the clock of this machine is ${seconds} s ${nowMs < dateMs ? "behind" : "ahead of"} that of AWS: ${limit}`;
};

const SAID_CHARACTERS = 300;

/** The platform writes "Message" where it refuses and "message" where a signature is wrong. */
const saidIn = ({ text }: Received): string => {
  const value = parsedJson(text);
  const { message, Message } =
    typeof value === "object" && value !== null ? (value as { readonly message?: unknown; readonly Message?: unknown }) : {};
  return String(message ?? Message ?? "").slice(0, SAID_CHARACTERS);
};
