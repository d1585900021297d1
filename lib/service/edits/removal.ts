import { TidemarkError } from "../../model/errors.ts";
import { type AutoscalerRef, clusterName } from "../../model/ids.ts";
import type { AutoscalerRecord, ClusterRecord } from "../../model/records.ts";
import { getAutoscaler, listAutoscalers } from "../../store/records/autoscalers.ts";
import { deleteCluster, getCluster, putCluster } from "../../store/records/clusters.ts";
import type { ServiceContext } from "../context.ts";
import { findCluster } from "../find-autoscaler.ts";
import { recordChange } from "../partitions/scope-change.ts";
import { whenSettled } from "../partitions/settle-for-removal.ts";
import { store } from "./store-change.ts";

/*
 *  remove             mark (7 → 8) ── settle open intents ── list: none ── delete under 8
 *  apply   put "web" ── look ✓ ─ ─ ─ ─ list: "web"                      the mark came after: the removal is refused, and the mark taken off
 *  apply                      put "web" ── look: marked ─ ─ ─ look: gone ✗      takes "web" back, and is refused
 *
 * Two items cannot be written at once. So each of the two first writes what the other looks at, then looks: whatever their order, one of them sees the other. An apply that sees the mark
 * waits for the end of the removal, because only a removal that was done makes sure that no other apply has counted on the same autoscaler.
 */

const conflict = (name: string): TidemarkError =>
  new TidemarkError("service.conflict", `Cannot remove cluster "${name}": somebody edited it meanwhile`, { name });

const unmarked = ({ removing: _over, ...record }: ClusterRecord): ClusterRecord => record;

/**
 * Removes a cluster that has no autoscalers. Its history stays, with the outcome of every scale. Died halfway, it is done by doing it again; any other edit of the cluster ends it.
 * Throws `service.unknown`, `service.in-use`, `service.conflict`, `service.busy`, `service.unreadable`.
 */
export const removeCluster = async (context: ServiceContext, name: string): Promise<void> => {
  const before = await findCluster(context, name);
  await mustBeEmpty(context, name);
  const version = before.version + 1;
  await recordChange(context, { scope: "cluster", name, version, verb: "remove", before: unmarked(before) });
  const marked = { ...before, version, removing: { by: context.by, atMs: context.clock() } };
  if ((await putCluster(context.tables, marked, before.version)).kind === "conflict") return mustBeGone(context, name);
  try {
    const deleted = await whenSettled(context, before, async () => {
      await mustBeEmpty(context, name);
      return deleteCluster(context.tables, before, version);
    });
    if (deleted.kind === "conflict") await mustBeGone(context, name);
  } catch (error) {
    // A conflict is an edit by another command, which took the mark off.
    await putCluster(context.tables, { ...unmarked(before), version: version + 1 }, version);
    throw error;
  }
};

const mustBeGone = async (context: ServiceContext, name: string): Promise<void> => {
  if ((await getCluster(context.tables, clusterName(name))) !== undefined) throw conflict(name);
};

const mustBeEmpty = async (context: ServiceContext, name: string): Promise<void> => {
  for await (const item of listAutoscalers(context.tables, clusterName(name))) {
    const { namespace, name: first } = item.kind === "read" ? item.record : item;
    throw new TidemarkError("service.in-use", `Cannot remove cluster "${name}": it has autoscalers, "${namespace}/${first}" first`, { name });
  }
};

/** Throws `service.conflict` for a cluster that somebody is removing: nothing begins in it. */
export const mustStay = ({ name, removing }: ClusterRecord): void => {
  if (!removing) return;
  const words = `cluster "${name}" is being removed by ${removing.by}; remove it again to end that, or resume it to keep it`;
  throw new TidemarkError("service.conflict", `Cannot apply: ${words}`, { name });
};

/** A removal takes a few calls. One that lasts longer was left by somebody who died. */
const LOOKS_MAX = 25;
const LOOK_EVERY_MS = 200;

/**
 * Called after autoscalers were stored, or found as wanted. If the cluster was removed meanwhile, what this apply created is taken back. If the removal does not end, it stays, and the
 * next removal finds it. Throws `service.conflict`, `service.unknown`.
 */
export const mustHaveStayed = async (context: ServiceContext, cluster: ClusterRecord, created: readonly Stored[]): Promise<void> => {
  let now = await getCluster(context.tables, cluster.name);
  for (let look = 1; now?.removing && look < LOOKS_MAX; look++) {
    await context.tables.wait(LOOK_EVERY_MS);
    now = await getCluster(context.tables, cluster.name);
  }
  if (now) return mustStay(now);
  for (const stored of created) await takeBack(context, cluster, stored);
  throw new TidemarkError("service.unknown", `Cannot apply: cluster "${cluster.name}" was removed meanwhile`, { name: cluster.name });
};

type Stored = AutoscalerRef & Pick<AutoscalerRecord, "uid">;

/** Edits of others that may come in between. */
const ATTEMPTS_MAX = 5;

const takeBack = async (context: ServiceContext, cluster: ClusterRecord, stored: Stored): Promise<void> => {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const record = await getAutoscaler(context.tables, stored);
    if (record?.uid !== stored.uid) return;
    const { kind } = await store(context, { cluster, verb: "delete", ref: record, uid: record.uid, before: record });
    if (kind === "stored") return;
  }
};
