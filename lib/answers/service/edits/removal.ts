import { TidemarkError } from "../../../rules/model/errors.ts";
import { clusterName, type PartitionRef } from "../../../rules/model/ids.ts";
import {
  kindsReadFrom,
  type AutoscalerRecord,
  type ClusterRecord,
} from "../../../rules/model/records.ts";
import { listAutoscalers } from "../../../stack/store/records/autoscalers.ts";
import { deleteCluster, getCluster, putCluster } from "../../../stack/store/records/clusters.ts";
import { store } from "../../../stack/store/records/store-change.ts";
import type { ServiceContext } from "../context.ts";
import { findCluster } from "../find-autoscaler.ts";
import {
  emptyPages,
  everSynced,
  whileNoSyncs,
  type LeasedPartition,
  type Leases,
  notBeforeMs,
} from "../partitions/leases.ts";
import { recordChange } from "../partitions/record-change.ts";
import { readHead } from "../../../stack/store/head/head.ts";
import { withdrawIntents } from "../../../stack/store/head/store-intents.ts";
import { insertEvents } from "../../../stack/store/history/events.ts";
import { scaleEvent } from "../../../stack/sync/scale/scale-event.ts";
import type { Intent } from "../../../rules/model/scale-records.ts";
import { conflict, unknown } from "../refusals.ts";

/*
 *  remove             mark (7 → 8) ── list: none ── settle open intents ── delete windows ── delete under 8
 *  apply   put "web" ── look ✓ ─ ─ ─ ─ list: "web"
 *         the mark came after: the removal is refused, and the mark taken off
 *  apply                      put "web" ── look: marked ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ look: gone ✗
 *         takes "web" back, and is refused
 *
 * Two items cannot be written at once. So each command first writes the item that the other reads,
 * and then reads: in any order, one of them sees the other. An apply that sees the mark waits for
 * the end of the removal, because only a completed removal makes sure that no other apply relies on
 * the same autoscaler.
 */

const unmarked = ({ removing: _over, ...record }: ClusterRecord): ClusterRecord => record;

/**
 * Removes a cluster without autoscalers, and its windows. Its history stays, with the outcome of
 * every scale. An interrupted removal can be repeated; any other edit of the cluster ends it.
 * Throws `service.unknown`, `service.in-use`, `service.conflict`, `service.busy`,
 * `service.unreadable`.
 */
export const removeCluster = async (context: ServiceContext, name: string): Promise<void> => {
  const before = await findCluster(context, name);
  await mustBeEmpty(context, before);
  const version = before.version + 1;
  await recordChange(context, {
    scope: "cluster",
    name,
    version,
    verb: "remove",
    before: unmarked(before),
  });
  const marked = { ...before, version, removing: { by: context.by, atMs: context.clock() } };
  if ((await putCluster(context.tables, marked, before.version)).kind === "conflict")
    return mustBeGone(context, name);
  try {
    const partitions = await everSynced(context, before);
    await waitForSyncs(context, partitions);
    const deleted = await whileNoSyncs(
      context,
      `remove cluster "${name}"`,
      partitions,
      async (leases) => {
        // Before anything is taken out of the heads: windows of an autoscaler that is there must
        // count its scales.
        await mustBeEmpty(context, before);
        await settleForRemoval(context, leases);
        for (const leased of leases.values()) await emptyPages(context, leased);
        return deleteCluster(context.tables, before, version);
      },
    );
    if (deleted.kind === "conflict") await mustBeGone(context, name);
  } catch (error) {
    // A conflict means that another command edited the cluster, which took the mark off.
    await putCluster(context.tables, { ...unmarked(before), version: version + 1 }, version);
    throw error;
  }
};

const mustBeGone = async (context: ServiceContext, name: string): Promise<void> => {
  if ((await getCluster(context.tables, clusterName(name))) !== undefined)
    throw conflict(
      `Cannot remove cluster "${name}": another command edited it in the meantime; check it and try again`,
      { name },
    );
};

