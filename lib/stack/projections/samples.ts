import type { AutoscalerRef, AutoscalerUid } from "../../rules/model/ids.ts";
import { present } from "../../rules/model/json.ts";
import type { Sample, SampleMetric } from "../../rules/model/scale-records.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";
import { EVENT_DAYS_KEPT, ttlOf } from "../store/history/events.ts";
import type { HistoryItem } from "../store/history/item.ts";
import { column, columnsToRows, rowsToColumns } from "../store/table/columns.ts";
import { compress, firstWithin, readIfKnown } from "../store/table/compressed.ts";
import type { Tables } from "../store/table/tables.ts";
import { type JournalFact, ofJournal, type PageSlot, slotItems, slotKey } from "./journal-slots.ts";
import {
  addMinute,
  minutesApart,
  minutesIn,
  minutesValue,
  minutesWithin,
  type PodMinutes,
  podsItem,
  saysMore,
} from "./pods.ts";
import type { Slot } from "./project.ts";
import { joinedSample, sampleOf } from "./sample.ts";

export const BIN_MS = 5 * MINUTE_MS;

/** The samples of an autoscaler by bin, after one more fact. */
export const binned = (
  bins: Map<number, Sample> | undefined,
  { atMs, evaluation }: JournalFact,
): Map<number, Sample> => {
  const all = bins ?? new Map<number, Sample>();
  const bin = Math.floor(atMs / BIN_MS);
  const sample = sampleOf(atMs, evaluation);
  const earlier = all.get(bin);
  return all.set(bin, earlier ? joinedSample(earlier, sample) : sample);
};

/** What is made of six hours of an autoscaler. */
interface SixHours {
  readonly bins: Map<number, Sample>;
  readonly minutes: PodMinutes[];
}

/**
 * Six hours of an autoscaler in steps of five minutes, and its pods by minute, which stay as long
 * as the scale events. They share an item; where both do not fit, the pods have one of their own.
 */
export const SAMPLES = ofJournal<SixHours>({
  name: "samples",
  mark: "rollups",
  fold: (made, fact) => {
    const { bins, minutes } = made ?? { bins: new Map<number, Sample>(), minutes: [] };
    addMinute(minutes, fact);
    return { bins: binned(bins, fact), minutes };
  },
  itemOf: (page, of, { bins, minutes }) => sixHourItems(page, of, [...bins.values()], minutes),
});

/** With its keys an item stays below one write unit of 1,024 bytes. */
export const SAMPLE_BYTES_MAX = 780;
const VERSION = 1;
const SK_PREFIX = "rollup#";
const TEN_THOUSANDTHS = 10_000;

const COLUMNS = [
  column.before("atMs"),
  ...["current", "wanted", "desired", "ready", "min", "max", "generation"].map(column.number),
  column.fraction("load", TEN_THOUSANDTHS),
  column.word("reason"),
  column.word("held"),
];
/** The columns of one metric. Its name and its newest target are stored once. */
const METRIC_COLUMNS = [column.fraction("ratio", TEN_THOUSANDTHS), column.text("value")];

type StoredMetric = readonly [name: string, target: string | null, columns: unknown];

const bodyOf = (
  samples: readonly Sample[],
  { endMs }: Slot,
  minutes?: readonly PodMinutes[],
): unknown => {
  const names = new Set(samples.flatMap(({ metrics }) => metrics.map(({ name }) => name)));
  const metrics = [...names].map((name): StoredMetric => {
    const found = samples.map((one) => one.metrics.find((metric) => metric.name === name) ?? {});
    const target = found.findLast(
      (metric): metric is SampleMetric => "target" in metric && metric.target !== undefined,
    )?.target;
    return [name, target ?? null, rowsToColumns(METRIC_COLUMNS, found, endMs)];
  });
  const columns = rowsToColumns(COLUMNS, samples, endMs);
  return minutes ? [columns, metrics, minutesValue(minutes, endMs)] : [columns, metrics];
};

const wholeBody = (
  samples: readonly Sample[],
  slot: Slot,
  minutes?: readonly PodMinutes[],
): Uint8Array => compress(VERSION, bodyOf(samples, slot, minutes));

/**
 * What to leave out of a body that is too large, one more at each step. Load, counts and what held
 * them stay.
 */
