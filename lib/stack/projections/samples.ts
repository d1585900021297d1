import type {
  AutoscalerRef,
  AutoscalerUid,
  PartitionName,
  PartitionRef,
} from "../../rules/model/ids.ts";
import type { MetricOutcome } from "../../rules/model/decision.ts";
import { present } from "../../rules/model/json.ts";
import { floatOf, parseQuantity } from "../../rules/model/quantity.ts";
import type { Evaluation, Lane, Sample, SampleMetric } from "../../rules/model/scale-records.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../rules/model/time-text.ts";
import { shortMetricName } from "../../rules/policy/shared/scale-sentence.ts";
import { LANES, laneOfReason } from "../report/reasons/lanes.ts";
import { EVENT_DAYS_KEPT, isEmptyStretch, ttlOf } from "../store/history/events.ts";
import { type HistoryItem, historyItemOf, LAST, unexpiredBetween } from "../store/history/item.ts";
import { JOURNAL_DAYS_KEPT, journalOfPage } from "../store/history/journal.ts";
import { firstJournaledMs, journalPagesIn } from "../store/history/journal-pages.ts";
import { scopeChangesOf } from "../store/history/scope-changes.ts";
import { column, columnsToRows, rowsToColumns } from "../store/table/columns.ts";
import { compress, firstWithin, readIfKnown } from "../store/table/compressed.ts";
import { autoscalerHistoryPk, sortableMs } from "../store/table/keys.ts";
import { readAll } from "../store/table/read-many.ts";
import type { Tables } from "../store/table/tables.ts";
import type { Folded, FactPlace, Projection, Slot } from "./project.ts";

/**
 * The time that one item covers. Four a day take four write units, and one turn reads a quarter of
 * a day's journal.
 */
export const SAMPLES_MS = 6 * HOUR_MS;
export const BIN_MS = 5 * MINUTE_MS;

/**
 * Six hours of an autoscaler in steps of five minutes, which stay as long as the scale events. The
 * journal of a partition that was renamed or that gave its namespaces away is projected by the
 * first partition of its cluster, each page of it that has anything.
 */
export const SAMPLES: Projection = {
  name: "samples",
  slots: {
    beginOf: (ms) => Math.floor(ms / SAMPLES_MS) * SAMPLES_MS,
    endOf: (fromMs) => fromMs + SAMPLES_MS,
    characters: "2026-11-21T06:00".length,
  },
  // By then every sync of the time has written its journal, or has died: none lives longer than a
  // minute.
  settledMs: 10 * MINUTE_MS,
  // The oldest part of the journal may expire while it is read.
  reachMs: (JOURNAL_DAYS_KEPT - 1) * DAY_MS,
  markDays: JOURNAL_DAYS_KEPT + 2,
  places: async ({ tables, cluster, partition, nowMs }) => {
    const isFirst = cluster.partitions[0]?.name === partition;
    const former = isFirst ? await formerPartitions(tables, cluster, nowMs) : [];
    return [partition, ...former].map((one) =>
      journalPlace(tables, { cluster: cluster.name, partition: one }),
    );
  },
};

/** Partitions that the cluster had while the journal was written, and has no more. */
const formerPartitions = async (
  tables: Tables,
  { name, partitions }: Parameters<Projection["places"]>[0]["cluster"],
  nowMs: number,
): Promise<readonly PartitionName[]> => {
  const had = new Set<PartitionName>();
  const sinceMs = nowMs - JOURNAL_DAYS_KEPT * DAY_MS;
  const scope = { scope: "cluster", name } as const;
  for await (const { before: earlier } of scopeChangesOf(tables, scope, sinceMs)) {
    const record = JSON.parse(earlier ?? "{}") as {
      readonly partitions?: readonly { readonly name: PartitionName }[];
    };
    for (const { name: partition } of record.partitions ?? []) had.add(partition);
  }
  for (const { name: partition } of partitions) had.delete(partition);
  return [...had];
};

