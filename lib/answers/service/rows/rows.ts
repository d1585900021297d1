import { hash } from "node:crypto";
import { type Namespace, namespace, partitionPath } from "../../../rules/model/ids.ts";
import { incarnationOf, type ClusterRecord } from "../../../rules/model/records.ts";
import { readHeads } from "../../../stack/store/head/head.ts";
import { type AutoscalerItem, listAutoscalers } from "../../../stack/store/records/autoscalers.ts";
import { hasRest, partitionOf } from "../../../stack/store/records/clusters.ts";
import { statedIn } from "../../../stack/store/summary/summary-items.ts";
import { mapWithLimit } from "../../../stack/store/table/wait-for-all.ts";
import type { AutoscalerRow, ClusterRows, PartitionRows } from "../../views/row.ts";
import { type QueryContext, sees } from "../context.ts";
import { fleetNamed } from "../find-autoscaler.ts";
import { type LabelTest, readSelector } from "../label-selector.ts";
import { headsOfList, type PartitionPart, visibleParts } from "../views/cluster-of.ts";
import { pauseView } from "../views/holds-view.ts";
import { rfc3339, secondsBetween } from "../times.ts";
import { present } from "../../../rules/model/json.ts";
import { headsForNames, type KnownPartition, knownPartitions } from "../known-partitions.ts";
import { INDEX_FIELDS } from "../views/known-row.ts";
import type { RowQuery } from "../requests.ts";
import { allRows, rowNamespace, type Reading, readRows } from "./read-rows.ts";

/**
 * Rows that are read together first; each further group is twice as large, so that a fleet of any
 * size takes few groups, and a caller of a page does not wait for all of it.
 */
const FIRST_GROUP = 8_000;
/** What a partition counts as that says nothing. */
const ROWS_EXPECTED = 100;
const PARTITIONS_AT_ONCE = 16;

/**
 * The autoscalers as tables show them, cluster by cluster in order of name. It reads the heads of
 * the partitions, a hundred to a request, and the summaries and indexes that this environment has
 * not read yet. Only a partition whose newest sync wrote none, or that was edited since, is read
 * from its autoscalers and its journal. A partition whose rows the caller has is not read beyond
 * its head.
 */
export async function* rows(
  context: QueryContext,
  query: RowQuery,
  after = "",
  firstMs?: number,
): AsyncGenerator<ClusterRows> {
  const nowMs = context.clock();
  const inside = query.namespace === undefined ? undefined : namespace(query.namespace);
  // A caller that has rows already looks again and again, and passes over a head that is older than
  // its own (`PartitionRows.version`). It needs no names where nothing has changed.
  const isFirst = query.known === undefined;
  const {
    fleet: fleetRecord,
    clusters,
    isEdited,
  } = await fleetNamed(context, query.cluster, { after, needsEdits: isFirst });
  const [fleet, heads] = await Promise.all([
    fleetRecord(),
    headsOfList(context, clusters, {
      consistent: isFirst && isEdited,
      firstMs,
      read: isFirst ? headsForNames : readHeads,
    }),
  ]);
  const isWanted = wantedBy(context, query);
  const reading: Reading = {
    context: { ...context, clock: () => nowMs },
    fleet,
    nowMs,
    isWanted,
    needsSummary: summaryNeed(query, isWanted),
    had: marksIn(query.known),
  };
  const parts = clusters.map((cluster) => ({
    cluster,
    inside,
    parts: visibleParts(context, cluster, heads, inside),
  }));
  // Where few rows are wanted, or names only, one group is soon read.
  for (
    let at = 0,
      room = query.most ?? (reading.needsSummary ? Number.POSITIVE_INFINITY : FIRST_GROUP);
    at < parts.length;
    room *= 2
  ) {
    const group = nextGroup(parts.slice(at), room);
    at += group.length;
    yield* await groupRows(reading, group);
  }
}

/** Characters of a mark: 48 bits of a hash. */
const MARK_CHARACTERS = 8;

const marksIn = (known = ""): ReadonlySet<string> =>
  new Set(
    Array.from({ length: Math.floor(known.length / MARK_CHARACTERS) }, (_, at) =>
      known.slice(at * MARK_CHARACTERS, (at + 1) * MARK_CHARACTERS),
    ),
  );