const mustBeEmpty = async (context: ServiceContext, cluster: ClusterRecord): Promise<void> => {
  const { name } = cluster;
  // What is read from the cluster would come back as long as the cluster is read.
  const toDo =
    kindsReadFrom(cluster).length > 0
      ? `run tidemark cluster add ${name} --replace --specs table, and delete them`
      : "delete them first";
  for await (const item of listAutoscalers(context.tables, name)) {
    const { namespace, name: first } = item.kind === "read" ? item.record : item;
    const words = `it still has autoscalers, such as "${namespace}/${first}"; ${toDo}`;
    throw new TidemarkError("service.in-use", `Cannot remove cluster "${name}": ${words}`, {
      name,
    });
  }
};

/**
 * Throws `service.conflict` for a cluster that is being removed, so that nothing new begins in it.
 */
export const mustStay = ({ name, removing }: ClusterRecord, action = "apply"): void => {
  if (!removing) return;
  const words = `cluster "${name}" is being removed by ${removing.by}; run tidemark cluster remove again to finish, or cluster resume to keep it`;
  throw conflict(`Cannot ${action}: ${words}`, { name });
};

/** A removal takes a few calls. If the mark stays longer, the removal has failed. */
const EDITOR_LOOKS_MAX = 25;
const EDITOR_LOOK_MS = 200;

/** A record that an apply stored. */
export type AppliedRecord = Omit<AutoscalerRecord, "updatedMs" | "updatedBy">;

/**
 * Checks the cluster after autoscalers were stored or found unchanged. If it was removed in the
 * meantime, the records that this apply wrote are deleted: a cluster is only removed without
 * autoscalers, so none of them was there before. If the removal does not end, they stay, and the
 * next removal finds them. Throws `service.conflict`, `service.unknown`.
 */
export const mustHaveStayed = async (
  context: ServiceContext,
  cluster: ClusterRecord,
  written: readonly AppliedRecord[],
): Promise<void> => {
  let now = await getCluster(context.tables, cluster.name);
  for (let look = 1; now?.removing && look < EDITOR_LOOKS_MAX; look++) {
    await context.tables.wait(EDITOR_LOOK_MS);
    now = await getCluster(context.tables, cluster.name);
  }
  if (now) {
    mustStay(now);
    return mustBeSame(cluster, now);
  }
  for (const record of written) await takeBack(context, record);
  throw isRemoved(cluster);
};

const isRemoved = ({ name }: ClusterRecord): TidemarkError =>
  unknown(`Cannot apply: cluster "${name}" was removed in the meantime`, { name });

/*
 *  apply   reads cluster a ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ reads "web" (of b) ── look: b ✗
 *  others                    removed, added again: b ── put "web"
 *
 * Checks the cluster before a record of another cluster of its name is written anew. The record was
 * read before this look, so that it is of an earlier cluster where this one is still there, and of
 * a later one where it is not: that one stays. Throws `service.conflict`, `service.unknown`.
 */
export const mustBeCurrent = async (
  context: ServiceContext,
  cluster: ClusterRecord,
): Promise<void> => {
  const now = await getCluster(context.tables, cluster.name);
  if (!now) throw isRemoved(cluster);
  mustBeSame(cluster, now);
};

/**
 * What was stored names the removed cluster, and holds in the new one (lib/rules/model/records.ts).
 */
const mustBeSame = ({ name, uid }: ClusterRecord, now: ClusterRecord): void => {
  if (now.uid === uid) return;
  const words = `cluster "${name}" was removed and added again in the meantime; check that it is the one that you mean, and apply again`;
  throw conflict(`Cannot apply: ${words}`, { name });
};

