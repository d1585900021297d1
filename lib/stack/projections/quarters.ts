import type { AutoscalerUid, PartitionRef } from "../../rules/model/ids.ts";
import { present } from "../../rules/model/json.ts";
import type { Sample, SampleMetric } from "../../rules/model/scale-records.ts";
import { HOUR_MS, MINUTE_MS } from "../../rules/model/time-text.ts";
import { isEmptyStretch, type Stretch, stretchParams, ttlOf } from "../store/history/events.ts";
import { type HistoryItem, historyItemOf } from "../store/history/item.ts";
import { journalOfPage } from "../store/history/journal.ts";
import { firstJournaledMs } from "../store/history/journal-pages.ts";
import { journalPageOf, journalPageOfWindows, journalPages, pageOf } from "../store/pages/plan.ts";
import { summaryKeyOf } from "../store/summary/summary-codec.ts";
import { column, columnsToRows, rowsToColumns } from "../store/table/columns.ts";
import { compress, firstWithin, readIfKnown } from "../store/table/compressed.ts";
import { quarterKey, quartersPk } from "../store/table/keys.ts";
import { readAll } from "../store/table/read-many.ts";
import type { Tables } from "../store/table/tables.ts";
import { SIX_HOURS_MS } from "./journal-slots.ts";
import type { CatchUpTurn, FactPlace, Folded, Projection, Slot } from "./project.ts";
import { highestRatio, ratioOf } from "./sample.ts";
import { binned, LIGHTER } from "./samples.ts";

const QUARTER_MS = 15 * MINUTE_MS;
/** Windows pages whose autoscalers share an item, some 60 autoscalers. */
const WINDOWS_PAGES_AN_ITEM = 5;
/** A smaller journal page is so small that its readers need no second form of it. */
const WINDOWS_PAGES_LEAST = 5;

/**
 * A quarter of an hour of some autoscalers of a journal page in steps of five minutes, for the
 * hours whose samples are not made yet: a reader of one autoscaler takes the items of its group,
 * and not the journal of a hundred. They are a second form of the journal: where an item is
 * missing, the journal has what it says. So there are no marks. The parts of a slot are made from
 * the last page down, and the newest item of the first page says what is made.
 */
export const QUARTERS: Projection = {
  name: "quarters",
  slots: {
    beginOf: (ms) => Math.floor(ms / QUARTER_MS) * QUARTER_MS,
    endOf: (fromMs) => fromMs + QUARTER_MS,
    characters: "2026-11-21T06:15".length,
  },
  // No sync lives longer than a minute.
  settledMs: 2 * MINUTE_MS,
  // Samples are made of what is older.
  reachMs: SIX_HOURS_MS + HOUR_MS,
  markDays: 1,
  places: async (turn) => {
    const pages = pagesWithGroups(turn.windowsPages ?? 0);
    return pages.length > 0 ? [placeOf(turn, pages)] : [];
  },
};

const windowsPagesIn = (page: number, windowsPages: number): number =>
  Array.from({ length: windowsPages }, (_, index) => journalPageOfWindows(index)).filter(
    (one) => one === page,
  ).length;

/** Groups of a journal page; 0 for a small one. */
const groupsOf = (page: number, windowsPages: number): number => {
  const count = windowsPagesIn(page, windowsPages);
  return count < WINDOWS_PAGES_LEAST ? 0 : Math.ceil(count / WINDOWS_PAGES_AN_ITEM);
};

const pagesWithGroups = (windowsPages: number): readonly number[] =>
  journalPages(windowsPages).filter((page) => groupsOf(page, windowsPages) > 0);

/** The items that have an autoscaler in a partition with so many windows pages. */
interface Group {
  readonly page: number;
  readonly group: number;
}

/** Absent for an autoscaler of a small journal page. */
export const quarterGroupOf = (uid: AutoscalerUid, windowsPages: number): Group | undefined => {
  const page = journalPageOf(uid, windowsPages);
  const groups = groupsOf(page, windowsPages);
  return groups === 0 ? undefined : { page, group: pageOf(uid, windowsPages) % groups };
};

const placeOf = (
  { tables, cluster, partition, nowMs, windowsPages = 0 }: CatchUpTurn,
  pages: readonly number[],
): FactPlace => {
  const ref = { cluster: cluster.name, partition };
  const [first = 0] = pages;
  return {
    firstMs: () => firstMissingMs(tables, ref, first, nowMs),
    nextMs: (fromMs) => firstJournaledMs(tables, ref, fromMs),
    partsOf: async () => pages.toReversed().map(String),
    fold: (slot, part) => folded(tables, ref, { slot, page: Number(part), windowsPages }),
  };
};