const wantedBy = (
  context: QueryContext,
  { namespace: inside, name, kinds, selector }: RowQuery,
): Reading["isWanted"] => {
  const hasLabels: LabelTest = selector === undefined ? () => true : readSelector(selector);
  return (cluster, row) =>
    (inside === undefined || row.namespace === inside) &&
    (name === undefined || row.name === name) &&
    (kinds === undefined || kinds.includes(row.kind)) &&
    sees(context, cluster, row.namespace) &&
    hasLabels(row.labels ?? {});
};

const summaryNeed = (
  { name, kinds, selector, fields }: RowQuery,
  isWanted: Reading["isWanted"],
): Reading["needsSummary"] => {
  if (fields?.every((field) => INDEX_FIELDS.has(field))) return () => false;
  if (name === undefined && kinds === undefined && selector === undefined) return undefined;
  return ({ cluster }, { rows: all }) => all.some((row) => isWanted(cluster.name, row));
};

interface ClusterParts {
  readonly cluster: ClusterRecord;
  /** Where only one namespace is wanted. */
  readonly inside: Namespace | undefined;
  readonly parts: readonly PartitionPart[];
}

const nextGroup = (left: readonly ClusterParts[], room: number): readonly ClusterParts[] => {
  let rowsAhead = 0;
  const end = left.findIndex(({ parts }) => {
    rowsAhead += parts.reduce(
      (sum, { head }) => sum + ((head && statedIn(head)?.autoscalers) ?? ROWS_EXPECTED),
      0,
    );
    return rowsAhead >= room;
  });
  return end === -1 ? left : left.slice(0, end + 1);
};

interface Shown {
  readonly cluster: string;
  readonly partition?: PartitionRows;
  readonly rows: readonly AutoscalerRow[];
}

const groupRows = async (
  reading: Reading,
  group: readonly ClusterParts[],
): Promise<readonly ClusterRows[]> => {
  const all = group.flatMap(({ parts }) => parts);
  const wanted = all.flatMap((part) =>
    part.head && !isHad(reading, part, 0) ? [{ ...part, head: part.head }] : [],
  );
  const known = await knownPartitions(reading.context.tables, wanted, reading);
  const byPart = new Map<string, KnownPartition | undefined>(
    wanted.map(({ ref }, at) => [partitionPath(ref), known[at]]),
  );
  const [shown, others] = await Promise.all([
    mapWithLimit(all, PARTITIONS_AT_ONCE, (part) =>
      partRows(reading, part, byPart.get(partitionPath(part.ref))),
    ),
    mapWithLimit(group.filter(mayHaveOthers), PARTITIONS_AT_ONCE, (one) => otherRows(reading, one)),
  ]);
  const byCluster = Map.groupBy<string, Shown>([...shown, ...others], ({ cluster }) => cluster);
  return group.map(({ cluster: { name } }) => {
    const own = byCluster.get(name) ?? [];
    return {
      cluster: name,
      partitions: own.flatMap(({ partition }) => partition ?? []),
      rows: own.length === 1 ? (own[0]?.rows ?? []) : inOrder(own),
    };
  });
};

/**
 * True where autoscalers can be in namespaces that no partition has. No sync and no index knows
 * them.
 */
const mayHaveOthers = ({ cluster, inside }: ClusterParts): boolean =>
  inside === undefined ? !hasRest(cluster) : partitionOf(cluster, inside) === undefined;

const otherRows = async (reading: Reading, { cluster, inside }: ClusterParts): Promise<Shown> => {
  const items = listAutoscalers(reading.context.tables, cluster.name, inside);
  const isOther = (item: AutoscalerItem): boolean =>
    partitionOf(cluster, rowNamespace(item)) === undefined;
  return { cluster: cluster.name, rows: await readRows(reading, cluster, items, isOther) };
};

const inOrder = (parts: readonly Shown[]): readonly AutoscalerRow[] =>
  parts
    .flatMap(({ rows: own }) => own)
    .sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1));

/** As the table sorts them: "#" is below all characters of a name. */
const placeOf = ({ namespace: inside, name }: AutoscalerRow): string => `${inside}#${name}`;

/**
 * True where the caller has the rows, as far as the head shows: with pauses, their ends count too.
 * A head is of all namespaces, so that it says nothing to a caller who sees only some of them.
 */
const isHad = (reading: Reading, part: PartitionPart, pausesNow: number): boolean => {
  if (!sees(reading.context, part.cluster.name)) return false;
  const stated = part.head && statedIn(part.head);
  if (!stated || (stated.paused > 0 && pausesNow === 0)) return false;
  const mark = markOf(reading, part, pausesNow);
  return mark !== undefined && reading.had.has(mark);
};