const journalPlace = (tables: Tables, partition: PartitionRef): FactPlace => ({
  pk: `rollups#${partition.cluster}#${partition.partition}`,
  nextMs: (fromMs) => firstJournaledMs(tables, partition, fromMs),
  partsOf: async ({ fromMs, endMs }) =>
    (await journalPagesIn(tables, partition, { sinceMs: fromMs, untilMs: endMs - 1 })).map(String),
  fold: async (slot, part) => folded(tables, { partition, page: Number(part), slot }),
});

/**
 * Where the samples come from. An autoscaler that moved to another journal within the time has an
 * item of each.
 */
export interface SampleSource {
  readonly partition: PartitionRef;
  readonly page: number;
  readonly slot: Slot;
}

const folded = async (tables: Tables, source: SampleSource): Promise<Folded> => {
  const { partition, page, slot } = source;
  const byUid = new Map<
    AutoscalerUid,
    { readonly of: Parameters<typeof sampleItem>[1]; readonly bins: Map<number, Sample> }
  >();
  for await (const { atMs, evaluations } of journalOfPage(tables, partition, {
    page,
    sinceMs: slot.fromMs,
    untilMs: slot.endMs - 1,
  })) {
    const bin = Math.floor((atMs - slot.fromMs) / BIN_MS);
    for (const evaluation of evaluations) {
      const { uid, namespace, name } = evaluation;
      const rolled = byUid.get(uid) ?? {
        of: { cluster: partition.cluster, namespace, name, uid },
        bins: new Map(),
      };
      byUid.set(uid, rolled);
      const sample = sampleOf(atMs, evaluation);
      const earlier = rolled.bins.get(bin);
      rolled.bins.set(bin, earlier ? joinedSample(earlier, sample) : sample);
    }
  }
  return {
    items: [...byUid.values()].map(({ of, bins }) => sampleItem(source, of, [...bins.values()])),
  };
};

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
const LIGHTER: readonly ((sample: Sample) => Sample)[] = [
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
  { partition, page, slot }: SampleSource,
  { uid, ...ref }: AutoscalerRef & { readonly uid: AutoscalerUid },
  samples: readonly Sample[],
): HistoryItem & { readonly body: Uint8Array } => ({
  pk: autoscalerHistoryPk(ref),
  sk: `${SK_PREFIX}${sortableMs(slot.fromMs)}#${uid}#${partition.partition}#${page}`,
  body: firstWithin(SAMPLE_BYTES_MAX, LIGHTER, (lighten) =>
    compress(VERSION, bodyOf(samples.map(lighten), slot)),
  ),
  ttlSeconds: ttlOf(slot.endMs, EVENT_DAYS_KEPT),
});

/**
 * The stored five minutes of an autoscaler in a stretch, in order of time. An item that cannot be
 * read is passed over: it only explains.
 */
export const storedSamples = async (
  tables: Tables,
  { uid, ...ref }: AutoscalerRef & { readonly uid: AutoscalerUid },
  stretch: { readonly sinceMs: number; readonly untilMs: number },
): Promise<readonly Sample[]> => {
  if (isEmptyStretch(stretch)) return [];
  const range = [
    `${SK_PREFIX}${sortableMs(SAMPLES.slots.beginOf(stretch.sinceMs))}`,
    `${SK_PREFIX}${sortableMs(stretch.untilMs)}${LAST}`,
  ] as const;
  const params = unexpiredBetween(
    tables.historyTable,
    autoscalerHistoryPk(ref),
    range,
    tables.clock(),
  );
  const samples: Sample[] = [];
  for await (const found of readAll(
    tables,
    `read the samples of "${ref.namespace}/${ref.name}"`,
    params,
  )) {
    const item = historyItemOf(found);
    if (item.sk.split("#")[2] === uid) samples.push(...samplesOf(item));
  }
  return samples
    .filter(({ atMs }) => atMs >= stretch.sinceMs && atMs <= stretch.untilMs)
    .toSorted((one, other) => one.atMs - other.atMs);
};

const samplesOf = ({ sk, body }: HistoryItem): readonly Sample[] => {
  const endMs = SAMPLES.slots.endOf(Number(sk.split("#")[1]));
  return (
    readIfKnown(Buffer.from(body), VERSION, (value) => {
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
    }) ?? []
  );
};