/** After the newest item of a page. */
const firstMissingMs = async (
  tables: Tables,
  ref: PartitionRef,
  page: number,
  nowMs: number,
): Promise<number> => {
  const sinceMs = nowMs - QUARTERS.reachMs;
  const stretch = { sinceMs, untilMs: nowMs, newestFirst: true, pageSize: 1 };
  for await (const { slot } of itemsOf(tables, ref, { page, group: 0 }, stretch)) return slot.endMs;
  return sinceMs;
};

interface PageOfSlot {
  readonly slot: Slot;
  readonly page: number;
  readonly windowsPages: number;
}

const folded = async (
  tables: Tables,
  ref: PartitionRef,
  { slot, page, windowsPages }: PageOfSlot,
): Promise<Folded> => {
  const byGroup = new Map<number, Map<AutoscalerUid, Map<number, Sample>>>();
  const stretch = { page, sinceMs: slot.fromMs, untilMs: slot.endMs - 1 };
  for await (const { atMs, evaluations } of journalOfPage(tables, ref, stretch))
    for (const evaluation of evaluations) {
      const place = quarterGroupOf(evaluation.uid, windowsPages);
      // The partition had other pages at that time: readers take the journal.
      if (place?.page !== page) continue;
      const group = byGroup.get(place.group) ?? new Map<AutoscalerUid, Map<number, Sample>>();
      byGroup.set(place.group, group);
      group.set(evaluation.uid, binned(group.get(evaluation.uid), { atMs, evaluation }));
    }
  const items = [...byGroup].map(([group, found]) =>
    quarterItem(ref, { page, group }, slot, found),
  );
  return { items };
};

const VERSION = 1;
/**
 * With its keys an item stays below two write units of 1,024 bytes. Of 60 autoscalers with one
 * metric it takes one.
 */
const BYTES_MAX = 1_900;
/** So many characters of the key of an autoscaler in summaries. Two of one key are left out. */
const KEY_CHARACTERS = 5;
const TEN_THOUSANDTHS = 10_000;

const keyOf = (uid: AutoscalerUid): string => summaryKeyOf(uid).slice(0, KEY_CHARACTERS);

/** Rows of one autoscaler follow each other, and its first one says how many there are. */
const COLUMNS = [
  column.number("rows"),
  column.before("atMs"),
  column.number("current"),
  ...["wanted", "desired", "ready", "counted"].map((field) => column.delta(field, "current")),
  ...["stale", "otherRevision", "min", "max", "generation"].map(column.number),
  column.fraction("load", TEN_THOUSANDTHS),
  column.word("reason"),
  column.word("held"),
];
/** A ratio that nearly follows from value and target is stored as what it is off by. */
const METRIC_COLUMNS = [
  column.word("name"),
  column.word("target"),
  column.text("value"),
  column.number("off"),
  column.fraction("ratio", TEN_THOUSANDTHS),
];

interface StoredMetric extends Pick<SampleMetric, "name" | "target" | "value" | "ratio"> {
  readonly off?: number;
}
type StoredSample = Omit<Sample, "metrics" | "load"> & {
  readonly rows?: number;
  readonly load?: number;
};

const partsOf = (ratio: number): number => Math.round(ratio * TEN_THOUSANDTHS);

/** The ratio that value and target say, in whole parts. */
const saidBy = ({ value, target }: Pick<SampleMetric, "value" | "target">): number | undefined => {
  const ratio =
    value === undefined || target === undefined ? undefined : ratioOf({ value, target });
  return ratio === undefined ? undefined : partsOf(ratio);
};

const storedMetric = ({ name, target, value, ratio }: SampleMetric): StoredMetric => {
  const said = saidBy(present({ value, target }));
  return ratio === undefined || said === undefined
    ? present({ name, target, value, ratio })
    : present({ name, target, value, off: partsOf(ratio) - said });
};

const metricOf = ({ off, ...metric }: StoredMetric): SampleMetric => {
  const said = off === undefined ? undefined : saidBy(metric);
  return off === undefined || said === undefined
    ? metric
    : { ...metric, ratio: (said + off) / TEN_THOUSANDTHS };
};

const loadOf = (metrics: readonly SampleMetric[]): number | undefined =>
  highestRatio(metrics.map(({ ratio }) => ratio));

const storedSample = ({ metrics, load, ...sample }: Sample, rows?: number): StoredSample =>
  present({ rows, ...sample, load: load === loadOf(metrics) ? undefined : load });

/** Autoscalers that are alike stand together, which makes the columns smaller. */
const likeness = (samples: readonly Sample[]): string =>
  JSON.stringify(
    samples.slice(0, 1).map(({ metrics, min, max, generation, reason, current = 0 }) => ({
      metrics: metrics.map(({ name, target }) => [name, target]),
      ...{ min, max, generation, rows: samples.length, reason, current },
    })),
  );

type Found = ReadonlyMap<AutoscalerUid, ReadonlyMap<number, Sample>>;

/** Samples of one key, which is of one autoscaler. */
type Keyed = readonly [key: string, samples: readonly Sample[]];