/**
 * Stands for all that the rows of a partition show but their ages. `undefined` where the head does
 * not say it. A pause ends at its time without a write, so that the pauses in force count. Epochs
 * come again in tables that were restored: so times and counts are in it too.
 */
const markOf = (
  { fleet, nowMs }: Reading,
  { cluster, ref, head }: PartitionPart,
  pausesNow: number,
): string | undefined => {
  const stated = head && statedIn(head);
  if (!stated || stated.specVersion !== head.specVersion) return undefined;
  const { changedEpoch, baseEpoch, baseMs, index, specVersion } = stated;
  const cannot = [fleet.frozen?.atMs, fleet.restores, pauseView(cluster.paused, nowMs)?.at];
  const all = [
    cluster.name,
    ref.partition,
    incarnationOf(cluster),
    cannot,
    specVersion,
    changedEpoch,
    baseEpoch,
    baseMs,
    index,
    stated.rows.map(({ key, state, current, desired }) => [key, state, current, desired]),
    pausesNow,
  ];
  return hash("sha256", JSON.stringify(all), "base64url").slice(0, MARK_CHARACTERS);
};

const partRows = async (
  reading: Reading,
  part: PartitionPart,
  known: KnownPartition | undefined,
): Promise<Shown> => {
  const { cluster } = part;
  if (!sees(reading.context, cluster.name)) return visibleRows(reading, part, known);
  const pausesNow = known
    ? known.index.rows.filter(({ paused }) => pauseView(paused, reading.nowMs)).length
    : 0;
  const isUnchanged = isHad(reading, part, pausesNow);
  const partition = partitionRows(reading, part, { known, isUnchanged, pausesNow });
  if (isUnchanged) return { cluster: cluster.name, partition, rows: [] };
  return { cluster: cluster.name, partition, rows: await allRows(reading, part, known) };
};

/**
 * The rows for a caller who sees some namespaces of the cluster. Mark and version are of what the
 * caller may see: numbers of the head would say when other tenants edit or scale. The rights are in
 * the mark, so that a new grant is never answered with rows that the caller has.
 */
const visibleRows = async (
  reading: Reading,
  part: PartitionPart,
  known: KnownPartition | undefined,
): Promise<Shown> => {
  const { context, nowMs } = reading;
  const all = await allRows(reading, part, known);
  const shown = [context.rights?.grants, all.map(({ measuredAt: _at, ...row }) => row)];
  const mark = hash("sha256", JSON.stringify(shown), "base64url").slice(0, MARK_CHARACTERS);
  const isUnchanged = reading.had.has(mark);
  const syncedMs = known?.syncedMs ?? part.head?.evaluatedMs ?? 0;
  return {
    cluster: part.cluster.name,
    partition: {
      name: part.ref.partition,
      // It rises with each sync, whoever has edited something meanwhile.
      version: part.head?.epoch ?? 0,
      mark,
      ...(isUnchanged && { unchanged: true }),
      ...syncedView(syncedMs, nowMs),
    },
    rows: isUnchanged ? [] : all,
  };
};

const syncedView = (syncedMs: number, nowMs: number): Partial<PartitionRows> =>
  syncedMs > 0 ? { syncedAt: rfc3339(syncedMs), ageSeconds: secondsBetween(syncedMs, nowMs) } : {};

interface Found {
  readonly known: KnownPartition | undefined;
  readonly isUnchanged: boolean;
  readonly pausesNow: number;
}

const partitionRows = (
  reading: Reading,
  part: PartitionPart,
  { known, isUnchanged, pausesNow }: Found,
): PartitionRows => {
  const { evaluatedMs: releasedMs = 0, writeNumber = 0, specVersion = 0 } = part.head ?? {};
  const syncedMs = known?.syncedMs ?? releasedMs;
  // Rows of a later sync than the head have no mark: the mark is of the head.
  const isAsOfHead = isUnchanged || known?.syncedMs === releasedMs;
  return {
    name: part.ref.partition,
    version: writeNumber + specVersion,
    ...present({
      mark: isAsOfHead ? markOf(reading, part, pausesNow) : undefined,
      unchanged: isUnchanged || undefined,
    }),
    ...syncedView(syncedMs, reading.nowMs),
  };
};
