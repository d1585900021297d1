import type { AutoscalerRef, AutoscalerUid } from "../../rules/model/ids.ts";
import { present } from "../../rules/model/json.ts";
import type { Evaluation } from "../../rules/model/scale-records.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";
import { EVENT_DAYS_KEPT, ttlOf } from "../store/history/events.ts";
import { column, columnsToRows, rowsToColumns } from "../store/table/columns.ts";
import { compress, firstWithin, readIfKnown } from "../store/table/compressed.ts";
import type { HistoryItem } from "../store/history/item.ts";
import type { Tables } from "../store/table/tables.ts";
import { type JournalFact, type PageSlot, slotItems, slotKey } from "./journal-slots.ts";
import { leastCounted, mostUnusual, unusualPods } from "./sample.ts";

/** The pods of an autoscaler in a minute, and so many minutes after it, in which they were as many. */
export interface PodMinutes {
  readonly atMs: number;
  readonly minutes: number;
  /** The fewest pods that were ready, and whose samples made a value. */
  readonly ready?: number;
  readonly counted?: number;
  /** The most that had a sample too old to count, and that were of another revision. */
  readonly stale?: number;
  readonly otherRevision?: number;
}

/** By minute which pods were ready, and which of them count. */
export const addMinute = (minutes: PodMinutes[], { atMs, evaluation }: JournalFact): void => {
  const minute = minuteOf(atMs, evaluation);
  const last = minutes.at(-1);
  if (last?.atMs === minute.atMs) minutes[minutes.length - 1] = joined(last, minute);
  else minutes.push(minute);
};

/** Where no metric is measured by pods, the samples say all that there is to say. */
export const saysMore = (minutes: readonly PodMinutes[]): boolean =>
  minutes.some(({ counted }) => counted !== undefined);

/** All minutes, as a value for JSON. */
export const minutesValue = (minutes: readonly PodMinutes[], endMs: number, step = 1): unknown =>
  rowsToColumns(COLUMNS, runsOf(minutes, step), endMs);

export const minutesIn = (value: unknown, endMs: number): readonly PodMinutes[] =>
  columnsToRows<PodMinutes>(COLUMNS, value, endMs);

/** The minutes of six hours that have no room beside the samples. */
export const podsItem = (
  page: PageSlot,
  of: AutoscalerRef & { readonly uid: AutoscalerUid },
  minutes: readonly PodMinutes[],
): HistoryItem => ({
  ...slotKey(SK_PREFIX, page, of),
  body: firstWithin(BYTES_MAX, STEPS, (step) =>
    compress(VERSION, minutesValue(minutes, page.slot.endMs, step)),
  ),
  ttlSeconds: ttlOf(page.slot.endMs, EVENT_DAYS_KEPT),
});

const SK_PREFIX = "pods#";
const VERSION = 1;
/** With its keys an item stays below one write unit of 1,024 bytes. */
const BYTES_MAX = 780;
/** Pods that change all the time are stored in coarser steps: minutes, then five, then thirty. */
const STEPS = [1, 5, 30];

/** Items of before 0.3.0 also have how many were wanted, which samples say. */
const COLUMNS = [
  column.before("atMs"),
  ...["minutes", "ready", "counted", "wanted", "stale", "otherRevision"].map(column.number),
];

const minuteOf = (atMs: number, evaluation: Evaluation): PodMinutes =>
  present({
    atMs: Math.floor(atMs / MINUTE_MS) * MINUTE_MS,
    minutes: 1,
    ready: evaluation.ready,
    counted: leastCounted(evaluation),
    ...unusualPods(evaluation),
  });

const least = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);

/** Two times as one, from the beginning of the first to the end of the last. */
const joined = (one: PodMinutes, other: PodMinutes): PodMinutes =>
  present({
    atMs: one.atMs,
    minutes: Math.max(one.minutes, (other.atMs - one.atMs) / MINUTE_MS + other.minutes),
    ready: least(one.ready, other.ready),
    counted: least(one.counted, other.counted),
    ...mostUnusual(one, other),
  });

const isSame = (one: PodMinutes, other: PodMinutes): boolean =>
  one.ready === other.ready &&
  one.counted === other.counted &&
  one.stale === other.stale &&
  one.otherRevision === other.otherRevision;

/**
 * Minutes that follow each other without a gap and are equal, as one; with a coarser step, also
 * the minutes of one step.
 */
const runsOf = (minutes: readonly PodMinutes[], step: number): readonly PodMinutes[] => {
  const runs: PodMinutes[] = [];
  const stepOf = ({ atMs }: PodMinutes): number => Math.floor(atMs / (step * MINUTE_MS));
  for (const minute of minutes) {
    const run = runs.at(-1);
    const follows = run !== undefined && run.atMs + run.minutes * MINUTE_MS === minute.atMs;
    if (run && follows && (isSame(run, minute) || (step > 1 && stepOf(run) === stepOf(minute))))
      runs[runs.length - 1] = joined(run, minute);
    else runs.push(minute);
  }
  return runs;
};

/** The minutes of a stretch that are in items of their own, in order of time. */
export const minutesApart = async (
  tables: Tables,
  of: AutoscalerRef & { readonly uid: AutoscalerUid },
  stretch: { readonly sinceMs: number; readonly untilMs: number },
): Promise<readonly PodMinutes[]> =>
  (await slotItems(tables, SK_PREFIX, of, stretch)).flatMap(
    ({ endMs, body }) => readIfKnown(body, VERSION, (value) => minutesIn(value, endMs)) ?? [],
  );

/** The minutes that have anything of a stretch, in order of time. */
export const minutesWithin = (
  all: readonly PodMinutes[],
  { sinceMs, untilMs }: { readonly sinceMs: number; readonly untilMs: number },
): readonly PodMinutes[] =>
  all
    .filter(({ atMs, minutes }) => atMs <= untilMs && atMs + minutes * MINUTE_MS > sinceMs)
    .toSorted((one, other) => one.atMs - other.atMs);

/**
 * What a sample says of its pods, completed by the minutes of its time. Five minutes of an
 * autoscaler that changes all the time do not say how many were ready.
 */
export const podsTogether = (sample: PodsOfTime, minutes: readonly PodMinutes[]): PodsOfTime =>
  present({
    ready: sample.ready ?? minutes.at(-1)?.ready,
    counted: minutes.reduce((fewest, { counted }) => least(fewest, counted), sample.counted),
    ...minutes.reduce<PodsOfTime>(mostUnusual, sample),
  });

type PodsOfTime = Pick<PodMinutes, "ready" | "counted" | "stale" | "otherRevision">;