export const sampleOf = (atMs: number, evaluation: Evaluation): Sample => {
  const { from, because, metrics, bounds, ready, generation } = evaluation;
  const shown = metrics.map(metricOf);
  const loads = shown.flatMap(({ ratio }) => (ratio === undefined ? [] : [ratio]));
  const held = laneOf(evaluation);
  return {
    atMs,
    ...(from !== undefined && { current: from }),
    ...countsOf(evaluation),
    ...(ready !== undefined && { ready }),
    ...(bounds && { min: bounds.min, max: bounds.max }),
    ...(generation !== undefined && { generation }),
    ...(loads.length > 0 && { load: Math.max(...loads) }),
    metrics: shown,
    reason: because.reason,
    ...(held && { held }),
  };
};

/** What was wanted before and after windows and limits; nothing where nothing was decided. */
const countsOf = ({
  failed,
  steps,
  withoutHold,
  from,
  to,
}: Evaluation): Pick<Sample, "wanted" | "desired"> => {
  if (failed) return {};
  const wanted = steps.find(({ step }) => step === "propose" || step === "combine")?.after;
  const desired = withoutHold?.to ?? to ?? from;
  return { ...(wanted !== undefined && { wanted }), ...(desired !== undefined && { desired }) };
};

const DIGITS = 4;

const metricOf = (metric: MetricOutcome): SampleMetric => {
  const name = shortMetricName(metric.name);
  if (metric.kind === "failed") return { name };
  const ratio = ratioOf(metric);
  return {
    name,
    value: metric.value,
    target: metric.target,
    ...(ratio !== undefined && { ratio: Number(ratio.toFixed(DIGITS)) }),
  };
};

/** Value ÷ target of a measured metric; of two watermarks the high one counts. */
export const ratioOf = (metric: {
  readonly ratio?: number;
  readonly value: string;
  readonly target: string;
}): number | undefined => metric.ratio ?? shareOfHigh(metric);

/** Two watermarks have no one ratio: the value is compared with the high one. */
const shareOfHigh = ({
  value,
  target,
}: {
  readonly value: string;
  readonly target: string;
}): number | undefined => {
  const [at, high] = [value, target.split("..").at(-1) ?? ""].map((text) =>
    parseQuantity(text.replace("%", "")),
  );
  const bound = high && floatOf(high);
  return at && bound ? floatOf(at) / bound : undefined;
};

/** What held the count, or cut it: the hold, else the last limit that moved it. */
const laneOf = ({ kind, failed, because, steps }: Evaluation): Lane | undefined => {
  const hold = kind === "hold" ? laneOfReason(because.reason) : undefined;
  if (hold) return hold;
  if (failed) return "other";
  const limit = steps.findLast(
    (step) => step.limit !== undefined && step.before !== step.after,
  )?.limit;
  return limit && laneOfReason(limit.reason);
};

const WEIGHT: ReadonlyMap<Lane, number> = new Map(LANES.map(({ lane }, at) => [lane, at]));

const heavier = (one: Lane | undefined, other: Lane | undefined): Lane | undefined => {
  if (one === undefined || other === undefined) return one ?? other;
  return (WEIGHT.get(one) ?? 0) <= (WEIGHT.get(other) ?? 0) ? one : other;
};

/**
 * Two samples of one time: the counts of the later one, and the highest load and wanted count. What
 * held the count and the reason are of one evaluation: the later one, unless the earlier one was
 * held by more.
 */
export const joinedSample = (before: Sample, after: Sample): Sample => {
  const held = heavier(before.held, after.held);
  return {
    ...after,
    reason: held === after.held ? after.reason : before.reason,
    ...highest("load", before, after),
    ...highest("wanted", before, after),
    metrics: after.metrics.map((metric, at) => higher(before.metrics[at], metric)),
    ...(held && { held }),
  };
};

const higher = (before: SampleMetric | undefined, after: SampleMetric): SampleMetric =>
  before?.ratio !== undefined && before.ratio > (after.ratio ?? 0) ? before : after;

const highest = (field: "load" | "wanted", before: Sample, after: Sample): Partial<Sample> => {
  const values = [before[field], after[field]].filter((value) => value !== undefined);
  return values.length === 0 ? {} : { [field]: Math.max(...values) };
};
