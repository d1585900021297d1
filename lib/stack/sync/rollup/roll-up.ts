import type { PartitionRef } from "../../../rules/model/ids.ts";
import type { Sample, Lane, SampleMetric, Evaluation } from "../../../rules/model/scale-records.ts";
import { JOURNAL_DAYS_KEPT, journalOfPage } from "../../store/history/journal.ts";
import {
  BIN_MS,
  insertRollups,
  ROLLUP_MS,
  type RollupSource,
  rollupItem,
  rollupMarks,
} from "../../store/history/rollups.ts";
import { journalPages } from "../../store/pages/plan.ts";
import type { SyncPorts, WarmCache } from "../sync-ports.ts";
import { JOURNAL_EVERY_MS } from "../keep/store-pages.ts";
import type { MetricOutcome } from "../../../rules/model/decision.ts";
import { floatOf, parseQuantity } from "../../../rules/model/quantity.ts";
import { shortMetricName } from "../../../rules/policy/shared/scale-sentence.ts";
import { LANES, laneOfReason } from "../../report/reasons/lanes.ts";
import type { Loaded, RolledUp } from "../hand-over.ts";

/**
 * By then every sync of the time has written its journal, or has died: none lives longer than a
 * minute.
 */
const SETTLED_MS = 10 * 60_000;
/** The oldest part of the journal may expire while it is read. */
const REACH_MS = (JOURNAL_DAYS_KEPT - 1) * 86_400_000;
/** A sync that took longer leaves the work to one of the next minutes. */
const SYNC_MS_MAX = 5_000;

/**
 * The time up to which an environment knows that everything of a partition is rolled up. It only
 * saves reads.
 */
const knownMs = new WeakMap<WarmCache, Map<string, number>>();

/**
 * Rolls up one journal page of six hours that is not rolled up yet, the oldest first: five minutes
 * of each autoscaler become one sample, which stays as long as the scale events. It comes after the
 * release, once a minute at most, and decides nothing: a sync that dies here, or comes late, leaves
 * the work to the next one, and a repeat inserts the same items. Never throws.
 */
export const rollUp = async (
  ports: SyncPorts,
  partition: PartitionRef,
  { loaded, pages, startMs }: Turn,
): Promise<RolledUp> => {
  const { nowMs, head } = loaded;
  const opensMinute =
    Math.floor(nowMs / JOURNAL_EVERY_MS) > Math.floor(head.nowMs / JOURNAL_EVERY_MS);
  if (!opensMinute || ports.tables.clock() - startMs > SYNC_MS_MAX) return {};
  try {
    const source = await nextSource(ports, partition, { loaded, pages });
    if (source) await insertRollups(ports.insert, source, await itemsOf(ports, source));
    return {};
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
};

interface Turn {
  readonly loaded: Loaded;
  /** The number of windows pages. */
  readonly pages: number;
  readonly startMs: number;
}

/** The oldest time and journal page without a mark. */
const nextSource = async (
  { tables, cache }: SyncPorts,
  partition: PartitionRef,
  { loaded: { nowMs, specs }, pages }: Pick<Turn, "loaded" | "pages">,
): Promise<RollupSource | undefined> => {
  const endMs = Math.floor((nowMs - SETTLED_MS) / ROLLUP_MS) * ROLLUP_MS;
  const known = knownOf(cache);
  const key = `${partition.cluster}/${partition.partition}`;
  const createdMs = Math.min(
    ...specs.all.flatMap((spec) => (spec.kind === "unreadable" ? [] : [spec.record.createdMs])),
  );
  const firstMs = Math.max(
    known.get(key) ?? 0,
    Math.floor(Math.max(createdMs, nowMs - REACH_MS) / ROLLUP_MS) * ROLLUP_MS,
  );
  if (!(firstMs < endMs)) return undefined;
  const marks = await rollupMarks(tables, partition, firstMs);
  for (let fromMs = firstMs; fromMs < endMs; fromMs += ROLLUP_MS) {
    const page = journalPages(pages).find((one) => !marks.has(`${fromMs}#${one}`));
    if (page !== undefined) return { partition, page, fromMs };
    known.set(key, fromMs + ROLLUP_MS);
  }
  return undefined;
};

const knownOf = (cache: WarmCache): Map<string, number> => {
  const known = knownMs.get(cache) ?? new Map<string, number>();
  knownMs.set(cache, known);
  return known;
};

const itemsOf = async ({ tables }: SyncPorts, source: RollupSource) => {
  const { partition, page, fromMs } = source;
  const byUid = new Map<
    string,
    { readonly of: Parameters<typeof rollupItem>[1]; readonly bins: Map<number, Sample> }
  >();
  for await (const { atMs, evaluations } of journalOfPage(tables, partition, {
    page,
    sinceMs: fromMs,
    untilMs: fromMs + ROLLUP_MS - 1,
  })) {
    const bin = Math.floor((atMs - fromMs) / BIN_MS);
    for (const evaluation of evaluations) {
      const { uid, namespace, name } = evaluation;
      const rolled = byUid.get(uid) ?? {
        of: { cluster: partition.cluster, namespace, name, uid },
        bins: new Map(),
      };
      byUid.set(uid, rolled);
      const sample = sampleOf(atMs, evaluation);
      const before = rolled.bins.get(bin);
      rolled.bins.set(bin, before ? joinedSample(before, sample) : sample);
    }
  }
  return [...byUid.values()].map(({ of, bins }) => rollupItem(source, of, [...bins.values()]));
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
