import type { AutoscalerRef, AutoscalerUid, PartitionRef } from "../../../rules/model/ids.ts";
import type { Lane, Sample, SampleMetric } from "../../../rules/model/scale-records.ts";
import { compress, firstWithin, readIfKnown } from "../table/compressed.ts";
import { autoscalerHistoryPk, type Key, sortableMs } from "../table/keys.ts";
import { readAll } from "../table/read-many.ts";
import type { Tables } from "../table/tables.ts";
import { EVENT_DAYS_KEPT, isEmptyStretch, ttlOf } from "./events.ts";
import {
  type HistoryItem,
  type InsertHistory,
  historyItemOf,
  LAST,
  unexpiredBetween,
} from "./item.ts";
import { JOURNAL_DAYS_KEPT } from "./journal.ts";
import { SECOND_MS } from "../../../rules/model/time-text.ts";

/**
 * The time that one item covers. Four a day take four write units, and one turn reads a quarter of
 * a day's journal.
 */
export const ROLLUP_MS = 6 * 3_600_000;
export const BIN_MS = 5 * 60_000;
/** With its keys an item stays below one write unit of 1,024 bytes. */
export const ROLLUP_BODY_BYTES_MAX = 780;
const ROLLUP_VERSION = 1;
const ROLLUP_SK_PREFIX = "rollup#";

/**
 * Where the samples come from. An autoscaler that moved to another journal within the time has an
 * item of each.
 */
export interface RollupSource {
  readonly partition: PartitionRef;
  readonly page: number;
  readonly fromMs: number;
}

const COUNTS = ["current", "wanted", "desired", "ready", "min", "max", "generation"] as const;
type Counts = (typeof COUNTS)[number];

type Column = readonly (number | null)[];

/**
 * Columns, one entry a sample; names that come again are numbers into a list. The times are seconds
 * after the beginning.
 */
interface RollupBody {
  readonly at: readonly number[];
  readonly counts: Readonly<Partial<Record<Counts, Column>>>;
  /** Ten-thousandths, as points have them. */
  readonly load: Column;
  readonly metrics: readonly {
    readonly of: readonly [name: string, target?: string];
    readonly ratios: Column;
    readonly values?: readonly (string | null)[];
  }[];
  readonly reasons: readonly [names: readonly string[], column: Column];
  readonly held: readonly [names: readonly string[], column: Column];
}

const TEN_THOUSANDTHS = 10_000;

const indexed = (texts: readonly (string | undefined)[]): readonly [readonly string[], Column] => {
  const names = [...new Set(texts.filter((text) => text !== undefined))];
  return [names, texts.map((text) => (text === undefined ? null : names.indexOf(text)))];
};

const milli = (value: number | undefined): number | null =>
  value === undefined ? null : Math.round(value * TEN_THOUSANDTHS);

const metricsOf = (samples: readonly Sample[]): RollupBody["metrics"] => {
  const names = [...new Set(samples.flatMap(({ metrics }) => metrics.map(({ name }) => name)))];
  return names.map((name) => {
    const found = samples.map(({ metrics }) => metrics.find((metric) => metric.name === name));
    const target = found.findLast((metric) => metric?.target !== undefined)?.target;
    return {
      of: target === undefined ? [name] : [name, target],
      ratios: found.map((metric) => milli(metric?.ratio)),
      values: found.map((metric) => metric?.value ?? null),
    };
  });
};

const bodyOf = (samples: readonly Sample[], fromMs: number): RollupBody => ({
  at: samples.map(({ atMs }) => Math.round((atMs - fromMs) / SECOND_MS)),
  counts: Object.fromEntries(
    COUNTS.flatMap((count) => {
      const column = samples.map((sample) => sample[count] ?? null);
      return column.some((value) => value !== null) ? [[count, column] as const] : [];
    }),
  ),
  load: samples.map(({ load }) => milli(load)),
  metrics: metricsOf(samples),
  reasons: indexed(samples.map(({ reason }) => reason)),
  held: indexed(samples.map(({ held }) => held)),
});

/**
 * What to leave out of a body that is too large, one more at each step. Load, counts and what held
 * them stay.
 */
const LIGHTER: readonly ((body: RollupBody) => RollupBody)[] = [
  (body) => body,
  (body) => ({ ...body, metrics: body.metrics.map(({ values: _values, ...metric }) => metric) }),
  (body) => ({ ...body, metrics: [] }),
  (body) => ({
    ...body,
    metrics: [],
    counts: pick(body.counts, ["current", "wanted", "desired"]),
    reasons: [[], []],
  }),
  (body) => ({
    ...body,
    metrics: [],
    counts: pick(body.counts, ["current", "wanted"]),
    reasons: [[], []],
    load: body.load.map(hundredths),
  }),
];

const pick = (counts: RollupBody["counts"], kept: readonly Counts[]): RollupBody["counts"] =>
  Object.fromEntries(Object.entries(counts).filter(([name]) => kept.includes(name as Counts)));

const hundredths = (load: number | null): number | null =>
  load === null ? null : Math.round(load / 100) * 100;

