import {
  type PartitionRef,
  type AutoscalerRef,
  autoscalerName,
  type Namespace,
  namespace,
  partitionPath,
} from "../../rules/model/ids.ts";
import { incarnationOf, type ClusterRecord } from "../../rules/model/records.ts";
import type { IndexRow, PartitionIndex, SummaryRow } from "../../rules/model/summary.ts";
import { type Head, readHeads, readHeadsAndIndexes } from "../../stack/store/head/head.ts";
import {
  type HeadSummary,
  statedIn,
  decodeIndex,
  type DerivedItem,
  derivedItemOf,
} from "../../stack/store/summary/summary-items.ts";
import { decodeSummary } from "../../stack/store/summary/summary-codec.ts";
import { batchGet } from "../../stack/store/table/read-many.ts";
import { indexKey, type Key, summaryKey } from "../../stack/store/table/keys.ts";
import type { Tables } from "../../stack/store/table/tables.ts";
import { listAutoscalers } from "../../stack/store/records/autoscalers.ts";
import { hasRest, partitionOf } from "../../stack/store/records/clusters.ts";
import { CLUSTERS_AT_ONCE, mapWithLimit } from "../../stack/store/table/wait-for-all.ts";
import { type QueryContext, sees } from "./context.ts";

/** A partition whose summary and index are wanted. */
export interface WantedPartition {
  readonly cluster: ClusterRecord;
  readonly ref: PartitionRef;
  readonly head: Head;
}

/** What summary, index and head of a partition say together. */
export interface KnownPartition {
  readonly index: PartitionIndex;
  /** Rows by key, as of `syncedMs`. */
  readonly rows: ReadonlyMap<string, SummaryRow>;
  readonly syncedMs: number;
  /** When the metrics of a row were measured. */
  readonly measuredMs: (key: string) => number;
}

interface Read {
  readonly epoch: number;
  /** When it was read, by the clock of the environment. */
  readonly readMs: number;
}
type Index = PartitionIndex & Read & { readonly hash: string };
interface Summary extends Read {
  readonly atMs: number;
  readonly rows: ReadonlyMap<string, SummaryRow>;
}

/**
 * What an environment has read. An item of the same epoch is the same item, so that only items with
 * a later epoch are read again; but tables may have been restored under the environment, to an
 * instant before the item (`isInDoubt`).
 */
interface Remembered {
  index?: Index;
  summary?: Summary;
}
const remembered = new WeakMap<Tables["client"], Map<string, Remembered>>();
/** Rows of both kinds that an environment keeps, some 100 MB. With more it begins anew. */
const ROWS_MAX = 250_000;

const memoryOf = ({ client }: Tables): Map<string, Remembered> => {
  const memory = remembered.get(client) ?? new Map<string, Remembered>();
  remembered.set(client, memory);
  const rows = [...memory.values()].reduce(
    (sum, { index, summary }) => sum + (index?.rows.length ?? 0) + (summary?.rows.size ?? 0),
    0,
  );
  if (rows > ROWS_MAX) memory.clear();
  return memory;
};

/**
 * The heads of many partitions whose names are wanted too, in their order: with the index of each
 * partition whose index this environment does not know, in one query of both; and only the heads of
 * the others, a hundred to a request. The index in such an answer may be older than its head says,
 * and is read again then (`readMissing`).
 */
export const headsForNames = async (
  tables: Tables,
  refs: readonly PartitionRef[],
  consistent = true,
): Promise<readonly (Head | undefined)[]> => {
  const memory = memoryOf(tables);
  const [known = [], unknown = []] = [true, false].map((isKnown) =>
    refs.filter((ref) => (memory.get(partitionPath(ref))?.index !== undefined) === isKnown),
  );
  const [heads, found] = await Promise.all([
    readHeads(tables, known, consistent),
    readHeadsAndIndexes(tables, unknown, consistent),
  ]);
  for (const [at, ref] of unknown.entries())
    remember(
      memory,
      partitionPath(ref),
      "index",
      derivedItemOf(found[at]?.indexItem),
      tables.clock(),
    );
  const byPath = new Map([
    ...known.map((ref, at) => [partitionPath(ref), heads[at]] as const),
    ...unknown.map((ref, at) => [partitionPath(ref), found[at]?.head] as const),
  ]);
  return refs.map((ref) => byPath.get(partitionPath(ref)));
};

