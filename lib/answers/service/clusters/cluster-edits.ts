import { PERIOD_MS } from "../../../rules/model/cluster-limits.ts";
import type { ConnectionReport } from "../../../stack/cluster/check/report.ts";
import { TidemarkError } from "../../../rules/model/errors.ts";
import { clusterName, namespace, partitionName, WHOLE_CLUSTER } from "../../../rules/model/ids.ts";
import type { ClusterRecord, ConnectionRecord } from "../../../rules/model/records.ts";
import { DEFAULT_SETTINGS } from "../../../rules/model/spec-common.ts";
import { SPEC_KIND_NAMES } from "../../../rules/model/spec.ts";
import {
  connectionFor,
  reachedBy,
  connectionRecord,
  getCluster,
  getConnection,
  getFleet,
  lastVersion,
  listConnections,
  type Reached,
  putCluster,
  putConnection,
} from "../../../stack/store/records/clusters.ts";
import type { RecordWrite } from "../../../stack/store/records/write.ts";
import { mapWithLimit } from "../../../stack/store/table/wait-for-all.ts";
import type { ClusterStored, ClusterView } from "../../views/cluster.ts";
import type { QueryContext, ServiceContext } from "../context.ts";
import { findCluster, fleetNamed } from "../find-autoscaler.ts";
import { emptyPages, everSynced, whileNoSyncs } from "../partitions/leases.ts";
import { recordChange } from "../partitions/record-change.ts";
import type { ClusterChange, NewCluster } from "../service.ts";
import { clusterView, headsOf } from "../views/cluster-of.ts";
import { checkPauseEnd } from "../views/holds-view.ts";
import { rememberTables } from "./fleet.ts";
import { type ClusterEdit, editCluster, wasStored, withConnection } from "./edit-cluster.ts";
import { clusterFaults, type ClusterFault } from "./cluster-faults.ts";
import { refuseOtherIdentity, lookBefore, reachedNow } from "./connection-check.ts";
import { conflict, invalid, untilStored } from "../refusals.ts";

const CLUSTERS_AT_ONCE = 16;

/** `reached`: the connection that a dry run would store. */
const view = async (
  context: QueryContext,
  cluster: ClusterRecord,
  reached?: Reached,
): Promise<ClusterView> => {
  const { tables } = context;
  const [fleet, stored, heads] = await Promise.all([
    getFleet(tables),
    getConnection(tables, cluster.name),
    headsOf(context, [cluster]),
  ]);
  return clusterView(context, cluster, {
    fleet,
    heads,
    reached: reached ?? reachedBy(cluster, stored),
  });
};

/** Lists clusters in order of name, a few at a time. */
export async function* clusters(context: QueryContext, after = ""): AsyncGenerator<ClusterView> {
  const { tables } = context;
  const {
    fleet: fleetRecord,
    clusters: rest,
    isEdited,
  } = await fleetNamed(context, undefined, { after });
  const [fleet, listed, heads] = await Promise.all([
    fleetRecord(),
    Array.fromAsync(listConnections(tables)),
    headsOf(context, rest, isEdited),
  ]);
  const connections = new Map(listed.map((stored) => [stored.cluster, stored]));
  const viewOf = (cluster: ClusterRecord) =>
    clusterView(context, cluster, {
      fleet,
      heads,
      reached: reachedBy(cluster, connections.get(cluster.name)),
    });
  for (let at = 0; at < rest.length; at += CLUSTERS_AT_ONCE) {
    yield* await mapWithLimit(rest.slice(at, at + CLUSTERS_AT_ONCE), CLUSTERS_AT_ONCE, viewOf);
  }
}

export const cluster = async (context: QueryContext, name: string): Promise<ClusterView> =>
  view(context, await findCluster(context, name));

/**
 * Adds a cluster, after a look at it. Throws `service.invalid` with every fault, `service.exists`,
 * `service.busy`, `service.unusable` with the report.
 */