const keyedOf = (found: Found): readonly Keyed[] =>
  [...Map.groupBy([...found], ([uid]) => keyOf(uid))]
    .flatMap(([key, [one, ...more]]): readonly Keyed[] =>
      one && more.length === 0 ? [[key, [...one[1].values()]]] : [],
    )
    .map((one) => [one, likeness(one[1])] as const)
    .toSorted(([, one], [, other]) => (one < other ? -1 : 1))
    .map(([one]) => one);

const bodyOf = (
  keyed: readonly Keyed[],
  lighten: (sample: Sample) => Sample,
  { endMs }: Slot,
): unknown => {
  const light = keyed.map(([, samples]) => samples.map(lighten));
  const rows = light.flatMap((samples) =>
    samples.map((one, at) => storedSample(one, at === 0 ? samples.length : undefined)),
  );
  const all = light.flat();
  const most = Math.max(0, ...all.map(({ metrics }) => metrics.length));
  return [
    keyed.map(([key]) => key).join(""),
    rowsToColumns(COLUMNS, rows, endMs),
    Array.from({ length: most }, (_, at) =>
      rowsToColumns(
        METRIC_COLUMNS,
        all.map(({ metrics }) => (metrics[at] ? storedMetric(metrics[at]) : {})),
        endMs,
      ),
    ),
  ];
};

export const quarterItem = (
  ref: PartitionRef,
  { page, group }: Group,
  slot: Slot,
  found: Found,
): HistoryItem & { readonly body: Uint8Array } => {
  const keyed = keyedOf(found);
  return {
    ...quarterKey(ref, { page, group, fromMs: slot.fromMs }),
    body: firstWithin(BYTES_MAX, LIGHTER, (lighten) =>
      compress(VERSION, bodyOf(keyed, lighten, slot)),
    ),
    ttlSeconds: ttlOf(slot.endMs, 1),
  };
};

async function* itemsOf(
  tables: Tables,
  ref: PartitionRef,
  { page, group }: Group,
  stretch: Stretch,
): AsyncGenerator<{ readonly slot: Slot; readonly body: Uint8Array }> {
  const params = stretchParams(tables.historyTable, quartersPk(ref, page, group), "", stretch);
  const action = `read the quarters of an hour of "${ref.cluster}/${ref.partition}"`;
  for await (const found of readAll(tables, action, params)) {
    const { sk, body } = historyItemOf(found);
    const fromMs = Number(sk);
    yield { slot: { fromMs, endMs: QUARTERS.slots.endOf(fromMs) }, body: Buffer.from(body) };
  }
}

/**
 * What the quarters of an hour of a stretch have of an autoscaler, in order of time. An item that
 * cannot be read is passed over: the journal has what it says.
 */
export const storedQuarters = async (
  tables: Tables,
  {
    ref,
    windowsPages,
    uid,
  }: {
    readonly ref: PartitionRef;
    readonly windowsPages: number;
    readonly uid: AutoscalerUid;
  },
  stretch: { readonly sinceMs: number; readonly untilMs: number },
): Promise<readonly Sample[]> => {
  const group = quarterGroupOf(uid, windowsPages);
  const begun = { ...stretch, sinceMs: QUARTERS.slots.beginOf(stretch.sinceMs) };
  if (!group || isEmptyStretch(begun)) return [];
  const samples: Sample[] = [];
  for await (const { slot, body } of itemsOf(tables, ref, group, begun))
    samples.push(...samplesIn(body, slot, keyOf(uid)));
  return samples.filter(({ atMs }) => atMs >= stretch.sinceMs && atMs <= stretch.untilMs);
};

const samplesIn = (body: Uint8Array, { endMs }: Slot, key: string): readonly Sample[] =>
  readIfKnown(body, VERSION, (value) => {
    const [keys, columns, metrics] = value as readonly [string, unknown, readonly unknown[]];
    const at = Array.from({ length: keys.length / KEY_CHARACTERS }, (_, index) =>
      keys.slice(index * KEY_CHARACTERS, (index + 1) * KEY_CHARACTERS),
    ).indexOf(key);
    const rows = columnsToRows<StoredSample>(COLUMNS, columns, endMs);
    const begins = rows.flatMap((row, index) => (row.rows === undefined ? [] : [index]));
    const begin = at === -1 ? undefined : begins[at];
    if (begin === undefined) return [];
    const byMetric = metrics.map((one) =>
      columnsToRows<Partial<StoredMetric>>(METRIC_COLUMNS, one, endMs),
    );
    return rows.slice(begin, begins[at + 1]).map(({ rows: _rows, ...row }, index): Sample => {
      const own = byMetric.flatMap((all) => {
        const { name, ...metric } = all[begin + index] ?? {};
        return name === undefined ? [] : [metricOf({ name, ...metric })];
      });
      const load = row.load ?? loadOf(own);
      return { ...row, ...(load !== undefined && { load }), metrics: own };
    });
  }) ?? [];
