import { present } from "../../../rules/model/json.ts";
import { DAY_MS, HOUR_MS } from "../../../rules/model/time-text.ts";
import { journalOfPage } from "../../../stack/store/history/journal.ts";
import { journalPages } from "../../../stack/store/pages/plan.ts";
import { mapWithLimit, REQUESTS_AT_ONCE } from "../../../stack/store/table/wait-for-all.ts";
import { JOURNAL_EVERY_MS } from "../../../stack/sync/keep/store-pages.ts";
import type { MeasuredView } from "../../views/cluster.ts";
import { type QueryContext, sees } from "../context.ts";
import { fleetNamed } from "../find-autoscaler.ts";
import { timeText } from "../times.ts";
import { headsOf, type PartitionPart, visibleParts } from "../views/cluster-of.ts";

/**
 * Times of journal pages that are read of all partitions together. A small fleet is read closely,
 * because a few autoscalers say little in a few minutes; of a large one each page is read once, at
 * a time of its own.
 */
const STRETCHES_MAX = 240;
const HOURS = DAY_MS / HOUR_MS;

/** A journal page of a partition, and the minutes of the journal that have a sync. */
interface Sampled {
  readonly part: PartitionPart;
  readonly page: number;
  readonly lengthMs: number;
  readonly endMs: number;
}

/**
 * What one sync of the fleet has and changes, as samples of the journal of the last day say it.
 * They lie evenly over the time in which a partition was synced.
 */
export const measuredSyncs = async (context: QueryContext): Promise<MeasuredView> => {
  const { clusters } = await fleetNamed(context, undefined, { needsEdits: false });
  const whole = clusters.filter(({ name }) => sees(context, name));
  const heads = await headsOf(context, whole, false);
  const sampled = whole
    .flatMap((cluster) => visibleParts(context, cluster, heads, undefined))
    .flatMap((part) => sampledOf(part, context.clock()));
  const most = Math.max(1, Math.floor(STRETCHES_MAX / Math.max(1, sampled.length)));
  const read = async (asked: readonly Asked[]): Promise<readonly Stretch[]> =>
    (await mapWithLimit(asked, REQUESTS_AT_ONCE, (one) => stretchOf(context, one))).filter(isFound);
  // How old a partition is counts where most of its minutes are read.
  const hours = most < HOURS ? [] : sampled.flatMap((of) => spread(of, HOURS, DAY_MS, 0));
  const oldest = Map.groupBy(await read(hours), ({ of }) => of);
  const times = sampled.flatMap((of, at) => {
    const sinceMs = oldest.get(of)?.[0]?.sinceMs ?? of.endMs;
    const spanMs = most < HOURS ? DAY_MS : Math.min(DAY_MS, of.endMs - sinceMs + HOUR_MS);
    return spread(of, most, spanMs, (at + 0.5) / sampled.length);
  });
  const spreadOnes = Map.groupBy(await read(times), ({ of }) => of);
  // A younger partition has no sync at the one time that was read: its newest ones then count.
  const newest = sampled
    .filter((of) => !spreadOnes.has(of))
    .map((of) => ({ of, sinceMs: of.endMs - of.lengthMs }));
  const samples = [...spreadOnes.values(), ...(await read(newest)).map((stretch) => [stretch])];
  const sum = (value: (stretch: Stretch) => number): number =>
    samples.reduce((all, own) => all + own.reduce((of, one) => of + value(one), 0) / own.length, 0);
  const all = samples.flat();
  const since = all.length > 0 ? Math.min(...all.map(({ sinceMs }) => sinceMs)) : undefined;
  return {
    ...present({ since: timeText(since) }),
    syncs: all.reduce((count, stretch) => count + syncsIn(stretch), 0),
    autoscalers: sum(({ autoscalers }) => autoscalers),
    changed: sum((stretch) => stretch.changed / syncsIn(stretch)),
    pods: sum(({ pods }) => pods),
    bytes: sum(({ bytes }) => bytes),
    stretches: hours.length + times.length + newest.length,
  };
};

const sampledOf = (part: PartitionPart, nowMs: number): readonly Sampled[] => {
  const { head, cluster } = part;
  if (!head || head.nowMs === 0) return [];
  // The first sync of a minute writes all. The minute of now has not ended.
  const lengthMs = Math.ceil(cluster.syncPeriodMs / JOURNAL_EVERY_MS) * JOURNAL_EVERY_MS;
  const endMs = Math.floor(nowMs / lengthMs) * lengthMs;
  return journalPages(head.pages.length).map((page) => ({ part, page, lengthMs, endMs }));
};

interface Asked {
  readonly of: Sampled;
  readonly sinceMs: number;
}

/** At most so many times of the span before the end; `phase` (0 to 1) is where in each part of it. */
const spread = (of: Sampled, most: number, spanMs: number, phase: number): readonly Asked[] => {
  const { lengthMs, endMs } = of;
  const everyMs = lengthMs * Math.max(1, Math.ceil(spanMs / most / lengthMs));
  const shiftMs = lengthMs * Math.floor((phase * everyMs) / lengthMs);
  return Array.from({ length: Math.floor(spanMs / everyMs) }, (_, at) => ({
    of,
    sinceMs: endMs - (at + 1) * everyMs + shiftMs,
  })).toReversed();
};

interface Stretch extends Asked {
  readonly autoscalers: number;
  readonly pods: number;
  readonly bytes: number;
  /** In all its syncs together. */
  readonly changed: number;
}

const syncsIn = ({ of: { lengthMs, part } }: Stretch): number =>
  Math.round(lengthMs / part.cluster.syncPeriodMs);

/** The first sync that the journal has of a stretch is whole, where it has any. */
const isFound = ({ autoscalers }: Stretch): boolean => autoscalers > 0;

const FIELDS = new Set(["from", "to"] as const);

const stretchOf = async ({ tables }: QueryContext, { of, sinceMs }: Asked): Promise<Stretch> => {
  const { part, page, lengthMs } = of;
  const stretch = { of, sinceMs, autoscalers: 0, pods: 0, bytes: 0, changed: 0 };
  let isWhole = false;
  for await (const { partial, evaluations, changed, bytes } of journalOfPage(tables, part.ref, {
    page,
    sinceMs,
    untilMs: sinceMs + lengthMs - 1,
    fields: FIELDS,
  })) {
    stretch.changed += changed ?? (partial ? evaluations.length : 0);
    // One whole page stands for the stretch; after an unclean release there are more.
    if (partial || isWhole) continue;
    isWhole = true;
    stretch.autoscalers += evaluations.length;
    stretch.bytes += bytes ?? 0;
    for (const { from, to } of evaluations) stretch.pods += to ?? from ?? 0;
  }
  return stretch;
};