export const addCluster = async (
  context: ServiceContext,
  wanted: NewCluster,
): Promise<ClusterStored> => {
  refuseFaults("add", wanted.name, clusterFaults(wanted));
  const name = clusterName(wanted.name);
  // Reject an existing name first: checking the cluster can take 30 s.
  if (await getCluster(context.tables, name)) throw taken(wanted.name);
  const report = await lookBefore(context, "add", wanted);
  await refuseOtherIdentity(context, "add", wanted.name, report);
  // Versions of a removed cluster with this name go on, so that a late edit of it never matches.
  const version = (await lastVersion(context.tables, name)) + 1;
  const record: ClusterRecord = {
    name,
    uid: context.newUid(),
    syncPeriodMs: wanted.syncPeriodMs ?? PERIOD_MS,
    plannedFromMs: context.clock(),
    partitions: partitionsOf(wanted) ?? [{ name: WHOLE_CLUSTER }],
    settings: { ...DEFAULT_SETTINGS, ...wanted.settings },
    ...specsOf(wanted.specsFromCluster),
    ...(wanted.recommenderHosts && { recommenderHosts: wanted.recommenderHosts }),
    ...(wanted.labels && { labels: wanted.labels }),
    connectionVersion: version,
    version,
  };
  const reached = reachedNow(context, wanted.connection, report);
  if (wanted.dryRun) return withChecks(await view(context, record, reached), report);
  // Checked before the history is written, because a taken name is no edit.
  if (await getCluster(context.tables, record.name)) throw taken(wanted.name);
  await rememberTables(context.tables);
  await recordChange(context, {
    scope: "cluster",
    name,
    version: record.version,
    verb: "add",
    after: withConnection(record, wanted.connection),
  });
  let written = record;
  const earlier = await getConnection(context.tables, name);
  const own = connectionRecord(record, reached);
  const stored = await startingClean(context, record, async () => {
    await putConnection(context.tables, own, earlier);
    // Read at the write, as for an edit: emptying what an earlier cluster has left may take a
    // minute.
    written = { ...record, plannedFromMs: context.clock() };
    return putCluster(context.tables, written, undefined);
  });
  if (stored.kind === "conflict" && !(await wasStored(context, written))) {
    if (earlier) await putConnection(context.tables, earlier, own);
    throw taken(wanted.name);
  }
  await keepConnection(context, written, own);
  await context.planNow?.(record);
  return withChecks(await view(context, record), report);
};

/*
 *  A  connection a ── record a ✓ ── look: connection b, so connection a
 *  B             connection b ── record b ✗ ── connection a again, where B had found it
 *
 * A connection counts only for the uid that it was stored for: until the one of A is back, the
 * syncs of A hold and say that there is none.
 */
const keepConnection = (
  { tables }: ServiceContext,
  record: ClusterRecord,
  own: ConnectionRecord,
): Promise<true> => {
  const { name } = record;
  return untilStored(
    () =>
      conflict(
        `Cannot store the connection of cluster "${name}": others are editing it; replace it with the connection`,
        { name },
      ),
    async () => {
      const stored = await getConnection(tables, name);
      // Where another editor has replaced the connection of this cluster already, the later edit
      // counts.
      return (
        connectionFor(record, stored) !== undefined ||
        (await putConnection(tables, own, stored)).kind === "stored" ||
        undefined
      );
    },
  );
};

/**
 * Writes a new cluster by `put`, once none of its partitions has windows. A removal deletes the
 * windows that it knows of: not the windows of a partition that was divided away and could not be
 * emptied, nor the windows of a sync that outlived the leases of the removal.
 */
const startingClean = async (
  context: ServiceContext,
  record: ClusterRecord,
  put: () => Promise<RecordWrite>,
): Promise<RecordWrite> => {
  const partitions = await everSynced(context, record);
  if (partitions.length === 0) return put();
  return whileNoSyncs(context, `add cluster "${record.name}"`, partitions, async (leases) => {
    for (const leased of leases.values()) await emptyPages(context, leased);
    return put();
  });
};

const withChecks = (stored: ClusterView, report: ConnectionReport | undefined): ClusterStored =>
  report === undefined ? stored : { ...stored, checks: report.checks };

