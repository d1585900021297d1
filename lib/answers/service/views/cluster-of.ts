import {
  type AutoscalerUid,
  type Namespace,
  type PartitionRef,
  partitionPath,
} from "../../../rules/model/ids.ts";
import {
  kindsReadFrom,
  type ClusterRecord,
  type FleetRecord,
} from "../../../rules/model/records.ts";
import type { PartitionTrouble, TokenLife } from "../../../rules/model/summary.ts";
import { troubleOf } from "../../../stack/report/partition-trouble.ts";
import { type Head, readHeads } from "../../../stack/store/head/head.ts";
import { journalOfPage } from "../../../stack/store/history/journal.ts";
import { journalPages } from "../../../stack/store/pages/plan.ts";
import { partitionOf, type Reached } from "../../../stack/store/records/clusters.ts";
import { statedIn } from "../../../stack/store/summary/summary-items.ts";
import { mapWithLimit } from "../../../stack/store/table/wait-for-all.ts";
import { JOURNAL_EVERY_MS } from "../../../stack/sync/keep/store-pages.ts";
import type { ClusterState, ClusterView, StateView } from "../../views/cluster.ts";
import { type QueryContext, sees } from "../context.ts";
import { clusterShares, decidedView } from "./decided-view.ts";
import { pauseView } from "./holds-view.ts";
import { rfc3339, secondsBetween, timeText } from "../times.ts";
import { nonEmpty, present } from "../../../rules/model/json.ts";
import type { Evaluation } from "../../../rules/model/scale-records.ts";

const PARTITIONS_AT_ONCE = 4;

/** A cluster with the state of its partitions. */
export const clusterView = async (
  context: QueryContext,
  cluster: ClusterRecord,
  { fleet, heads, reached }: ClusterBesides,
): Promise<ClusterView> => {
  const { name, state, since, error, ...rest } = (
    await clusterReading(context, cluster, { fleet, heads })
  ).view;
  return present({
    name,
    state,
    since,
    error,
    connection: sees(context, name) ? reached?.connection : undefined,
    kubeSystemUid: reached?.kubeSystemUid,
    server: reached?.server && {
      version: reached.server.version,
      at: rfc3339(reached.server.atMs),
    },
    ...rest,
  });
};

/** What is stored beside the record of a cluster. */
interface ClusterBesides {
  readonly fleet: FleetRecord;
  readonly heads: Heads;
  readonly reached: Reached | undefined;
}

/** A cluster as it is shown, and what was read of its partitions. */
export interface ClusterReading {
  readonly view: ClusterView;
  readonly partitions: readonly {
    readonly view: ClusterView["partitions"][number];
    readonly state: PartitionState;
    readonly head?: Head;
  }[];
}

/** Heads by partition, read together for many clusters. */
export type Heads = ReadonlyMap<string, Head | undefined>;

/** The heads of all partitions of some clusters, a hundred to a request; or as `read` does it. */
export const headsOf = async (
  { tables }: QueryContext,
  clusters: readonly ClusterRecord[],
  consistent = true,
  read = readHeads,
): Promise<Heads> => {
  const refs = refsOf(clusters);
  const heads = await read(tables, refs, consistent);
  return new Map(refs.map((ref, at) => [partitionPath(ref), heads[at]]));
};

/** A partition with its head, where a sync has made one. */
export interface PartitionPart {
  readonly cluster: ClusterRecord;
  readonly ref: PartitionRef;
  readonly head: Head | undefined;
}

/** The partitions of a cluster that can hold what is asked for and that the caller may see. */
export const visibleParts = (
  context: QueryContext,
  cluster: ClusterRecord,
  heads: Heads,
  inside: Namespace | undefined,
): readonly PartitionPart[] => {
  const only = inside === undefined ? undefined : partitionOf(cluster, inside);
  return cluster.partitions.flatMap(({ name, namespaces }) => {
    if (inside !== undefined && name !== only) return [];
    if (namespaces && !namespaces.some((each) => sees(context, cluster.name, each))) return [];
    const ref = { cluster: cluster.name, partition: name };
    return [{ cluster, ref, head: heads.get(partitionPath(ref)) }];
  });
};

const refsOf = (clusters: readonly ClusterRecord[]): readonly PartitionRef[] =>
  clusters.flatMap(({ name: cluster, partitions }) =>
    partitions.map(({ name: partition }) => ({ cluster, partition })),
  );

/** The heads that an environment read for the first page of a list, and when. */
interface ReadHeads {
  readonly heads: Heads;
  readonly atMs: number;
}
const listed = new WeakMap<QueryContext["tables"]["client"], ReadHeads>();
/** A later page comes within seconds. */
const LISTED_MS = 30_000;

interface ListedHeads {
  readonly consistent: boolean;
  readonly firstMs?: number | undefined;
  readonly read: typeof readHeads;
}

