import { createHash } from "node:crypto";
import type { TidemarkError } from "../model/errors.ts";
import type { InsertHistory } from "../store/history/port.ts";
import { type Begun, insertAnswer, insertBegun, type RequestName, readAnswer } from "../store/history/requests.ts";
import type { Tables } from "../store/table/tables.ts";
import type { ApiRequest, PlainAnswer } from "./messages.ts";
import { KEY_HEADER } from "./paths.ts";
import { refusal } from "./problem.ts";

/** Where it is kept which edits were begun, and what was answered. */
export interface IdempotencyStore {
  readonly tables: Tables;
  readonly insert: InsertHistory;
  readonly clock: () => number;
  /** Longer than a function may live: after it, a request that has left no answer has died. */
  readonly inProgressMs: number;
  /** An answer that could not be kept. */
  readonly onStoreFailure: (error: unknown) => void;
}

/** How long the function that edits may live (`serverless.yml`, and a test compares them): longer than windows take to change their partition. */
export const FUNCTION_TIMEOUT_MS = 120_000;
/** And the largest difference of two clocks. */
const CLOCK_SKEW_MS = 30_000;
export const IN_PROGRESS_MS = FUNCTION_TIMEOUT_MS + CLOCK_SKEW_MS;

type IdentifiedRequest = ApiRequest & { readonly by: string };

const KEY = /^[A-Za-z0-9_-]{16,64}$/;

/**
 * Carries an edit out once for each key, whoever repeats it: a repeat is told the first answer. Where there is none, nothing is done, because the edit may have been made: `api.running`
 * while the first request may still be at work, `api.unclear` after it. Without a key every request is an edit of its own.
 */
export const withIdempotency = async (
  ledger: IdempotencyStore,
  request: IdentifiedRequest,
  work: () => Promise<PlainAnswer>,
): Promise<PlainAnswer> => {
  const key = request.headers[KEY_HEADER];
  if (key === undefined) return work();
  if (!KEY.test(key))
    throw refusal("api.invalid", `Cannot read the request: "${KEY_HEADER}" must be 16 to 64 letters, digits, - and _`, { status: 400 });
  const name = { by: request.by, key };
  const mine: Begun = { requestId: request.id, atMs: ledger.clock(), asked: requestHash(request) };
  const begun = await insertBegun(ledger.insert, name, mine);
  if (begun.requestId !== mine.requestId) return repeated(ledger, name, begun, mine);
  const answer = await work();
  await storeAnswer(ledger, name, answer);
  return answer;
};

/** History unwritable now → the answer is told all the same, because the edit was made; a repeat learns that it is unclear, and does nothing. */
const storeAnswer = async (ledger: IdempotencyStore, name: RequestName, { status, type, text }: PlainAnswer): Promise<void> => {
  try {
    await insertAnswer(ledger.insert, name, { status, type, body: text }, ledger.clock());
  } catch (error) {
    ledger.onStoreFailure(error);
  }
};

const repeated = async (ledger: IdempotencyStore, name: RequestName, begun: Begun, mine: Begun): Promise<PlainAnswer> => {
  if (begun.asked !== mine.asked)
    throw conflict("api.key-reused", `Cannot repeat request "${begun.requestId}": it asked for something else under the same key`);
  const answer = await readAnswer(ledger.tables, name);
  if (answer) return { status: answer.status, type: answer.type, text: answer.body };
  const words = `Cannot repeat request "${begun.requestId}"`;
  if (mine.atMs - begun.atMs < ledger.inProgressMs)
    throw conflict("api.running", `${words}: it is being carried out, and has no answer yet`, { "retry-after": "2" });
  throw conflict("api.unclear", `${words}: it has no clear answer, and its edit may have been made; look, and edit again if it was not`);
};

const conflict = (code: `api.${string}`, message: string, headers: Readonly<Record<string, string>> = {}): TidemarkError =>
  refusal(code, message, { status: 409, headers });

const requestHash = ({ method, path, query, body }: ApiRequest): string =>
  createHash("sha256").update(`${method} ${path}?${query}\n`).update(body).digest("hex");
