import { DAY_MS, MINUTE_MS } from "../../rules/model/time-text.ts";
import {
  type AuditDay,
  insertAuditDay,
  lastAuditDay,
} from "../../stack/store/history/audit-days.ts";
import type { InsertHistory } from "../../stack/store/history/item.ts";
import { readPlace } from "../../stack/store/records/fleet-place.ts";
import { utcDate } from "../../stack/store/table/keys.ts";
import type { Tables } from "../../stack/store/table/tables.ts";
import type { Service } from "../service/service.ts";
import { deciding, missingIn, topRecord, wholeAudit } from "./audited.ts";
import { chained, START } from "./chain.ts";
import { JSON_LINES } from "./json-lines.ts";
import { type Period, readRecords, type ReadRecord } from "./read-records.ts";
import type { AuditRecord } from "./record.ts";

/** A sync that died before it could say what became of a scale is settled by the next one. */
export const LATE_MS = 10 * MINUTE_MS;
/** After a longer pause the next calls go on. */
const DAYS_AT_ONCE = 7;
/** Scales and edits of one file, so that a day of any fleet fits into the memory. */
export const FILE_RECORDS = 20_000;

export interface DailyPorts {
  readonly service: Pick<Service, "events" | "changes" | "rows" | "history">;
  readonly tables: Tables;
  readonly insert: InsertHistory;
  /** Throws where the bucket does not take it. A file of this key may be there already. */
  readonly put: (key: string, body: string) => Promise<void>;
  readonly fileRecords?: number;
}

/**
 * Puts the audit of each day that has ended into the bucket, each file with the head of the one
 * before it. A day that could not be put is put by a later call, with the days after it.
 *
 *     put files of a day ── note the day ── put files of the next day
 *                        ✗ dies here: the files are put again, under the same keys
 */
export const keepDays = async (ports: DailyPorts): Promise<readonly AuditDay[]> => {
  const { tables, insert } = ports;
  // The stack that has the fleet keeps them: two would make two chains of one.
  if ((await readPlace(tables)).kind !== "here") return [];
  const last = await lastAuditDay(tables);
  const kept: AuditDay[] = [];
  for (const date of daysAfter(last?.date, tables.clock() - LATE_MS)) {
    const before: string = kept.at(-1)?.head ?? last?.head ?? START;
    kept.push(await insertAuditDay(insert, await putDay(ports, date, before)));
  }
  return kept;
};

/** Days that ended before an instant: after the newest one, or the last one where none is kept. */
const daysAfter = (last: string | undefined, endedMs: number): readonly string[] => {
  const todayMs = Date.parse(utcDate(endedMs));
  const firstMs = last === undefined ? todayMs - DAY_MS : Date.parse(last) + DAY_MS;
  const days = Math.min(DAYS_AT_ONCE, Math.max(0, (todayMs - firstMs) / DAY_MS));
  return Array.from({ length: days }, (_, at) => utcDate(firstMs + at * DAY_MS));
};

const putDay = async (ports: DailyPorts, date: string, before: string): Promise<AuditDay> => {
  const { service, tables, put, fileRecords = FILE_RECORDS } = ports;
  const sinceMs = Date.parse(date);
  const period = { sinceMs, untilMs: sinceMs + DAY_MS - 1 };
  let missing = await missingIn(service, { filter: {}, period, nowMs: tables.clock() });
  const files: AuditDay["files"] = [];
  for await (const { part, isLast } of parts(readRecords(service, {}, period), fileRecords)) {
    const endMs = isLast ? Number.POSITIVE_INFINITY : timeOf(part.at(-1)?.record);
    const { own = [], later = [] } = Object.groupBy(missing, (gap) =>
      timeOf(gap) <= endMs ? "own" : "later",
    );
    missing = later;
    const { text, lines, head } = await fileOf(service, part, {
      ...{ period, missing: own, part: files.length + 1, before: files.at(-1)?.head ?? before },
    });
    const number = files.length === 0 ? "" : `-${files.length + 1}`;
    const key = `audits/${date.replaceAll("-", "/")}${number}.json`;
    await put(key, text);
    files.push({ key, lines, head });
  }
  return { date, files, head: files.at(-1)?.head ?? before };
};

const timeOf = (record: AuditRecord | undefined): number => Date.parse(record?.at ?? "");

/** Parts of at most so many items, one at least. */
async function* parts<Item>(
  items: AsyncIterable<Item>,
  most: number,
): AsyncGenerator<{ readonly part: readonly Item[]; readonly isLast: boolean }> {
  let part: Item[] = [];
  for await (const item of items) {
    if (part.length === most) {
      yield { part, isLast: false };
      part = [];
    }
    part.push(item);
  }
  yield { part, isLast: true };
}

interface FileParts {
  readonly period: Period;
  readonly missing: readonly AuditRecord[];
  readonly part: number;
  /** The head of the file before. */
  readonly before: string;
}

const fileOf = async (
  service: DailyPorts["service"],
  records: readonly ReadRecord[],
  { period, missing, part, before }: FileParts,
) => {
  const decided = deciding();
  for (const one of records) decided.note(one);
  const message = `part ${part} of the audit of a day; the id is the head of the file before it`;
  const whole = wholeAudit({
    top: topRecord({}, period, { message, id: before }),
    kept: () => records,
    deciders: await decided.deciders(service),
    missing,
  });
  const writer = chained(JSON_LINES);
  const lines: string[] = [];
  for await (const record of whole) lines.push(...writer.linesOf(record));
  lines.push(...writer.linesOf({ kind: "end", count: writer.chain().lines }), ...writer.end());
  return { text: `${lines.join("\n")}\n`, ...writer.chain() };
};