/**
 * What many partitions say to readers, in the order of `wanted`. `undefined` where a partition must
 * be read from its autoscalers, pages and journal: its newest sync wrote no summary, an edit came
 * after its index, or an item is damaged. Two requests for each hundred items at most: one that may
 * be some seconds behind, and one strong for the items that it had too old.
 *
 *  head      names index @5 and summary @8, which rose to @9 since the head was read
 *  answer
 *         rows as of 8 where both are @8; as of 9, with its time, where the summary is @9 already
 */
export const knownPartitions = async (
  tables: Tables,
  wanted: readonly WantedPartition[],
  { needsSummary }: KnownOptions = {},
): Promise<readonly (KnownPartition | undefined)[]> => {
  const memory = await readMissing(tables, wanted, needsSummary ? ["index"] : ["index", "summary"]);
  const needed = (one: WantedPartition): boolean => {
    const index = currentIndex(one, memory);
    return !needsSummary || !index || needsSummary(one, index);
  };
  if (needsSummary) await readMissing(tables, wanted.filter(needed), ["summary"]);
  return wanted.map((one) =>
    needed(one)
      ? together(one, memory.get(partitionPath(one.ref)))
      : withoutSummary(one, currentIndex(one, memory)),
  );
};

interface KnownOptions {
  /**
   * Where only some partitions have what is asked for, or only names are: indexes are read first,
   * and then the summaries of partitions that need one. Absent for all of them in one request.
   */
  readonly needsSummary?: ((one: WantedPartition, index: PartitionIndex) => boolean) | undefined;
}

const currentIndex = (
  { cluster, ref, head }: WantedPartition,
  memory: ReadonlyMap<string, Remembered>,
): PartitionIndex | undefined => {
  const index = memory.get(partitionPath(ref))?.index;
  const stated = statedIn(head);
  return index && stated && isCurrent(index, { cluster, head, stated }) ? index : undefined;
};

const NO_ROWS: KnownPartition["rows"] = new Map();

const withoutSummary = (
  { head: { nowMs } }: WantedPartition,
  index: PartitionIndex | undefined,
): KnownPartition | undefined =>
  index && { index, rows: NO_ROWS, syncedMs: nowMs, measuredMs: () => nowMs };

/**
 * The names of many partitions, in the same way. `undefined` where the autoscalers themselves must
 * be listed.
 */
export const knownIndexes = async (
  tables: Tables,
  wanted: readonly WantedPartition[],
): Promise<readonly (PartitionIndex | undefined)[]> => {
  const memory = await readMissing(tables, wanted, ["index"]);
  return wanted.map((one) => currentIndex(one, memory));
};

const readMissing = async (
  tables: Tables,
  wanted: readonly WantedPartition[],
  kinds: readonly (keyof Remembered)[],
): Promise<ReadonlyMap<string, Remembered>> => {
  const memory = memoryOf(tables);
  const nowMs = tables.clock();
  for (const one of wanted)
    for (const { path, kind } of doubtful(one, memory.get(partitionPath(one.ref)), nowMs))
      delete memory.get(path)?.[kind];
  for (const consistent of [false, true]) {
    const missing = wanted
      .flatMap((one) => missingOf(one, memory.get(partitionPath(one.ref))))
      .filter(({ kind }) => kinds.includes(kind));
    if (missing.length === 0) break;
    const keys = missing.map(({ key }) => key);
    const items = await batchGet(tables, "read summaries and indexes of partitions", keys, {
      consistent,
    });
    for (const [at, { path, kind }] of missing.entries())
      remember(memory, path, kind, derivedItemOf(items[at]), nowMs);
  }
  return memory;
};

