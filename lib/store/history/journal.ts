import type { QueryCommandInput } from "@aws-sdk/client-dynamodb";
import type { AutoscalerUid, PartitionRef } from "../../model/ids.ts";
import { journalKey, journalPagePrefix, journalPk, sortableMs } from "../table/keys.ts";
import { readAll } from "../table/read-all.ts";
import { type Tables, TTL_ATTRIBUTE } from "../table/tables.ts";
import { isEmptyStretch, ttlOf } from "./events.ts";
import type { HistoryItem, InsertHistory } from "./insert-history.ts";
import { historyItemOf, readHistory } from "./item.ts";
import { type BaseKey, baseOf, baseText, differenceBody, type JournalBase, pageOfBody, wholeBody } from "./journal-codec.ts";
import { hasDictionaries } from "./zstd-dictionary.ts";
import type { Evaluation, JournalPage } from "../../model/scale-records.ts";

export const JOURNAL_DAYS_KEPT = 14;
/** A page is stored as its difference from a page that is at most this old. The older page is kept for as much longer. */
export const BASE_MS_MAX = 3_600_000;
/** A difference that is larger than this share of its base saves too little, and the page becomes a new base. */
const DIFFERENCE_SHARE_MAX = 0.5;
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

const lightEnough = (page: JournalPage): Uint8Array => {
  let body = new Uint8Array();
  for (const lighten of LIGHTER) {
    body = new Uint8Array(wholeBody({ ...page, evaluations: page.evaluations.map(lighten) }));
    if (body.length <= JOURNAL_BYTES_MAX) break;
  }
  return body;
};

/** The bases of a partition, by journal page. An environment remembers those that it has inserted itself. */
export type JournalBases = ReadonlyMap<number, JournalBase>;

/** The difference of a page from its base; absent where this Node makes none, the base is too old or the two are too different. The page is then stored whole, which every version reads. */
const differenceOf = (page: JournalPage, base: JournalBase | undefined, makesDifferences: boolean): Uint8Array | undefined => {
  if (!base || !makesDifferences || page.atMs < base.atMs || page.atMs - base.atMs > BASE_MS_MAX) return undefined;
  const body = differenceBody(page, base);
  return body.length <= base.body.length * DIFFERENCE_SHARE_MAX ? body : undefined;
};

export const journalItem = (
  ref: PartitionRef,
  page: JournalPage,
  base?: JournalBase,
  makesDifferences = hasDictionaries(),
): HistoryItem & { readonly body: Uint8Array } => ({
  ...journalKey(ref, page),
  body: differenceOf(page, base, makesDifferences) ?? lightEnough(page),
  ttlSeconds: ttlOf(page.atMs + BASE_MS_MAX, JOURNAL_DAYS_KEPT),
});

/** Inserts journal pages that are read by themselves. An existing page of the same key stays, because it is of the same sync. */
export const insertJournal = async (insert: InsertHistory, ref: PartitionRef, pages: readonly JournalPage[]): Promise<void> => {
  if (pages.length > 0) await insert(pages.map((page) => journalItem(ref, page)));
};

/** The bases for the next sync, after these pages were inserted: those before, and each page that is read by itself and holds all its autoscalers. */
export const basesAfter = (
  bases: JournalBases,
  inserted: readonly { readonly page: JournalPage; readonly item: { readonly body: Uint8Array } }[],
): JournalBases => {
  const added = inserted.flatMap(({ page, item: { body } }) =>
    page.partial || baseOf(body) ? [] : [[page.page, { atMs: page.atMs, epoch: page.epoch, body }] as const],
  );
  return added.length > 0 ? new Map([...bases, ...added]) : bases;
};

/** Bases that a reader keeps. Those of several environments follow each other in the journal. */
const BASES_KEPT = 8;

/** Reads the text of each base of a partition once. A base that does not exist gives no page. */
const baseReader = (tables: Tables, ref: PartitionRef, page: number): ((base: BaseKey) => Promise<Uint8Array | undefined>) => {
  const known = new Map<string, Uint8Array | undefined>();
  return async (base) => {
    const key = journalKey(ref, { page, ...base });
    if (!known.has(key.sk)) {
      const [oldest] = known.keys();
      if (oldest !== undefined && known.size >= BASES_KEPT) known.delete(oldest);
      const body = (await readHistory(tables, key))?.body;
      known.set(key.sk, typeof body === "string" || !body ? undefined : baseText(body));
    }
    return known.get(key.sk);
  };
};

/** Items of one journal page between two instants, both inclusive. Expired pages are filtered by time, because their deletion may be days late. */
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
    ":since": { S: `${journalPagePrefix(wanted.page)}${sortableMs(Math.max(0, wanted.sinceMs))}` },
    ":until": { S: `${journalPagePrefix(wanted.page)}${sortableMs(wanted.untilMs)}${LAST}` },
    ":now": { N: String(Math.floor(wanted.untilMs / SECOND_MS)) },
  },
  ScanIndexForward: !wanted.newestFirst,
  ...(wanted.pageSize !== undefined && { Limit: wanted.pageSize }),
});

type JournalQuery = Parameters<typeof journalParams>[2] & {
  /** Of the evaluations of each page only the one of this autoscaler is parsed, and no other is in the answer. */
  readonly uid?: AutoscalerUid;
};

/** What the journal has of one page, in order of time. */
export async function* journalOfPage(tables: Tables, ref: PartitionRef, wanted: JournalQuery): AsyncGenerator<JournalPage> {
  if (isEmptyStretch(wanted)) return;
  const params = journalParams(tables.historyTable, ref, wanted);
  const readBase = baseReader(tables, ref, wanted.page);
  for await (const item of readAll(tables, `read the journal of "${ref.cluster}/${ref.partition}"`, params)) {
    const { body } = historyItemOf(item);
    if (typeof body === "string") continue;
    const base = baseOf(body);
    const page = pageOfBody(body, base && (await readBase(base)), wanted.uid);
    if (page) yield page;
  }
}
