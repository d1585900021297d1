import { createHash } from "node:crypto";
import { TidemarkError } from "../../../rules/model/errors.ts";
import { compress, decompress } from "../table/compressed.ts";
import type { Key } from "../table/keys.ts";
import type { Tables } from "../table/tables.ts";
import { ttlOf } from "./events.ts";
import { type HistoryItem, type InsertHistory, readHistory } from "./item.ts";

/**
 * Names an edit by its caller and the idempotency key. Repeats of the edit have the same key. Keys
 * of different callers never meet.
 */
export interface RequestName {
  readonly by: string;
  readonly key: string;
}

export interface Begun {
  /** Id of the first request of that name. */
  readonly requestId: string;
  readonly atMs: number;
  /** Hash of the whole request. */
  readonly asked: string;
}

export interface AnswerOfRequest {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  /** The entity tag of what the edit stored, if there is one. */
  readonly tag?: string;
}

const VERSION = 1;
const DAYS_KEPT = 1;
/** An item holds 400 KB. */
const ANSWER_BYTES_MAX = 350_000;
const CALLER_CHARACTERS = 32;

const requestPk = ({ by, key }: RequestName): string =>
  `request#${createHash("sha256").update(by).digest("hex").slice(0, CALLER_CHARACTERS)}#${key}`;
const begunKey = (name: RequestName): Key => ({ pk: requestPk(name), sk: "begun" });
const answerKey = (name: RequestName): Key => ({ pk: requestPk(name), sk: "answer" });

const begunOf = ({ sk, body }: HistoryItem): Begun => {
  if (typeof body === "string") return JSON.parse(body) as Begun;
  throw new TidemarkError(
    "store.unreadable",
    `Cannot read the history item "${sk}" of a request: its body is not text`,
    {},
  );
};

/*
 *  first   begun ✓ ── edit ── answer ✓
 *  repeat
 *         begun ✗ (that of the first)     with an answer, the repeat gets it; without one, nothing
 *         is done, whatever happened to the first
 */
export const insertBegun = async (
  insert: InsertHistory,
  name: RequestName,
  begun: Begun,
): Promise<Begun> => {
  const item = {
    ...begunKey(name),
    body: JSON.stringify(begun),
    ttlSeconds: ttlOf(begun.atMs, DAYS_KEPT),
  };
  const [outcome] = await insert([item]);
  return outcome?.kind === "duplicate" ? begunOf(outcome.stored) : begun;
};

/**
 * Stores an answer for a day. An answer that is too large for an item is not stored: a repeat then
 * learns that the edit was answered, but not the answer.
 */
export const insertAnswer = async (
  insert: InsertHistory,
  name: RequestName,
  answer: AnswerOfRequest,
  atMs: number,
): Promise<void> => {
  const body = compress(VERSION, answer);
  if (body.length <= ANSWER_BYTES_MAX)
    await insert([{ ...answerKey(name), body, ttlSeconds: ttlOf(atMs, DAYS_KEPT) }]);
};

/**
 * The answer to the request of that name. It is absent while the request runs, and stays absent
 * when the function died.
 */
export const readAnswer = async (
  tables: Tables,
  name: RequestName,
): Promise<AnswerOfRequest | undefined> => {
  const item = await readHistory(tables, answerKey(name), "read the answer to a request");
  if (!item) return undefined;
  const { body } = item;
  const { version, value } =
    typeof body === "string" ? { version: -1, value: undefined } : decompress(body);
  if (version === VERSION) return value as AnswerOfRequest;
  throw new TidemarkError(
    "store.unreadable",
    `Cannot read the answer to a request: its version is ${version}`,
    { version },
  );
};