interface Missing {
  readonly path: string;
  readonly kind: keyof Remembered;
  readonly key: Key;
}

/**
 * What is remembered and is not what the head names, because the tables have gone back: another
 * item of the same epoch, or a later one. Those are ordinary for a moment: a head may be read late.
 */
const doubtful = (
  { ref, head }: WantedPartition,
  { index, summary }: Remembered = {},
  nowMs: number,
): readonly Pick<Missing, "path" | "kind">[] => {
  const stated = statedIn(head);
  if (!stated) return [];
  const isInDoubt = ({ epoch, readMs }: Read, statedEpoch: number, isStated: boolean): boolean =>
    epoch === statedEpoch ? !isStated : epoch > statedEpoch && nowMs - readMs > LATE_HEAD_MS;
  const kinds: (keyof Remembered)[] = [];
  if (index && isInDoubt(index, stated.index.epoch, index.hash === stated.index.hash))
    kinds.push("index");
  if (summary && isInDoubt(summary, stated.baseEpoch, summary.atMs === stated.baseMs))
    kinds.push("summary");
  return kinds.map((kind) => ({ path: partitionPath(ref), kind }));
};

/** No head is read so long after it was replaced. */
const LATE_HEAD_MS = 60_000;

const missingOf = (
  { ref, head }: WantedPartition,
  known: Remembered | undefined,
): readonly Missing[] => {
  const stated = statedIn(head);
  if (!stated || stated.specVersion !== head.specVersion) return [];
  const path = partitionPath(ref);
  const isOlder = (kind: keyof Remembered, epoch: number): boolean =>
    epoch > 0 && (known?.[kind]?.epoch ?? 0) < epoch;
  return [
    ...(isOlder("index", stated.index.epoch)
      ? [{ path, kind: "index" as const, key: indexKey(ref) }]
      : []),
    ...(isOlder("summary", stated.baseEpoch)
      ? [{ path, kind: "summary" as const, key: summaryKey(ref) }]
      : []),
  ];
};

const remember = (
  memory: Map<string, Remembered>,
  path: string,
  kind: keyof Remembered,
  item: DerivedItem | undefined,
  readMs: number,
): void => {
  if (!item) return;
  const known = memory.get(path) ?? {};
  memory.set(path, known);
  // Another question may have read a later one meanwhile.
  if ((known[kind]?.epoch ?? 0) > item.epoch) return;
  if (kind === "index") {
    const index = decodeIndex(item.body);
    if (index) known.index = { ...index, epoch: item.epoch, readMs };
    return;
  }
  const summary = decodeSummary(item.body);
  if (summary)
    known.summary = {
      epoch: item.epoch,
      readMs,
      atMs: summary.atMs,
      rows: new Map(summary.rows.map((row) => [row.key, row])),
    };
};

const together = (
  { cluster, head }: WantedPartition,
  known: Remembered | undefined,
): KnownPartition | undefined => {
  const stated = statedIn(head);
  const { index, summary } = known ?? {};
  if (!stated || !index || !summary || !isCurrent(index, { cluster, head, stated }))
    return undefined;
  if (summary.epoch === stated.baseEpoch) {
    const since = new Map(stated.rows.map((row) => [row.key, row]));
    const rows = since.size === 0 ? summary.rows : new Map([...summary.rows, ...since]);
    return {
      index,
      rows,
      syncedMs: head.nowMs,
      measuredMs: (key) => (since.has(key) ? stated.atMs : summary.atMs),
    };
  }
  // The head was read before a later sync wrote its summary. That one has its own time.
  const isLater = summary.epoch > stated.baseEpoch && summary.atMs > stated.atMs;
  return isLater
    ? { index, rows: summary.rows, syncedMs: summary.atMs, measuredMs: () => summary.atMs }
    : undefined;
};