const partitionsOf = ({ partitions }: ClusterChange): ClusterRecord["partitions"] | undefined =>
  partitions?.map(({ name, namespaces }) => ({
    name: partitionName(name),
    ...(namespaces && { namespaces: namespaces.map(namespace) }),
  }));

/**
 * The kinds in their own order, each once. An empty list is stored too: it takes the place of the
 * one before.
 */
const specsOf = (
  kinds: ClusterChange["specsFromCluster"],
): Pick<ClusterRecord, "specsFromCluster"> =>
  kinds === undefined
    ? {}
    : { specsFromCluster: SPEC_KIND_NAMES.filter((kind) => kinds.includes(kind)) };

const taken = (name: string): TidemarkError =>
  new TidemarkError(
    "service.exists",
    `Cannot add cluster "${name}": a cluster of that name exists; change it with --replace`,
    { name },
  );

/**
 * Changes a cluster. Absent fields stay as they are, and windows move with their namespaces. Throws
 * `service.invalid`, `service.unknown`, `service.unusable`, `service.busy`, `service.unmovable`.
 */
export const replaceCluster = async (
  context: ServiceContext,
  wanted: ClusterChange,
): Promise<ClusterStored> => {
  refuseFaults("replace", wanted.name, clusterFaults(wanted));
  const report =
    wanted.connection &&
    (await lookBefore(context, "replace", {
      ...(await lookedAt(context, wanted.name)),
      ...wanted,
    }));
  await refuseOtherIdentity(context, "replace", wanted.name, report);
  const change = (record: ClusterRecord): ClusterRecord => ({
    ...record,
    partitions: partitionsOf(wanted) ?? record.partitions,
    syncPeriodMs: wanted.syncPeriodMs ?? record.syncPeriodMs,
    settings: { ...record.settings, ...wanted.settings },
    ...specsOf(wanted.specsFromCluster),
    ...(wanted.recommenderHosts && { recommenderHosts: wanted.recommenderHosts }),
    ...(wanted.labels && { labels: wanted.labels }),
  });
  if (wanted.dryRun) {
    const record = change(await findCluster(context, wanted.name));
    const reached = wanted.connection && reachedNow(context, wanted.connection, report);
    return withChecks(await view(context, record, reached), report);
  }
  const stored = await edit(context, wanted.name, {
    verb: "replace",
    change,
    ...(wanted.connection && { reached: reachedNow(context, wanted.connection, report) }),
  });
  return withChecks(stored, report);
};

/** What a look at a cluster goes by, beside its connection. */
const lookedAt = async (
  context: ServiceContext,
  name: string,
): Promise<Pick<ClusterChange, "partitions" | "specsFromCluster">> => {
  const { partitions, specsFromCluster } = await findCluster(context, name);
  return { partitions, ...(specsFromCluster && { specsFromCluster }) };
};

const refuseFaults = (
  verb: "add" | "replace",
  name: string,
  found: readonly ClusterFault[],
): void => {
  const faults = found.map(({ words }) => words);
  if (faults.length > 0)
    throw invalid(`Cannot ${verb} cluster "${name}": ${faults.join("; ")}`, { faults });
};

const edit = async (
  context: ServiceContext,
  name: string,
  wanted: ClusterEdit,
): Promise<ClusterView> => view(context, (await editCluster(context, name, wanted)).record);

/** Throws `service.invalid` for an end that has passed. */
export const pauseCluster = (
  context: ServiceContext,
  name: string,
  untilMs?: number,
): Promise<ClusterView> =>
  edit(context, name, {
    verb: "pause",
    change: (record) => {
      const atMs = context.clock();
      checkPauseEnd(`cluster "${name}"`, untilMs, atMs);
      return {
        ...record,
        paused: { by: context.by, atMs, ...(untilMs !== undefined && { untilMs }) },
      };
    },
  });

export const resumeCluster = (context: ServiceContext, name: string): Promise<ClusterView> =>
  edit(context, name, { verb: "resume", change: ({ paused: _over, ...record }) => record });
