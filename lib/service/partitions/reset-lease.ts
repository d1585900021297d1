import { isTidemarkError, TidemarkError } from "../../model/errors.ts";
import type { AutoscalerRecord, ClusterRecord } from "../../model/records.ts";
import type { Windows } from "../../model/windows.ts";
import { askDialect } from "../../policy/dialects.ts";
import { withUnknownPast } from "../../policy/unknown-past.ts";
import { eventsOfAutoscaler } from "../../store/history/events.ts";
import { getCluster } from "../../store/records/clusters.ts";
import { decidedCluster } from "../../store/head/moving.ts";
import { storedSpec } from "../stored-spec.ts";
import type { ServiceContext } from "../context.ts";
import { giveAllBack, type LeasedPartition, leaseAll } from "./leases.ts";
import type { FoundPartition } from "./partition-query.ts";

const conflict = (action: string): TidemarkError =>
  new TidemarkError("service.conflict", `Cannot ${action}: another sync or edit changed the partition in the meantime; check it and try again`, {});

/**
 * Runs `work` under a lease of a partition. The lease keeps syncs and edits away. The order is kept by the writes of `work`, which are conditional on this epoch, as
 * a sync's are. The lease is given back as unclean, so the next sync reads everything consistently and writes it. Throws `service.busy`, `service.conflict`.
 */
export const underLease = async <Result>(
  context: ServiceContext,
  { cluster, ref }: FoundPartition,
  action: string,
  work: (leased: LeasedPartition, cluster: ClusterRecord) => Promise<Result>,
): Promise<Result> => {
  const leases = await leaseAll(context, { action, partitions: [ref], settled: new Set() });
  try {
    const leased = leases.get(ref.partition);
    if (!leased) throw new TypeError(`partition "${ref.partition}" was not leased`);
    const now = await getCluster(context.tables, cluster.name);
    // An edit that lost its lease may still try to flip the cluster. This decides the move first, as every sync does.
    const decided = now && (await decidedCluster(context.tables, now, leased.head));
    if (!decided?.partitions.some(({ name }) => name === ref.partition)) throw conflict(action);
    return await work(leased, decided);
  } catch (error) {
    if (isTidemarkError(error, "store.lease-lost")) throw conflict(action);
    throw error;
  } finally {
    await giveAllBack(context, leases);
  }
};

/** The present, but never before a time that the partition has recorded. */
export const notBeforeMs = (context: ServiceContext, { head }: LeasedPartition): number =>
  Math.max(
    context.clock(),
    head.nowMs,
    head.evaluatedMs,
    ...head.intents.map(({ decidedMs }) => decidedMs),
    ...head.uncounted.map(({ settledMs }) => settledMs),
  );

/** Windows as if the autoscaler had just been scaled as far as its rules allow. Without a readable manifest the loosest rules count. */
export const withUnknownHistory = async (
  context: ServiceContext,
  windows: Windows,
  record: AutoscalerRecord | undefined,
  at: { readonly nowMs: number; readonly eventId: string },
): Promise<Windows> => {
  const stored = record && storedSpec(record);
  const spec = stored?.kind === "spec" ? stored.spec : undefined;
  return withUnknownPast(windows, {
    spec,
    ...at,
    restsAtZero:
      record !== undefined &&
      spec !== undefined &&
      askDialect(spec, (dialect, own) => dialect.keeps(own).ownZero) &&
      (await wentToZero(context, record)),
  });
};

/** Number of newest events searched. The newest one that was not refused has the count of the workload. */
const NEWEST_EVENTS = 10;

const wentToZero = async (context: ServiceContext, record: AutoscalerRecord): Promise<boolean> => {
  let seen = 0;
  const stretch = { sinceMs: 0, untilMs: context.clock(), newestFirst: true, pageSize: NEWEST_EVENTS };
  for await (const { uid, outcome, to } of eventsOfAutoscaler(context.tables, record, stretch)) {
    // A zero that others have set is no rest of this autoscaler.
    if (uid === record.uid && outcome !== "refused") return to === 0 && outcome !== "outside";
    if (++seen === NEWEST_EVENTS) break;
  }
  return false;
};