/**
 * Never names from before an edit: the edit raised the spec version of the head after its write.
 */
const isCurrent = (
  { epoch, specVersion, clusterIncarnation }: Index,
  {
    cluster,
    head,
    stated,
  }: Pick<WantedPartition, "cluster" | "head"> & { readonly stated: HeadSummary },
): boolean =>
  stated.index.epoch > 0 &&
  epoch >= stated.index.epoch &&
  specVersion >= head.specVersion &&
  clusterIncarnation === incarnationOf(cluster);

interface NamesWanted {
  /** Where only one namespace is wanted. */
  readonly inside?: Namespace | undefined;
  /** False where heads of a second ago will do (`wasEditedLately`). */
  readonly consistent: boolean;
  /** Only those with which overrides are stored. */
  readonly withOverrides?: true;
}

/**
 * The names of all autoscalers of some clusters, or of one namespace in each, that the caller may
 * look at. They are from the indexes of the partitions; a cluster whose indexes do not say all is
 * listed, 16 clusters at once.
 */
export const knownNames = async (
  context: QueryContext,
  clusters: readonly ClusterRecord[],
  { inside, consistent, withOverrides }: NamesWanted,
): Promise<readonly AutoscalerRef[]> => {
  const parts = clusters.flatMap((cluster) =>
    cluster.partitions.flatMap(({ name }) =>
      inside === undefined || partitionOf(cluster, inside) === name
        ? [{ cluster, ref: { cluster: cluster.name, partition: name } }]
        : [],
    ),
  );
  const refs = parts.map(({ ref }) => ref);
  const heads = await headsForNames(context.tables, refs, consistent);
  const wanted = parts.flatMap((one, at) => {
    const head = heads[at];
    return head ? [{ ...one, head }] : [];
  });
  const indexes = await knownIndexes(context.tables, wanted);
  const byPartition = new Map(wanted.map(({ ref }, at) => [partitionPath(ref), indexes[at]]));
  const names = await mapWithLimit(clusters, CLUSTERS_AT_ONCE, async (cluster) => {
    const known = partsOf(cluster, inside).map(
      (name) => name && byPartition.get(`${cluster.name}/${name}`),
    );
    const read = known.flatMap((index) => (index ? [index.rows] : []));
    const all =
      read.length === known.length ? read.flat() : await namesIn(context, cluster, inside);
    return withOverrides ? all.filter(({ hasOverrides }) => hasOverrides) : all;
  });
  return clusters.flatMap((cluster, at) =>
    (names[at] ?? []).flatMap((one) => {
      const ref = {
        cluster: cluster.name,
        namespace: namespace(one.namespace),
        name: autoscalerName(one.name),
      };
      return (inside === undefined || ref.namespace === inside) &&
        sees(context, ref.cluster, ref.namespace)
        ? [ref]
        : [];
    }),
  );
};

/**
 * The partitions that hold what is meant; `undefined` for namespaces that no partition has, which
 * no index knows.
 */
const partsOf = (
  cluster: ClusterRecord,
  inside: Namespace | undefined,
): readonly (string | undefined)[] => {
  if (inside !== undefined) return [partitionOf(cluster, inside)];
  return [...cluster.partitions.map(({ name }) => name), ...(hasRest(cluster) ? [] : [undefined])];
};

const namesIn = (
  { tables }: QueryContext,
  { name }: ClusterRecord,
  inside: Namespace | undefined,
): Promise<readonly Pick<IndexRow, "namespace" | "name" | "hasOverrides">[]> =>
  Array.fromAsync(listAutoscalers(tables, name, inside), (item) =>
    item.kind === "read"
      ? { ...item.record, ...(item.record.overrides && { hasOverrides: true }) }
      : item,
  );
