import { isTidemarkError, TidemarkError } from "../../../rules/model/errors.ts";
import type { AutoscalerUid, Namespace, PartitionName } from "../../../rules/model/ids.ts";
import type { ClusterRecord } from "../../../rules/model/records.ts";
import { adoptPages, markMoving } from "../../../stack/store/head/moving.ts";
import { decodePage } from "../../../stack/store/pages/codec.ts";
import { dividedPages } from "../../../stack/store/pages/plan.ts";
import { deletePage, readPage, writePage } from "../../../stack/store/pages/pages.ts";
import { listAutoscalers } from "../../../stack/store/records/autoscalers.ts";
import { getCluster, partitionOf, type Partitions } from "../../../stack/store/records/clusters.ts";
import type { RecordWrite } from "../../../stack/store/records/write.ts";
import { windowsNow } from "../../../stack/sync/load/stored-windows.ts";
import type { ServiceContext } from "../context.ts";
import { emptyPages, type LeasedPartition, type Leases, underLeases } from "./leases.ts";
import type { StoredWindows } from "../../../rules/model/scale-records.ts";
import { present } from "../../../rules/model/json.ts";

/** Autoscalers that move to another partition, by uid. */
type MovingAutoscalers = ReadonlyMap<
  AutoscalerUid,
  { readonly from: PartitionName; readonly to: PartitionName }
>;

/**
 * Writes a cluster with new partitions by `flip`, and moves the windows of every namespace that
 * changes its partition: lease both, mark both, copy into pages of a new generation, flip the
 * cluster, drop the old pages. A failure at any point loses nothing: before the flip the windows
 * still count in the old partition, and the edit can be repeated. Throws `service.busy`,
 * `service.unmovable`.
 */
export const withWindows = async (
  context: ServiceContext,
  before: ClusterRecord,
  after: ClusterRecord,
  flip: () => Promise<RecordWrite>,
): Promise<RecordWrite> => {
  const moves = handovers(before, after);
  if (moves.length === 0) return flip();
  const sources = new Set(moves.flatMap(({ from }) => from ?? []));
  const partitions = leasedPartitions(moves).map((partition) => ({
    cluster: before.name,
    partition,
  }));
  const request = {
    action: `move namespaces of cluster "${before.name}"`,
    partitions,
    settled: sources,
  };
  // Where a lease is lost the caller starts again, as after any conflict.
  const onLost = (): RecordWrite => ({ kind: "conflict" });
  return underLeases(context, request, onLost, async (leases) => {
    // Read again under the leases: another edit may have flipped the cluster since the first read,
    // and syncs have gone on with the moved windows. If another edit flips it after this read, a
    // sync claims the partition first, and then our writes to its head fail.
    if ((await getCluster(context.tables, before.name))?.version !== before.version)
      return { kind: "conflict" };
    await markAll(context, leases, before.version);
    await emptyAddedPartitions(context, leases, before);
    await copyWindows(context, leases, await movingAutoscalers(context, before, after));
    const flipped = await flip();
    if (flipped.kind === "stored") await emptyRemovedPartitions(context, leases, after);
    return flipped;
  });
};

/**
 * Deletes the pages of removed partitions, because no sync will do it. Their heads stay, so that
 * their epochs never come again.
 */
const emptyRemovedPartitions = async (
  context: ServiceContext,
  leases: Leases,
  { partitions }: ClusterRecord,
): Promise<void> => {
  for (const leased of outside(partitions, leases)) {
    try {
      await emptyPages(context, leased);
    } catch (error) {
      // Another sync or edit leased it after the flip. The pages stay, and nothing reads them
      // before the partition is added again.
      if (!isTidemarkError(error, "store.lease-lost")) throw error;
    }
  }
};

/**
 * Deletes what an earlier partition of the same name has left: none of its windows is of an
 * autoscaler that this partition decides, and a page that cannot be read would hold those.
 */
const emptyAddedPartitions = async (
  context: ServiceContext,
  leases: Leases,
  { partitions }: ClusterRecord,
): Promise<void> => {
  for (const leased of outside(partitions, leases)) await emptyPages(context, leased);
};

/** Leased partitions with pages that are not among these. */
const outside = (
  partitions: ClusterRecord["partitions"],
  leases: Leases,
): readonly LeasedPartition[] =>
  [...leases].flatMap(([name, leased]) =>
    leased.head.pages.length > 0 && !partitions.some((partition) => partition.name === name)
      ? [leased]
      : [],
  );

const markAll = async (
  context: ServiceContext,
  leases: Leases,
  clusterVersion: number,
): Promise<void> => {
  const epoch = Math.max(...[...leases.values()].map(({ lease }) => lease.epoch));
  for (const leased of leases.values())
    leased.lease = await markMoving(context.tables, leased.lease, { clusterVersion, epoch });
};

const unmovable = (namespace: string, why: string): TidemarkError =>
  new TidemarkError("service.unmovable", `Cannot move namespace "${namespace}": ${why}`, {
    namespace,
  });