const lightEnough = (body: RollupBody): Uint8Array =>
  firstWithin(ROLLUP_BODY_BYTES_MAX, LIGHTER, (lighten) => compress(ROLLUP_VERSION, lighten(body)));

export const rollupItem = (
  { partition, page, fromMs }: RollupSource,
  { uid, ...ref }: AutoscalerRef & { readonly uid: AutoscalerUid },
  samples: readonly Sample[],
): HistoryItem & { readonly body: Uint8Array } => ({
  pk: autoscalerHistoryPk(ref),
  sk: `${ROLLUP_SK_PREFIX}${sortableMs(fromMs)}#${uid}#${partition.partition}#${page}`,
  body: lightEnough(bodyOf(samples, fromMs)),
  ttlSeconds: ttlOf(fromMs + ROLLUP_MS, EVENT_DAYS_KEPT),
});

/**
 * The marks of a partition: which times of which journal pages are rolled up. They last longer than
 * the journal.
 */
const marksPk = ({ cluster, partition }: PartitionRef): string => `rollups#${cluster}#${partition}`;
const markKey = ({ partition, page, fromMs }: RollupSource): Key => ({
  pk: marksPk(partition),
  sk: `${sortableMs(fromMs)}#${page}`,
});
const MARK_DAYS_KEPT = JOURNAL_DAYS_KEPT + 2;

/*
 *  item ✓ item ✓ item ✗ (died) ── again: item (there) item (there) item ✓ ── mark ✓
 */

/**
 * Inserts the items, and then the mark that says so. A call that dies in between leaves no mark,
 * and the next one inserts the same items, which stay as they are.
 */
export const insertRollups = async (
  insert: InsertHistory,
  source: RollupSource,
  items: readonly HistoryItem[],
): Promise<void> => {
  if (items.length > 0) await insert(items);
  await insert([
    {
      ...markKey(source),
      body: String(items.length),
      ttlSeconds: ttlOf(source.fromMs + ROLLUP_MS, MARK_DAYS_KEPT),
    },
  ]);
};

/** The marks since an instant, as `<beginning in ms>#<page>`. */
export const rollupMarks = async (
  tables: Tables,
  partition: PartitionRef,
  sinceMs: number,
): Promise<ReadonlySet<string>> => {
  const params = unexpiredBetween(
    tables.historyTable,
    marksPk(partition),
    [sortableMs(sinceMs), LAST],
    0,
  );
  const marks = new Set<string>();
  for await (const item of readAll(
    tables,
    `read what is rolled up of "${partition.cluster}/${partition.partition}"`,
    params,
  )) {
    const [ms = "", page = ""] = historyItemOf(item).sk.split("#");
    marks.add(`${Number(ms)}#${page}`);
  }
  return marks;
};

/**
 * The stored five minutes of an autoscaler in a stretch, in order of time. An item that cannot be
 * read is passed over: it only explains.
 */
export const rolledSamples = async (
  tables: Tables,
  { uid, ...ref }: AutoscalerRef & { readonly uid: AutoscalerUid },
  stretch: { readonly sinceMs: number; readonly untilMs: number },
): Promise<readonly Sample[]> => {
  if (isEmptyStretch(stretch)) return [];
  const firstMs = Math.floor(stretch.sinceMs / ROLLUP_MS) * ROLLUP_MS;
  const range = [
    `${ROLLUP_SK_PREFIX}${sortableMs(firstMs)}`,
    `${ROLLUP_SK_PREFIX}${sortableMs(stretch.untilMs)}${LAST}`,
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
    `read the rollups of "${ref.namespace}/${ref.name}"`,
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
  const fromMs = Number(sk.split("#")[1]);
  return (
    readIfKnown(Buffer.from(body), ROLLUP_VERSION, (value) =>
      samplesIn(value as RollupBody, fromMs),
    ) ?? []
  );
};

const samplesIn = (
  { at, counts, load, metrics, reasons, held }: RollupBody,
  fromMs: number,
): readonly Sample[] =>
  at.map((seconds, index) => {
    const loadMilli = load[index];
    const reason = reasons[0][reasons[1][index] ?? -1];
    const lane = held[0][held[1][index] ?? -1];
    return {
      atMs: fromMs + seconds * SECOND_MS,
      ...Object.fromEntries(
        Object.entries(counts).flatMap(([name, column]) =>
          column[index] == null ? [] : [[name, column[index]]],
        ),
      ),
      ...(loadMilli != null && { load: loadMilli / TEN_THOUSANDTHS }),
      metrics: metrics.map(({ of: [name, target], ratios, values }) =>
        metricIn({ name, target }, ratios[index], values?.[index]),
      ),
      reason: reason ?? "",
      ...(lane !== undefined && { held: lane as Lane }),
    };
  });

const metricIn = (
  { name, target }: { readonly name: string; readonly target: string | undefined },
  ratio: number | null | undefined,
  value: string | null | undefined,
): SampleMetric => {
  if (ratio == null && value == null) return { name };
  return {
    name,
    ...(value != null && { value }),
    ...(target !== undefined && { target }),
    ...(ratio != null && { ratio: ratio / TEN_THOUSANDTHS }),
  };
};
