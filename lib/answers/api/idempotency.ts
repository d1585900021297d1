import { createHash } from "node:crypto";
import type { TidemarkError } from "../../rules/model/errors.ts";
import type { InsertHistory } from "../../stack/store/history/item.ts";
import {
  type Begun,
  insertAnswer,
  insertBegun,
  type AnswerOfRequest,
  type RequestName,
  readAnswer,
} from "../../stack/store/history/requests.ts";
import type { Tables } from "../../stack/store/table/tables.ts";
import { IF_MATCH_HEADER, KEY_HEADER, TAG_HEADER } from "./paths.ts";
import { refusal, type VerifiedRequest, type PlainAnswer } from "./request-and-answer.ts";

/** Where started edits and their answers are stored. */
export interface IdempotencyStore {
  readonly tables: Tables;
  readonly insert: InsertHistory;
  readonly clock: () => number;
  /** Longer than a function can live. A request without an answer after this time has failed. */
  readonly inProgressMs: number;
  /** Called when an answer cannot be stored. */
  readonly onStoreFailure: (error: unknown) => void;
}

/**
 * Timeout of the function that edits (`serverless.yml`; a test compares them). It is longer than a
 * change of partitions takes.
 */
export const FUNCTION_TIMEOUT_MS = 120_000;
/** Largest difference between two clocks. */
const CLOCK_SKEW_MS = 30_000;
export const IN_PROGRESS_MS = FUNCTION_TIMEOUT_MS + CLOCK_SKEW_MS;

type IdentifiedRequest = VerifiedRequest & { readonly by: string };

const KEY = /^[A-Za-z0-9_-]{16,64}$/;

/**
 * Runs an edit once per idempotency key. A repeat gets the first answer. Without a stored answer
 * nothing is done, because the edit may have been made: `api.running` while the first request may
 * still be running, `api.unclear` after that. Without a key every request is an edit of its own.
 */
export const withIdempotency = async (
  store: IdempotencyStore,
  request: IdentifiedRequest,
  work: () => Promise<PlainAnswer>,
): Promise<PlainAnswer> => {
  const key = request.headers[KEY_HEADER];
  if (key === undefined) return work();
  if (!KEY.test(key))
    throw refusal(
      "api.invalid",
      `Cannot read the request: "${KEY_HEADER}" must be 16 to 64 letters, digits, - and _`,
      { status: 400 },
    );
  const name = { by: request.by, key };
  const own: Begun = { requestId: request.id, atMs: store.clock(), asked: requestHash(request) };
  const begun = await insertBegun(store.insert, name, own);
  if (begun.requestId !== own.requestId) return repeated(store, name, begun, own);
  const answer = await work();
  await storeAnswer(store, name, answer);
  return answer;
};

/**
 * If the history cannot be written now, the caller still gets the answer, because the edit was
 * made. A repeat then gets `api.unclear` and does nothing.
 */
const storeAnswer = async (
  store: IdempotencyStore,
  name: RequestName,
  { status, type, text, headers }: PlainAnswer,
): Promise<void> => {
  const tag = headers?.[TAG_HEADER];
  try {
    await insertAnswer(
      store.insert,
      name,
      { status, type, body: text, ...(tag !== undefined && { tag }) },
      store.clock(),
    );
  } catch (error) {
    store.onStoreFailure(error);
  }
};

const repeated = async (
  store: IdempotencyStore,
  name: RequestName,
  begun: Begun,
  own: Begun,
): Promise<PlainAnswer> => {
  if (begun.asked !== own.asked)
    throw conflict(
      "api.key-reused",
      `Cannot repeat request "${begun.requestId}": its body or If-Match was different; ` +
        "use a new key for another edit",
    );
  const answer = await readAnswer(store.tables, name);
  if (answer) return answerAgain(answer);
  const words = `Cannot repeat request "${begun.requestId}"`;
  if (own.atMs - begun.atMs < store.inProgressMs)
    throw conflict("api.running", `${words}: it is still running; try again in a few seconds`, {
      "retry-after": "2",
    });
  throw conflict(
    "api.unclear",
    `${words}: it left no answer, and its edit may have been made; ` +
      "check the object, and edit again if nothing changed",
  );
};

const answerAgain = ({ status, type, body, tag }: AnswerOfRequest): PlainAnswer => ({
  status,
  type,
  text: body,
  ...(tag !== undefined && { headers: { [TAG_HEADER]: tag } }),
});

const conflict = (
  code: `api.${string}`,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): TidemarkError => refusal(code, message, { status: 409, headers });

const requestHash = ({ method, path, query, headers, body }: VerifiedRequest): string =>
  createHash("sha256")
    .update(`${method} ${path}?${query}\n${headers[IF_MATCH_HEADER] ?? ""}\n`)
    .update(body)
    .digest("hex");