const movingAutoscalers = async (
  context: ServiceContext,
  before: ClusterRecord,
  after: ClusterRecord,
): Promise<MovingAutoscalers> => {
  const all = new Map<AutoscalerUid, { from: PartitionName; to: PartitionName }>();
  for await (const item of listAutoscalers(context.tables, before.name)) {
    const { namespace, name } = item.kind === "read" ? item.record : item;
    const move: Handover | undefined = handoverOfNamespace(before, after, namespace as Namespace);
    if (move?.from === undefined) continue;
    const uid = item.kind === "read" ? item.record.uid : item.uid;
    // Its windows could be on any page, so nothing is moved rather than one entry lost.
    if (uid === undefined) throw unmovable(namespace, `its autoscaler "${name}" cannot be read`);
    if (move.to === undefined)
      throw unmovable(
        namespace,
        `it has autoscalers, "${name}" first, and no partition would hold it`,
      );
    all.set(uid, { from: move.from, to: move.to });
  }
  return all;
};

const copyWindows = async (
  context: ServiceContext,
  leases: Leases,
  moving: MovingAutoscalers,
): Promise<void> => {
  const arriving = await arrivals(context, leases, moving);
  for (const [to, entries] of arriving) {
    const leased = leases.get(to);
    if (!leased) throw new TypeError(`partition "${to}" was not leased`);
    const latestMs = Math.max(...[...leases.values()].map(({ head }) => head.nowMs));
    await adopt(context, leased, entries, latestMs);
  }
};

/**
 * The windows that move to each partition. An open run ends at the last evaluation of its old
 * partition, because the new head has no time for it.
 */
const arrivals = async (
  context: ServiceContext,
  leases: Leases,
  moving: MovingAutoscalers,
): Promise<ReadonlyMap<PartitionName, readonly StoredWindows[]>> => {
  const arriving = new Map<PartitionName, StoredWindows[]>();
  for (const [from, leased] of leases) {
    if (![...moving.values()].some((move) => move.from === from)) continue;
    for (const entry of await entriesOf(context, leased)) {
      const move = moving.get(entry.uid);
      if (move?.from !== from) continue;
      const ended = { ...entry, windows: windowsNow(entry, leased.head.evaluatedMs), open: false };
      arriving.set(move.to, [...(arriving.get(move.to) ?? []), ended]);
    }
  }
  return arriving;
};

const entriesOf = async (
  context: ServiceContext,
  { head, lease: { partition } }: LeasedPartition,
): Promise<readonly StoredWindows[]> => {
  const entries: StoredWindows[] = [];
  for (const index of head.pages.keys()) {
    const item = await readPage(context.tables, {
      partition,
      generation: head.pageGeneration,
      index,
    });
    const page = item && decodePage(item.body);
    if (page?.kind !== "read") {
      const { cluster, partition: name } = partition;
      const words = `Cannot move namespaces of partition "${name}": windows page ${index} cannot be read`;
      throw new TidemarkError("service.unmovable", words, { cluster, name });
    }
    entries.push(...page.entries.values());
  }
  return entries;
};

/**
 * Writes a partition's own and arriving windows into pages of a new generation, names them in the
 * head, and deletes the old ones.
 */
const adopt = async (
  context: ServiceContext,
  leased: LeasedPartition,
  arriving: readonly StoredWindows[],
  nowMs: number,
): Promise<void> => {
  const all = new Map(
    [...(await entriesOf(context, leased)), ...arriving].map((entry) => [entry.uid, entry]),
  );
  const bodies = dividedPages([...all.values()]);
  const { head, lease } = leased;
  const { partition } = lease;
  const generation = head.pageGeneration + 1;
  for (const [index, body] of bodies.entries())
    await writePage(context.tables, {
      id: { partition, generation, index },
      epoch: lease.epoch,
      body,
    });
  leased.lease = await adoptPages(context.tables, lease, {
    generation,
    pages: bodies.map(() => lease.epoch),
    nowMs,
  });
  for (const index of head.pages.keys())
    await deletePage(context.tables, { partition, generation: head.pageGeneration, index });
};

/** A move between partitions; a side is absent where no partition holds the namespaces. */
interface Handover {
  readonly from?: PartitionName;
  readonly to?: PartitionName;
}

/** The move of one namespace; `undefined` when it stays. */
const handoverOfNamespace = (
  before: Partitions,
  after: Partitions,
  namespace: Namespace,
): Handover | undefined => {
  const [from, to] = [partitionOf(before, namespace), partitionOf(after, namespace)];
  return from === to ? undefined : present({ from, to });
};

const restOf = ({ partitions }: Partitions): PartitionName | undefined =>
  partitions.find(({ namespaces }) => namespaces === undefined)?.name;

/**
 * All moves, also of namespaces without autoscalers, because an intent of a deleted autoscaler may
 * still be open.
 */
export const handovers = (before: Partitions, after: Partitions): readonly Handover[] => {
  const named = new Set(
    [...before.partitions, ...after.partitions].flatMap(({ namespaces }) => namespaces ?? []),
  );
  const passing = [...named].flatMap(
    (namespace) => handoverOfNamespace(before, after, namespace) ?? [],
  );
  const [from, to] = [restOf(before), restOf(after)];
  return from === to ? passing : [...passing, present({ from, to })];
};

/**
 * The partitions to lease, always in the same order, so that two edits cannot wait for each other.
 */
export const leasedPartitions = (passing: readonly Handover[]): readonly PartitionName[] =>
  [...new Set(passing.flatMap(({ from, to }) => [from ?? [], to ?? []].flat()))].sort();
