import type { ClusterRecord, FleetRecord, AutoscalerRecord } from "../../../rules/model/records.ts";
import type { MetricFamily, MetricSample } from "../../../stack/report/open-metrics.ts";
import { readFleet, autoscalersOf } from "../../../stack/store/records/clusters.ts";
import { mapWithLimit } from "../../../stack/store/table/wait-for-all.ts";
import { type QueryContext, sees, touches } from "../context.ts";
import { fleetNamed, optionalNamespace } from "../find-autoscaler.ts";
import { headsForNames, knownPartitions, type KnownPartition } from "../known-partitions.ts";
import type { SeriesQuery } from "../service.ts";
import { headsOf, visibleParts } from "../views/cluster-of.ts";
import { type Shares, sharesOf, togetherOf } from "../../../stack/plan/decided-share.ts";
import {
  decidedSeries,
  type LabelledSample,
  seriesOf,
  type SeriesSource,
} from "./autoscaler-series.ts";
import type { GaugeWrite } from "../../../rules/model/decision.ts";
import type { AutoscalerUid, Namespace, PartitionRef } from "../../../rules/model/ids.ts";
import type { IndexRow, SummaryRow } from "../../../rules/model/summary.ts";
import type { Head } from "../../../stack/store/head/head.ts";
import { summaryKeyOf } from "../../../stack/store/summary/summary-codec.ts";
import { STALE_PERIODS } from "../../../stack/plan/message.ts";
import { newestGauges } from "./newest-gauges.ts";
import { JOURNAL_EVERY_MS } from "../../../stack/sync/keep/store-pages.ts";
import { snapshotReader } from "../autoscalers.ts";
import type { AutoscalerSnapshot } from "../partitions/partition-data.ts";
import { rowOf } from "../views/known-row.ts";
import type { AutoscalerRow } from "../../views/row.ts";
import { rowOfSnapshot } from "../views/autoscaler-view.ts";
import { pauseView } from "../views/holds-view.ts";

/** Partitions without a summary that are read at once: each has its manifests in memory. */
const WHOLE_AT_ONCE = 16;

/**
 * Reads the series of every autoscaler from the summaries of the partitions, whose counters are
 * totals: no scrape reads scale events. Only the values of watermark rules are read from the newest
 * journal, once for each change. A cluster or autoscaler that cannot be read is left out, and the
 * others remain.
 */
export const series = async (
  context: QueryContext,
  { labels = [], ...filter }: SeriesQuery = {},
): Promise<readonly MetricFamily[]> => {
  // One instant for the whole answer, earlier than all reads.
  const nowMs = context.clock();
  const still: QueryContext = { ...context, clock: () => nowMs };
  const { fleet: fleetRecord, clusters } =
    filter.cluster === undefined
      ? await readableFleet(context)
      : await fleetNamed(context, filter.cluster, { needsEdits: false });
  const fleet = await fleetRecord();
  const { parts, owed } = await partsOf(still, clusters, { fleet, inside: filter.namespace });
  const others = parts.filter(({ known }) => !known);
  const [known, read] = await Promise.all([
    measuredInSummaries(still, parts),
    mapWithLimit(others, WHOLE_AT_ONCE, (part) => measuredOneByOne(still, part)),
  ]);
  const oneByOne = new Map(others.map((part, at) => [part, read[at] ?? []]));
  const measured = parts.flatMap((part, at) => oneByOne.get(part) ?? known[at] ?? []);
  return familiesOf([
    ...owed.flatMap(({ cluster, shares }) => decidedSeries(cluster.name, shares)),
    ...measured.flatMap((one) => seriesOf(one, labels)),
  ]);
};

const readableFleet = async (
  context: QueryContext,
): Promise<{ readonly fleet: () => FleetRecord; readonly clusters: readonly ClusterRecord[] }> => {
  const { fleet, clusters } = await (context.ahead?.fleet ?? readFleet(context.tables));
  return {
    fleet,
    clusters: clusters.flatMap((item) =>
      item.kind === "read" && touches(context, item.record.name) ? [item.record] : [],
    ),
  };
};

/** What a cluster was owed and got, also where no sync of it comes. */
interface Owed {
  readonly cluster: ClusterRecord;
  readonly shares: Shares;
}

/**
 * The synced partitions, with what their summaries say, and what each cluster was owed. A counter
 * must not go back, so that the heads are read strongly.
 */
const partsOf = async (
  context: QueryContext,
  clusters: readonly ClusterRecord[],
  { fleet, inside }: { readonly fleet: FleetRecord; readonly inside: string | undefined },
): Promise<{ readonly parts: readonly MeasuredPart[]; readonly owed: readonly Owed[] }> => {
  const heads = await headsOf(context, clusters, true, headsForNames);
  const only = optionalNamespace(inside);
  const visible = clusters.flatMap((cluster) => visibleParts(context, cluster, heads, only));
  const owed = [...Map.groupBy(visible, ({ cluster }) => cluster)].map(([cluster, own]) => {
    const shares = own.map(({ ref, head }) =>
      sharesOf(cluster, ref.partition, head, context.clock()),
    );
    return { cluster, shares: togetherOf(shares) };
  });
  const parts = visible.flatMap(({ head, ...part }) =>
    head ? [{ ...part, fleet, inside: only, head }] : [],
  );
  const known = await knownPartitions(context.tables, parts);
  return { parts: parts.map((part, at) => ({ ...part, known: known[at] })), owed };
};