/**
 * The same for a list that goes on over several pages, each of which needs the heads of the
 * clusters that are left: what this environment has read since the first page, `firstMs`, counts.
 * Absent for the first page.
 */
export const headsOfList = async (
  context: QueryContext,
  clusters: readonly ClusterRecord[],
  { consistent, firstMs = Number.POSITIVE_INFINITY, read }: ListedHeads,
): Promise<Heads> => {
  const { client } = context.tables;
  const nowMs = context.clock();
  const known = listed.get(client);
  if (
    known &&
    known.atMs >= firstMs &&
    nowMs - known.atMs < LISTED_MS &&
    refsOf(clusters).every((ref) => known.heads.has(partitionPath(ref)))
  )
    return known.heads;
  const heads = await headsOf(context, clusters, consistent, read);
  listed.set(client, { heads, atMs: nowMs });
  return heads;
};

/**
 * Shows a cluster by the heads of its partitions. Where the newest sync of one wrote no summary, at
 * most two of its journal pages are read.
 */
export const clusterReading = async (
  context: QueryContext,
  cluster: ClusterRecord,
  { fleet, heads }: { readonly fleet: FleetRecord; readonly heads: Heads },
): Promise<ClusterReading> => {
  const nowMs = context.clock();
  const paused = pauseView(cluster.paused, nowMs);
  const { settings } = cluster;
  const kinds = kindsReadFrom(cluster);
  // A caller with a right on some namespaces sees these, and nothing that names others: how it is
  // connected, what failed, and for which hosts.
  const isWhole = sees(context, cluster.name);
  const visible = isWhole ? cluster.partitions : visiblePartitions(context, cluster);
  const partitions = await mapWithLimit(visible, PARTITIONS_AT_ONCE, (partition) =>
    partitionView(context, cluster, partition, { nowMs, heads }),
  );
  const decided = decidedView(clusterShares(cluster, partitions, nowMs));
  const view: ClusterView = {
    name: cluster.name,
    ...withoutError(isWhole, clusterState(cluster, fleet, nowMs, partitions)),
    ...(isWhole && present({ tokenEnds: timeText(tokenOfCluster({ partitions })?.endMs) })),
    ...(decided && { decided }),
    syncPeriodSeconds: cluster.syncPeriodMs / 1000,
    partitions: partitions.map(({ view: state }) => withoutError(isWhole, state)),
    ...(paused && { paused }),
    ...(cluster.removing && {
      removing: { by: cluster.removing.by, at: rfc3339(cluster.removing.atMs) },
    }),
    ...(kinds.length > 0 && { specsFromCluster: kinds.map(({ kind }) => kind) }),
    ...(isWhole &&
      cluster.recommenderHosts &&
      cluster.recommenderHosts.length > 0 && { recommenderHosts: cluster.recommenderHosts }),
    ...(isWhole && present({ labels: nonEmpty(cluster.labels ?? {}) })),
    settings: {
      tolerance: settings.tolerance,
      downscaleStabilizationSeconds: settings.downscaleStabilizationMs / 1000,
      cpuInitializationPeriodSeconds: settings.cpuInitializationPeriodMs / 1000,
      initialReadinessDelaySeconds: settings.initialReadinessDelayMs / 1000,
      ...(settings.hpaVersion && { hpaVersion: settings.hpaVersion }),
    },
    // Overrides of other namespaces raise it.
    ...(isWhole && { version: cluster.version }),
  };
  return { view, partitions };
};

/** Of several syncs the newest token counts: an environment that is warm may have an older one. */
export const tokenOfCluster = ({
  partitions,
}: Pick<ClusterReading, "partitions">): TokenLife | undefined =>
  partitions
    .flatMap(({ head }) => (head && statedIn(head)?.token) ?? [])
    .toSorted((one, other) => other.endMs - one.endMs)[0];

const withoutError = <View extends StateView>(isWhole: boolean, view: View): View => {
  if (isWhole) return view;
  const { error: _tellsOthers, ...rest } = view;
  return rest as View;
};

/** The partitions that hold a namespace of the caller, with only the names of these namespaces. */
const visiblePartitions = (
  context: QueryContext,
  { name, partitions }: ClusterRecord,
): ClusterRecord["partitions"] =>
  partitions.flatMap((partition) => {
    if (!partition.namespaces) return [partition];
    const namespaces = partition.namespaces.filter((inside) => sees(context, name, inside));
    return namespaces.length > 0 ? [{ ...partition, namespaces }] : [];
  });

type Partition = ClusterReading["partitions"][number];