export const LIGHTER: readonly ((sample: Sample) => Sample)[] = [
  (sample) => sample,
  ({ metrics, ...sample }) => ({
    ...sample,
    metrics: metrics.map(({ value: _value, ...metric }) => metric),
  }),
  (sample) => ({ ...sample, metrics: [] }),
  ({ ready: _ready, min: _min, max: _max, generation: _generation, ...sample }) => ({
    ...sample,
    metrics: [],
    reason: "",
  }),
  ({ atMs, current, wanted, held, load }) => ({
    ...present({ atMs, current, wanted, held, load: hundredths(load) }),
    metrics: [],
    reason: "",
  }),
];

const hundredths = (load: number | undefined): number | undefined =>
  load === undefined ? undefined : Math.round(load * 100) / 100;

type Autoscaler = AutoscalerRef & { readonly uid: AutoscalerUid };

const itemWith = (page: PageSlot, of: Autoscaler, body: Uint8Array) => ({
  ...slotKey(SK_PREFIX, page, of),
  body,
  ttlSeconds: ttlOf(page.slot.endMs, EVENT_DAYS_KEPT),
});

export const sampleItem = (
  page: PageSlot,
  of: Autoscaler,
  samples: readonly Sample[],
): HistoryItem & { readonly body: Uint8Array } =>
  itemWith(
    page,
    of,
    firstWithin(SAMPLE_BYTES_MAX, LIGHTER, (lighten) => wholeBody(samples.map(lighten), page.slot)),
  );

export const sixHourItems = (
  page: PageSlot,
  of: Autoscaler,
  samples: readonly Sample[],
  minutes: readonly PodMinutes[],
): readonly HistoryItem[] => {
  if (!saysMore(minutes)) return [sampleItem(page, of, samples)];
  const together = wholeBody(samples, page.slot, minutes);
  return together.length <= SAMPLE_BYTES_MAX
    ? [itemWith(page, of, together)]
    : [sampleItem(page, of, samples), podsItem(page, of, minutes)];
};

type Between = { readonly sinceMs: number; readonly untilMs: number };

/** What is stored of an autoscaler in a stretch, in order of time. */
interface Stored {
  readonly samples: readonly Sample[];
  readonly pods: readonly PodMinutes[];
}

const storedIn = async (
  tables: Tables,
  of: Autoscaler,
  { sinceMs, untilMs }: Between,
): Promise<Stored> => {
  const items = (await slotItems(tables, SK_PREFIX, of, { sinceMs, untilMs })).map(sixHoursOf);
  const byTime = (one: { readonly atMs: number }, other: { readonly atMs: number }): number =>
    one.atMs - other.atMs;
  return {
    samples: items
      .flatMap(({ samples }) => samples)
      .filter(({ atMs }) => atMs >= sinceMs && atMs <= untilMs)
      .toSorted(byTime),
    pods: items.flatMap(({ pods }) => pods),
  };
};

/**
 * The stored five minutes of an autoscaler in a stretch, in order of time. An item that cannot be
 * read is passed over: it only explains.
 */
export const storedSamples = async (
  tables: Tables,
  of: Autoscaler,
  stretch: Between,
): Promise<readonly Sample[]> => (await storedIn(tables, of, stretch)).samples;

/** The same with the pods by minute. */
export const storedWithPods = async (
  tables: Tables,
  of: Autoscaler,
  stretch: Between,
): Promise<Stored> => {
  const [{ samples, pods }, apart] = await Promise.all([
    storedIn(tables, of, stretch),
    minutesApart(tables, of, stretch),
  ]);
  return { samples, pods: minutesWithin([...pods, ...apart], stretch) };
};

const NOTHING: Stored = { samples: [], pods: [] };

const sixHoursOf = ({
  endMs,
  body,
}: {
  readonly endMs: number;
  readonly body: Uint8Array;
}): Stored =>
  readIfKnown(body, VERSION, (value) => {
    const [columns, metrics, minutes] = value as readonly [
      columns: unknown,
      metrics: readonly StoredMetric[],
      minutes?: unknown,
    ];
    const byMetric = metrics.map(([name, target, stored]) =>
      columnsToRows<Partial<SampleMetric>>(METRIC_COLUMNS, stored, endMs).map(
        (metric): SampleMetric =>
          Object.keys(metric).length === 0
            ? { name }
            : { name, ...metric, ...(target !== null && { target }) },
      ),
    );
    const rows = columnsToRows<Omit<Sample, "metrics">>(COLUMNS, columns, endMs);
    return {
      samples: rows.map((sample, at) => ({
        ...sample,
        metrics: byMetric.flatMap((all) => all[at] ?? []),
      })),
      pods: minutes === undefined ? [] : minutesIn(minutes, endMs),
    };
  }) ?? NOTHING;