/** Groups samples by family, in order of name. */
const familiesOf = (samples: readonly LabelledSample[]): readonly MetricFamily[] => {
  const families = new Map<string, MetricFamily & { readonly samples: MetricSample[] }>();
  for (const { name, type, help, labels, value } of samples) {
    const family = families.get(name) ?? { name, type, help, samples: [] };
    family.samples.push({ labels, value });
    families.set(name, family);
  }
  return [...families.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
};

/** A synced partition whose series are wanted. */
interface MeasuredPart {
  readonly cluster: ClusterRecord;
  readonly fleet: FleetRecord;
  /** Where only one namespace is wanted. */
  readonly inside: Namespace | undefined;
  readonly ref: PartitionRef;
  readonly head: Head;
  /** What its summary says; `undefined` where its autoscalers must be read one by one. */
  readonly known: KnownPartition | undefined;
}

/** Autoscalers of one journal page share its request. */
const AUTOSCALERS_AT_ONCE = 16;

/** An autoscaler of a summary whose series are wanted. */
interface Chosen {
  readonly index: IndexRow;
  readonly uid: AutoscalerUid;
  readonly row: SummaryRow;
  readonly measuredMs: number;
}

/** The fresh autoscalers that a summary says something of. */
const chosenIn = (
  context: QueryContext,
  { cluster, inside }: MeasuredPart,
  known: KnownPartition,
): readonly Chosen[] => {
  const nowMs = context.clock();
  return known.index.rows
    .flatMap((index) => {
      const uid = index.uid as AutoscalerUid;
      const row = known.rows.get(summaryKeyOf(uid));
      const isWanted =
        row !== undefined &&
        (inside === undefined || index.namespace === inside) &&
        sees(context, cluster.name, index.namespace);
      return isWanted ? [{ index, uid, row, measuredMs: known.measuredMs(row.key) }] : [];
    })
    .filter(({ measuredMs }) => isFresh(cluster, { syncedMs: known.syncedMs, measuredMs, nowMs }));
};

/** What the summaries say, in the order of the partitions; nothing where one has no summary. */
const measuredInSummaries = async (
  context: QueryContext,
  parts: readonly MeasuredPart[],
): Promise<readonly (readonly SeriesSource[])[]> => {
  const chosen = parts.map((part) => (part.known ? chosenIn(context, part, part.known) : []));
  const gauges = await newestGauges(
    context,
    parts.map((part, at) => ({
      ...part,
      banded: (chosen[at] ?? []).flatMap(({ uid, row, index: { createdMs } }) =>
        row.hasBands ? [{ uid, createdMs }] : [],
      ),
    })),
  );
  const nowMs = context.clock();
  return parts.map(({ cluster, fleet, ref }, at) => {
    const isPaused = pauseView(cluster.paused, nowMs) !== undefined;
    return (chosen[at] ?? []).map(({ index, uid, row, measuredMs }) =>
      measuredOf(
        cluster.name,
        rowOf(index, row, { partition: ref.partition, isPaused, measuredMs, fleet, nowMs }),
        { row, gauges: gauges[at]?.get(uid) },
      ),
    );
  });
};

/** What the series of an autoscaler follow from, wherever its row is from. */
const measuredOf = (
  cluster: string,
  shown: AutoscalerRow,
  {
    row,
    gauges = [],
  }: { readonly row: SummaryRow; readonly gauges: readonly GaugeWrite[] | undefined },
): SeriesSource => {
  const { added = 0, removed = 0 } = row.totals ?? {};
  return {
    cluster,
    row: shown,
    isSwitchedOff: row.switchedOff === true,
    ...(row.hasBands && { bands: { gauges, added, removed } }),
  };
};

/** The same from the autoscalers themselves, their pages and their journal. */
const measuredOneByOne = async (
  context: QueryContext,
  { cluster, fleet, inside, ref }: MeasuredPart,
): Promise<readonly SeriesSource[]> => {
  const nowMs = context.clock();
  const isWanted = ({ namespace }: AutoscalerRecord): boolean =>
    sees(context, cluster.name, namespace) && (inside === undefined || namespace === inside);
  const items = await Array.fromAsync(autoscalersOf(context.tables, cluster, ref));
  const records = items.flatMap((item) =>
    item.kind === "read" && isWanted(item.record) ? [item.record] : [],
  );
  const read = snapshotReader(context, cluster, fleet, { windows: "where needed" });
  const snapshots = await mapWithLimit(records, AUTOSCALERS_AT_ONCE, (record) => read(record));
  return snapshots.flatMap((known) => {
    const { evaluated, syncedMs } = known;
    return evaluated &&
      syncedMs !== undefined &&
      isFresh(cluster, { syncedMs, measuredMs: evaluated.atMs, nowMs })
      ? [measuredIn(known, ref)]
      : [];
  });
};

const measuredIn = (known: AutoscalerSnapshot, { partition }: PartitionRef): SeriesSource => {
  const { shown, row } = rowOfSnapshot(known, partition);
  const gauges = known.evaluated?.evaluation.gauges;
  return measuredOf(known.cluster.name, shown, { row, gauges });
};

/**
 * Prometheus treats an absent series as ended, and a present one as true now. So stale values are
 * left out. What has not changed is measured only once a minute.
 */
const isFresh = (
  { syncPeriodMs }: ClusterRecord,
  {
    syncedMs,
    measuredMs,
    nowMs,
  }: { readonly syncedMs: number; readonly measuredMs: number; readonly nowMs: number },
): boolean => {
  const staleMs = STALE_PERIODS * syncPeriodMs;
  return nowMs - syncedMs <= staleMs && nowMs - measuredMs <= JOURNAL_EVERY_MS + staleMs;
};