const partitionView = async (
  context: QueryContext,
  cluster: ClusterRecord,
  { name, namespaces }: ClusterRecord["partitions"][number],
  { nowMs, heads }: { readonly nowMs: number; readonly heads: Heads },
): Promise<Partition> => {
  const ref: PartitionRef = { cluster: cluster.name, partition: name };
  const head = heads.get(partitionPath(ref));
  const state = await partitionState(context, ref, { head, periodMs: cluster.syncPeriodMs, nowMs });
  const synced = head !== undefined && head.evaluatedMs > 0;
  return {
    ...(head && { head }),
    state,
    view: {
      name,
      namespaces: namespaces ?? ("all others" as const),
      ...stateView(state),
      ...(synced && {
        syncedAt: rfc3339(head.evaluatedMs),
        ageSeconds: secondsBetween(head.evaluatedMs, nowMs),
      }),
    },
  };
};

const stateView = ({ state, sinceMs, error }: Omit<PartitionState, "silent">): StateView =>
  present({ state, since: timeText(sinceMs), error });

/** Failures come before a freeze or a pause, which must not hide an outage of the cluster. */
const clusterState = (
  cluster: ClusterRecord,
  { frozen }: FleetRecord,
  nowMs: number,
  partitions: readonly Partition[],
): StateView => {
  const state = togetherOf(partitions);
  if (state.state !== "ok") return state;
  if (frozen) return { state: "frozen", since: rfc3339(frozen.atMs) };
  return pauseView(cluster.paused, nowMs) && cluster.paused
    ? { state: "paused", since: rfc3339(cluster.paused.atMs) }
    : state;
};

/**
 * A partition that did not call the cluster does not count. A late partition makes the cluster
 * late, as it does its age.
 */
const togetherOf = (partitions: readonly Partition[]): StateView => {
  const bad = partitions.filter(({ state }) => state.state !== "ok");
  const [first] = bad;
  if (!first) return { state: "ok" };
  const [only, ...others] = new Set(bad.map(({ state }) => state.state));
  const unanimous =
    others.length === 0 &&
    (only === "late" || only === "never synced" || partitions.every(agreesWith(bad)));
  const sinceMs = bad.flatMap(({ state }) => state.sinceMs ?? []);
  const withError = bad.find(({ state }) => state.error !== undefined);
  const error = withError?.state.error;
  return {
    state: unanimous && only !== undefined ? only : "partly failing",
    ...(sinceMs.length > 0 && { since: rfc3339(Math.min(...sinceMs)) }),
    ...(withError &&
      error !== undefined && {
        error: partitions.length > 1 ? `partition "${withError.view.name}": ${error}` : error,
      }),
  };
};

const agreesWith =
  (bad: readonly Partition[]) =>
  (partition: Partition): boolean =>
    partition.state.silent || bad.includes(partition);

/** Periods without a completed sync after which a partition is late. */
const LATE_PERIODS = 3;
/**
 * Journal pages that are read per partition, about 200 autoscalers. Each is a query, and an outage
 * shows in all of them.
 */
const PAGES_READ = 2;

interface PartitionState extends Omit<PartitionTrouble, "state"> {
  readonly state: Exclude<ClusterState, "frozen" | "paused">;
}

/**
 * The state of a partition, as its head says it; from its newest journal pages, where the newest
 * sync wrote no summary. When no sync has ended in time the state is "late".
 */
const partitionState = async (
  context: QueryContext,
  ref: PartitionRef,
  {
    head,
    periodMs,
    nowMs,
  }: { readonly head: Head | undefined; readonly periodMs: number; readonly nowMs: number },
): Promise<PartitionState> => {
  if (!head || head.evaluatedMs === 0) return { state: "never synced", silent: false, holds: [] };
  if (nowMs - head.evaluatedMs > LATE_PERIODS * periodMs)
    return { state: "late", silent: false, holds: [], sinceMs: head.evaluatedMs };
  const stated = statedIn(head);
  if (stated) return stated.trouble;
  const pages = journalPages(head.pages.length).slice(0, PAGES_READ);
  const newestPages = await mapWithLimit(pages, PAGES_READ, (page) =>
    newestOfPage(context, ref, page, head.nowMs),
  );
  return troubleOf(newestPages.flat());
};

/**
 * The newest evaluation of every autoscaler of a page. The first sync of each minute writes the
 * whole page, so nothing older is read.
 */
const newestOfPage = async (
  context: QueryContext,
  ref: PartitionRef,
  page: number,
  untilMs: number,
): Promise<readonly Evaluation[]> => {
  const newest = new Map<AutoscalerUid, Evaluation>();
  const sinceMs = untilMs - (untilMs % JOURNAL_EVERY_MS);
  for await (const { evaluations, partial } of journalOfPage(context.tables, ref, {
    page,
    sinceMs,
    untilMs,
    newestFirst: true,
  })) {
    for (const evaluation of evaluations)
      if (!newest.has(evaluation.uid)) newest.set(evaluation.uid, evaluation);
    if (!partial) break;
  }
  return [...newest.values()];
};