/*
 *  apply      put "web" (5) ── look: gone ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ delete "web" under 5 ✗
 *  others                                  cluster added again ── apply: put "web" (6)
 *
 * The delete may come late. It is under the generation that this apply wrote, so it never meets
 * what others wrote since. Another apply of the same manifest to the new cluster writes the record,
 * too, because the record names the removed cluster (plan.ts).
 */
const takeBack = async (context: ServiceContext, record: AppliedRecord): Promise<void> => {
  await store(context, { verb: "delete", ref: record, uid: record.uid, before: record });
};

/*
 *  mark ── open intents: wait for their deadlines, and 20 s more ── lease every partition ── list: none ── what is still open: event "unknown", out of the head ── (the rest) ── give back
 *          │ their PUTs can take effect until then   │ the next sync settles them       │ from here on no sync stores another intent
 *
 * No sync looks at a removed cluster again. So the outcome of every scale must be in the history
 * before the cluster goes.
 */

const SYNC_LOOK_MS = 2_000;
/** All waits together are longer than an intent may stay open (39 s) and the time after it. */
const SYNC_LOOKS_MAX = 32;
/**
 * Time after the deadline in which a sync of the default period settles an intent with its true
 * outcome.
 */
const NEXT_SYNC_MS = 20_000;

/** Waits for the syncs that settle the open intents, as long as they may need for it. */
const waitForSyncs = async (
  context: ServiceContext,
  partitions: readonly PartitionRef[],
): Promise<void> => {
  for (let look = 0; look < SYNC_LOOKS_MAX; look++) {
    const heads = await Promise.all(partitions.map((ref) => readHead(context.tables, ref)));
    if (
      !heads.some((head) =>
        head?.intents.some((intent) => mayTakeEffect(context, intent, NEXT_SYNC_MS)),
      )
    )
      return;
    await context.tables.wait(SYNC_LOOK_MS);
  }
};

const mayTakeEffect = (context: ServiceContext, { deadlineMs }: Intent, moreMs = 0): boolean =>
  context.clock() <= deadlineMs + moreMs;

/**
 * Settles every intent that no sync settled by its deadline as *unknown*, and takes what is settled
 * out of the heads. The cluster must have no autoscalers, so that no windows need count these
 * scales. Throws `service.busy` for an intent whose PUT can take effect, `service.unreadable` for
 * one that cannot be read, `store.lease-lost`.
 */
const settleForRemoval = async (context: ServiceContext, leases: Leases): Promise<void> => {
  for (const leased of leases.values()) await settleOpen(context, leased);
};

const settleOpen = async (context: ServiceContext, leased: LeasedPartition): Promise<void> => {
  const { head, lease } = leased;
  const path = `${lease.partition.cluster}/${lease.partition.partition}`;
  const refusal = (code: string, why: string): TidemarkError =>
    new TidemarkError(code, `Cannot remove cluster "${lease.partition.cluster}": ${why}`, {
      partition: path,
    });
  const [lost] = head.unreadable;
  if (lost) {
    const command = `tidemark partition reset-intent ${path} ${lost.id}`;
    throw refusal(
      "service.unreadable",
      `the intent "${lost.id}" in partition "${path}" cannot be read; run \`${command}\` first`,
    );
  }
  if (head.intents.some((intent) => mayTakeEffect(context, intent))) {
    throw refusal(
      "service.busy",
      `a scale in partition "${path}" is still open; try again in a minute`,
    );
  }
  if (head.intents.length > 0) {
    const nowMs = notBeforeMs(context, leased);
    const outcome = {
      kind: "unknown",
      message: "the cluster was removed before a sync could look at the workload",
    } as const;
    const events = head.intents.map((intent) =>
      scaleEvent(lease.partition, intent, outcome, nowMs),
    );
    await insertEvents(context.insert, events);
  }
  // An uncounted scale has its event.
  const settled = [...head.intents, ...head.uncounted].map(({ id }) => id);
  leased.lease = await withdrawIntents(context.tables, lease, settled);
};
