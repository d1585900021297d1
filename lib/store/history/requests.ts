import { createHash } from "node:crypto";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { TidemarkError } from "../../model/errors.ts";
import { compress, decompress } from "../table/compressed.ts";
import type { Key } from "../table/keys.ts";
import { repeat } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";
import { ttlOf } from "./events.ts";
import { historyItemOf, readHistoryParams } from "./item.ts";
import type { HistoryItem, InsertHistory } from "./port.ts";

/** An edit as its caller names it: repeats of it carry the same key, and nobody else can give that of another caller. */
export interface RequestName {
  readonly by: string;
  readonly key: string;
}

export interface Begun {
  /** Which request of that name was the first to come. */
  readonly requestId: string;
  readonly atMs: number;
  /** Hash of everything that was asked. */
  readonly asked: string;
}

export interface KeptAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const VERSION = 1;
const DAYS_KEPT = 1;
/** An item holds 400 KB. */
const ANSWER_BYTES_MAX = 350_000;
const CALLER_CHARACTERS = 32;

const requestPk = ({ by, key }: RequestName): string => `request#${createHash("sha256").update(by).digest("hex").slice(0, CALLER_CHARACTERS)}#${key}`;
const begunKey = (name: RequestName): Key => ({ pk: requestPk(name), sk: "begun" });
const answerKey = (name: RequestName): Key => ({ pk: requestPk(name), sk: "answer" });

const begunOf = ({ sk, body }: HistoryItem): Begun => {
  if (typeof body === "string") return JSON.parse(body) as Begun;
  throw new TidemarkError("store.unreadable", `Cannot read the history item "${sk}" of a request: its body is not text`, {});
};

/*
 *  first   begun ✓ ── edit ── answer ✓
 *  repeat               begun ✗ (the first one's)     answer there: it is told again; not there: nothing is done, whatever became of the first
 */
export const insertBegun = async (insert: InsertHistory, name: RequestName, begun: Begun): Promise<Begun> => {
  const item = { ...begunKey(name), body: JSON.stringify(begun), ttlSeconds: ttlOf(begun.atMs, DAYS_KEPT) };
  const [outcome] = await insert([item]);
  return outcome?.kind === "duplicate" ? begunOf(outcome.stored) : begun;
};

/** Keeps what was answered, for a day. One that fits no item is not kept: a repeat then learns that there was an answer, not which. */
export const insertAnswer = async (insert: InsertHistory, name: RequestName, answer: KeptAnswer, atMs: number): Promise<void> => {
  const body = compress(VERSION, answer);
  if (body.length <= ANSWER_BYTES_MAX) await insert([{ ...answerKey(name), body, ttlSeconds: ttlOf(atMs, DAYS_KEPT) }]);
};

/** What was answered to a request of that name; absent while it is being carried out, and for ever when it died. */
export const readAnswer = async (tables: Tables, name: RequestName): Promise<KeptAnswer | undefined> => {
  const params = readHistoryParams(tables.historyTable, answerKey(name));
  const { Item } = await repeat(tables, "read the answer to a request", () => tables.client.send(new GetItemCommand(params)));
  if (!Item) return undefined;
  const { body } = historyItemOf(Item);
  const { version, value } = typeof body === "string" ? { version: -1, value: undefined } : decompress(body);
  if (version === VERSION) return value as KeptAnswer;
  throw new TidemarkError("store.unreadable", `Cannot read the answer to a request: its version is ${version}`, { version });
};
