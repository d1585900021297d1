import type { AutoscalerRef, AutoscalerUid } from "../../rules/model/ids.ts";
import { present } from "../../rules/model/json.ts";
import type { Evaluation } from "../../rules/model/scale-records.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";
import { EVENT_DAYS_KEPT, ttlOf } from "../store/history/events.ts";
import { column, columnsToRows, rowsToColumns } from "../store/table/columns.ts";
import { compress, firstWithin, readIfKnown } from "../store/table/compressed.ts";
import type { Tables } from "../store/table/tables.ts";
import { ofJournal, slotItems, slotKey } from "./journal-slots.ts";
import { decidedCounts, leastCounted, mostOf, mostUnusual, unusualPods } from "./sample.ts";

/** The pods of an autoscaler in a minute, and so many minutes after it, in which they were as many. */
export interface PodMinutes {
  readonly atMs: number;
  readonly minutes: number;
  /** The fewest pods that were ready, and whose samples made a value. */
  readonly ready?: number;
  readonly counted?: number;
  /** The most that the metrics asked for. */
  readonly wanted?: number;
  /** The most that had a sample too old to count, and that were of another revision. */
  readonly stale?: number;
  readonly otherRevision?: number;
}

/** By minute which pods were ready, which of them count, and how many were wanted. */
export const POD_MINUTES = ofJournal<PodMinutes[]>({
  name: "pods",
  mark: "pods",
  fold: (minutes = [], { atMs, evaluation }) => {
    const minute = minuteOf(atMs, evaluation);
    const last = minutes.at(-1);
    if (last?.atMs === minute.atMs) minutes[minutes.length - 1] = joined(last, minute);
    else minutes.push(minute);
    return minutes;
  },
  // Where no metric is measured by pods, the samples say all that there is to say.
  itemOf: (page, of, minutes) =>
    minutes.every(({ counted }) => counted === undefined)
      ? undefined
      : {
          ...slotKey(SK_PREFIX, page, of),
          body: firstWithin(BYTES_MAX, STEPS, (step) =>
            compress(VERSION, rowsToColumns(COLUMNS, runsOf(minutes, step), page.slot.endMs)),
          ),
          ttlSeconds: ttlOf(page.slot.endMs, EVENT_DAYS_KEPT),
        },
});

const SK_PREFIX = "pods#";
const VERSION = 1;
/** With its keys an item stays below one write unit of 1,024 bytes. */
const BYTES_MAX = 780;
/** Pods that change all the time are stored in coarser steps: minutes, then five, then thirty. */
const STEPS = [1, 5, 30];

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
    wanted: decidedCounts(evaluation).wanted,
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
    wanted: mostOf(one.wanted, other.wanted),
    ...mostUnusual(one, other),
  });

const isSame = (one: PodMinutes, other: PodMinutes): boolean =>
  one.ready === other.ready &&
  one.counted === other.counted &&
  one.wanted === other.wanted &&
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

/**
 * The stored pods of an autoscaler in a stretch, in order of time. An item that cannot be read is
 * passed over: it only explains.
 */
export const storedPods = async (
  tables: Tables,
  of: AutoscalerRef & { readonly uid: AutoscalerUid },
  stretch: { readonly sinceMs: number; readonly untilMs: number },
): Promise<readonly PodMinutes[]> =>
  (await slotItems(tables, SK_PREFIX, of, stretch))
    .flatMap(
      ({ endMs, body }) =>
        readIfKnown(body, VERSION, (value) => columnsToRows<PodMinutes>(COLUMNS, value, endMs)) ??
        [],
    )
    .filter(
      ({ atMs, minutes }) =>
        atMs <= stretch.untilMs && atMs + minutes * MINUTE_MS > stretch.sinceMs,
    )
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
