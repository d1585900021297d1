import type { QueryCommandInput } from "@aws-sdk/client-dynamodb";
import type { PartitionRef } from "../../model/ids.ts";
import type { Evaluation, JournalPage } from "../../model/records.ts";
import { compress, decompress } from "../table/compressed.ts";
import { journalKey, journalPagePrefix, journalPk, timeText } from "../table/keys.ts";
import { readAll } from "../table/read-all.ts";
import { type Tables, TTL_ATTRIBUTE } from "../table/tables.ts";
import { isEmptyStretch, ttlOf } from "./events.ts";
import { historyItemOf } from "./item.ts";
import type { HistoryItem, InsertHistory } from "./port.ts";

const VERSION = 1;
export const JOURNAL_DAYS_KEPT = 14;
const SECOND_MS = 1_000;
const LAST = "~";

/** A larger journal page is shortened, well before an item is full (400 KB). The journal only explains, so it must never stop a sync from its release. */
export const JOURNAL_BYTES_MAX = 350_000;
const MESSAGE_CHARS_MAX = 200;

/** What to leave out, one more at each step. The last form has only the decision and a short reason. */
const LIGHTER: readonly ((evaluation: Evaluation) => Evaluation)[] = [
  (evaluation) => evaluation,
  ({ gauges: _gauges, ...evaluation }) => evaluation,
  ({ gauges: _gauges, status: _status, ...evaluation }) => ({ ...evaluation, steps: [], events: [] }),
  ({ gauges: _gauges, status: _status, because: { reason, message }, ...evaluation }) => ({
    ...evaluation,
    because: { reason, message: message.slice(0, MESSAGE_CHARS_MAX) },
    metrics: [],
    steps: [],
    events: [],
  }),
];

const journalBody = (page: JournalPage): Uint8Array => {
  let body = new Uint8Array();
  for (const lighten of LIGHTER) {
    body = new Uint8Array(compress(VERSION, { ...page, evaluations: page.evaluations.map(lighten) }));
    if (body.length <= JOURNAL_BYTES_MAX) break;
  }
  return body;
};

export const journalItem = (ref: PartitionRef, page: JournalPage): HistoryItem => ({
  ...journalKey(ref, page),
  body: journalBody(page),
  ttlSeconds: ttlOf(page.atMs, JOURNAL_DAYS_KEPT),
});

/** Inserts the journal pages of one sync. An existing page of the same key stays, because it is of the same sync. */
export const insertJournal = async (insert: InsertHistory, ref: PartitionRef, pages: readonly JournalPage[]): Promise<void> => {
  if (pages.length > 0) await insert(pages.map((page) => journalItem(ref, page)));
};

/** Decodes a journal page. Damaged pages and later versions are skipped, because the journal explains and never decides. */
const journalOf = (item: HistoryItem): JournalPage | undefined => {
  if (typeof item.body === "string") return undefined;
  try {
    const { version, value } = decompress(item.body);
    return version === VERSION ? (value as JournalPage) : undefined;
  } catch {
    return undefined;
  }
};

/** Journal pages of one windows page between two instants, both inclusive. Expired pages are filtered by time, because their deletion may be days late. */
export const journalParams = (
  historyTable: string,
  ref: PartitionRef,
  wanted: { readonly page: number; readonly sinceMs: number; readonly untilMs: number; readonly newestFirst?: boolean; readonly pageSize?: number },
): QueryCommandInput => ({
  TableName: historyTable,
  KeyConditionExpression: "pk = :pk AND sk BETWEEN :since AND :until",
  FilterExpression: "#ttl > :now",
  ExpressionAttributeNames: { "#ttl": TTL_ATTRIBUTE },
  ExpressionAttributeValues: {
    ":pk": { S: journalPk(ref) },
    ":since": { S: `${journalPagePrefix(wanted.page)}${timeText(Math.max(0, wanted.sinceMs))}` },
    ":until": { S: `${journalPagePrefix(wanted.page)}${timeText(wanted.untilMs)}${LAST}` },
    ":now": { N: String(Math.floor(wanted.untilMs / SECOND_MS)) },
  },
  ScanIndexForward: !wanted.newestFirst,
  ...(wanted.pageSize !== undefined && { Limit: wanted.pageSize }),
});

type JournalQuery = Parameters<typeof journalParams>[2];

/** The journal pages of one windows page, in order of time. */
export async function* journalOfPage(tables: Tables, ref: PartitionRef, wanted: JournalQuery): AsyncGenerator<JournalPage> {
  if (isEmptyStretch(wanted)) return;
  const params = journalParams(tables.historyTable, ref, wanted);
  for await (const item of readAll(tables, `read the journal of "${ref.cluster}/${ref.partition}"`, params)) {
    const page = journalOf(historyItemOf(item));
    if (page) yield page;
  }
}
