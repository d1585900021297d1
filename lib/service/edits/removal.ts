import { TidemarkError } from "../../model/errors.ts";
import { clusterName } from "../../model/ids.ts";
import { kindsReadFrom } from "../../model/origin.ts";
import type { AutoscalerRecord, ClusterRecord } from "../../model/records.ts";
import { listAutoscalers } from "../../store/records/autoscalers.ts";
import { deleteCluster, getCluster, putCluster } from "../../store/records/clusters.ts";
import { store } from "../../store/records/store-change.ts";
import type { ServiceContext } from "../context.ts";
import { findCluster } from "../find-autoscaler.ts";
import { emptyPages } from "../partitions/empty-pages.ts";
import { everSynced, whileNoSyncs } from "../partitions/no-syncs.ts";
import { recordChange } from "../partitions/record-change.ts";
import { settleForRemoval, waitForSyncs } from "../partitions/settle-for-removal.ts";

/*
 *  remove             mark (7 → 8) ── list: none ── settle open intents ── delete windows ── delete under 8
 *  apply   put "web" ── look ✓ ─ ─ ─ ─ list: "web"                      the mark came after: the removal is refused, and the mark taken off
 *  apply                      put "web" ── look: marked ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ look: gone ✗      takes "web" back, and is refused
 *
 * Two items cannot be written at once. So each command first writes the item that the other reads, and then reads: in any order, one of them sees the other. An apply that sees the mark
 * waits for the end of the removal, because only a completed removal makes sure that no other apply relies on the same autoscaler.
 */

const conflict = (name: string): TidemarkError =>
  new TidemarkError("service.conflict", `Cannot remove cluster "${name}": another command edited it in the meantime; check it and try again`, {
    name,
  });

const unmarked = ({ removing: _over, ...record }: ClusterRecord): ClusterRecord => record;

/**
 * Removes a cluster without autoscalers, and its windows. Its history stays, with the outcome of every scale. An interrupted removal can be repeated; any other edit of the cluster ends it.
 * Throws `service.unknown`, `service.in-use`, `service.conflict`, `service.busy`, `service.unreadable`.
 */
export const removeCluster = async (context: ServiceContext, name: string): Promise<void> => {
  const before = await findCluster(context, name);
  await mustBeEmpty(context, before);
  const version = before.version + 1;
  await recordChange(context, { scope: "cluster", name, version, verb: "remove", before: unmarked(before) });
  const marked = { ...before, version, removing: { by: context.by, atMs: context.clock() } };
  if ((await putCluster(context.tables, marked, before.version)).kind === "conflict") return mustBeGone(context, name);
  try {
    const partitions = await everSynced(context, before);
    await waitForSyncs(context, partitions);
    const deleted = await whileNoSyncs(context, `remove cluster "${name}"`, partitions, async (leases) => {
      // Before anything is taken out of the heads: windows of an autoscaler that is there must count its scales.
      await mustBeEmpty(context, before);
      await settleForRemoval(context, leases);
      for (const leased of leases.values()) await emptyPages(context, leased);
      return deleteCluster(context.tables, before, version);
    });
    if (deleted.kind === "conflict") await mustBeGone(context, name);
  } catch (error) {
    // A conflict means that another command edited the cluster, which took the mark off.
    await putCluster(context.tables, { ...unmarked(before), version: version + 1 }, version);
    throw error;
  }
};

const mustBeGone = async (context: ServiceContext, name: string): Promise<void> => {
  if ((await getCluster(context.tables, clusterName(name))) !== undefined) throw conflict(name);
};

const mustBeEmpty = async (context: ServiceContext, cluster: ClusterRecord): Promise<void> => {
  const { name } = cluster;
  // What is read from the cluster would come back as long as the cluster is read.
  const toDo = kindsReadFrom(cluster).length > 0 ? `run tidemark cluster add ${name} --replace --specs table, and delete them` : "delete them first";
  for await (const item of listAutoscalers(context.tables, name)) {
    const { namespace, name: first } = item.kind === "read" ? item.record : item;
    throw new TidemarkError("service.in-use", `Cannot remove cluster "${name}": it still has autoscalers, such as "${namespace}/${first}"; ${toDo}`, {
      name,
    });
  }
};

/** Throws `service.conflict` for a cluster that is being removed, so that nothing new begins in it. */
export const mustStay = ({ name, removing }: ClusterRecord, action = "apply"): void => {
  if (!removing) return;
  const words = `cluster "${name}" is being removed by ${removing.by}; run tidemark cluster remove again to finish, or cluster resume to keep it`;
  throw new TidemarkError("service.conflict", `Cannot ${action}: ${words}`, { name });
};

/** A removal takes a few calls. If the mark stays longer, the removal has failed. */
const LOOKS_MAX = 25;
const LOOK_EVERY_MS = 200;

/** A record that an apply stored. */
export type Written = Omit<AutoscalerRecord, "updatedMs" | "updatedBy">;

/**
 * Checks the cluster after autoscalers were stored or found unchanged. If it was removed in the meantime, the records that this apply wrote are deleted: a cluster is only removed without
 * autoscalers, so none of them was there before. If the removal does not end, they stay, and the next removal finds them. Throws `service.conflict`, `service.unknown`.
 */
export const mustHaveStayed = async (context: ServiceContext, cluster: ClusterRecord, written: readonly Written[]): Promise<void> => {
  let now = await getCluster(context.tables, cluster.name);
  for (let look = 1; now?.removing && look < LOOKS_MAX; look++) {
    await context.tables.wait(LOOK_EVERY_MS);
    now = await getCluster(context.tables, cluster.name);
  }
  if (now) {
    mustStay(now);
    return mustBeSame(cluster, now);
  }
  for (const record of written) await takeBack(context, record);
  throw new TidemarkError("service.unknown", `Cannot apply: cluster "${cluster.name}" was removed in the meantime`, { name: cluster.name });
};

/** What was stored names the removed cluster, and holds in the new one (lib/model/records.ts). */
const mustBeSame = ({ name, uid }: ClusterRecord, now: ClusterRecord): void => {
  if (now.uid === uid) return;
  const words = `cluster "${name}" was removed and added again in the meantime; check that it is the one that you mean, and apply again`;
  throw new TidemarkError("service.conflict", `Cannot apply: ${words}`, { name });
};

/*
 *  apply      put "web" (5) ── look: gone ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ delete "web" under 5 ✗
 *  others                                  cluster added again ── apply: put "web" (6)
 *
 * The delete may come late. It is under the generation that this apply wrote, so it never meets what others wrote since. Another apply of the same manifest to the new cluster writes the
 * record, too, because the record names the removed cluster (plan.ts).
 */
const takeBack = async (context: ServiceContext, record: Written): Promise<void> => {
  await store(context, { verb: "delete", ref: record, uid: record.uid, before: record });
};
