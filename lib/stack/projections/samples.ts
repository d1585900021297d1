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

/** Six hours of an autoscaler in steps of five minutes, which stay as long as the scale events. */
export const SAMPLES = ofJournal<Map<number, Sample>>({
  name: "samples",
  mark: "rollups",
  fold: binned,
  itemOf: (page, of, bins) => sampleItem(page, of, [...bins.values()]),
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

const bodyOf = (samples: readonly Sample[], { endMs }: Slot): unknown => {
  const names = new Set(samples.flatMap(({ metrics }) => metrics.map(({ name }) => name)));
  const metrics = [...names].map((name): StoredMetric => {
    const found = samples.map((one) => one.metrics.find((metric) => metric.name === name) ?? {});
    const target = found.findLast(
      (metric): metric is SampleMetric => "target" in metric && metric.target !== undefined,
    )?.target;
    return [name, target ?? null, rowsToColumns(METRIC_COLUMNS, found, endMs)];
  });
  return [rowsToColumns(COLUMNS, samples, endMs), metrics];
};

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

export const sampleItem = (
  page: PageSlot,
  of: AutoscalerRef & { readonly uid: AutoscalerUid },
  samples: readonly Sample[],
): HistoryItem & { readonly body: Uint8Array } => ({
  ...slotKey(SK_PREFIX, page, of),
  body: firstWithin(SAMPLE_BYTES_MAX, LIGHTER, (lighten) =>
    compress(VERSION, bodyOf(samples.map(lighten), page.slot)),
  ),
  ttlSeconds: ttlOf(page.slot.endMs, EVENT_DAYS_KEPT),
});

/**
 * The stored five minutes of an autoscaler in a stretch, in order of time. An item that cannot be
 * read is passed over: it only explains.
 */
export const storedSamples = async (
  tables: Tables,
  of: AutoscalerRef & { readonly uid: AutoscalerUid },
  stretch: { readonly sinceMs: number; readonly untilMs: number },
): Promise<readonly Sample[]> =>
  (await slotItems(tables, SK_PREFIX, of, stretch))
    .flatMap(samplesOf)
    .filter(({ atMs }) => atMs >= stretch.sinceMs && atMs <= stretch.untilMs)
    .toSorted((one, other) => one.atMs - other.atMs);

const samplesOf = ({
  endMs,
  body,
}: {
  readonly endMs: number;
  readonly body: Uint8Array;
}): readonly Sample[] =>
  readIfKnown(body, VERSION, (value) => {
    const [columns, metrics] = value as readonly [unknown, readonly StoredMetric[]];
    const byMetric = metrics.map(([name, target, stored]) =>
      columnsToRows<Partial<SampleMetric>>(METRIC_COLUMNS, stored, endMs).map(
        (metric): SampleMetric =>
          Object.keys(metric).length === 0
            ? { name }
            : { name, ...metric, ...(target !== null && { target }) },
      ),
    );
    return columnsToRows<Omit<Sample, "metrics">>(COLUMNS, columns, endMs).map((sample, at) => ({
      ...sample,
      metrics: byMetric.flatMap((rows) => rows[at] ?? []),
    }));
  }) ?? [];
