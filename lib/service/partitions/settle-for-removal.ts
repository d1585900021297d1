import { isTidemarkError, TidemarkError } from "../../model/errors.ts";
import type { PartitionName, PartitionRef } from "../../model/ids.ts";
import type { ClusterRecord, Intent } from "../../model/records.ts";
import { readHead } from "../../store/head/head.ts";
import { withdrawIntents } from "../../store/head/withdraw.ts";
import { insertEvents } from "../../store/history/events.ts";
import { scaleEvent } from "../../sync/scale-event.ts";
import type { ServiceContext } from "../context.ts";
import { giveAllBack, type LeasedPartition, leaseAll } from "./leases.ts";
import { notBeforeMs } from "./reset-lease.ts";

/*
 *  mark ── open intents: wait for their deadlines, and 20 s more ── lease every partition ── what is still open: event "unknown", out of the head ── (work) ── give back
 *          │ their PUTs can take effect until then   │ the next sync settles them       │ from here on no sync stores another intent
 *
 * No sync looks at a removed cluster again. So the outcome of every scale must be in the history before the cluster goes.
 */

const LOOK_EVERY_MS = 2_000;
/** All waits together are longer than an intent may stay open (39 s) and the time after it. */
const LOOKS_MAX = 32;
/** Time after the deadline in which a sync of the default period settles an intent with its true outcome. */
const NEXT_SYNC_MS = 20_000;

/**
 * Runs `work` while no sync works on the cluster and every scale has its event. An intent that no sync settled by its deadline is settled as *unknown*.
 * Throws `service.busy` when the leases are not free, `service.unreadable` for an intent that cannot be read.
 */
export const whenSettled = async <Result>(context: ServiceContext, cluster: ClusterRecord, work: () => Promise<Result>): Promise<Result> => {
  const partitions = await everSynced(context, cluster);
  await waitForSyncs(context, partitions);
  const leases = await leaseAll(context, { action: `remove cluster "${cluster.name}"`, partitions, settled: new Set<PartitionName>() });
  try {
    for (const leased of leases.values()) await settleOpen(context, leased);
    return await work();
  } catch (error) {
    if (!isTidemarkError(error, "store.lease-lost")) throw error;
    throw new TidemarkError("service.busy", `Cannot remove cluster "${cluster.name}": it took longer than its lease; try again`, {
      cluster: cluster.name,
    });
  } finally {
    await giveAllBack(context, leases);
  }
};

/** A partition without a head was never claimed, so it never had an intent. */
const everSynced = async (context: ServiceContext, { name, partitions }: ClusterRecord): Promise<readonly PartitionRef[]> => {
  const refs = partitions.map((partition) => ({ cluster: name, partition: partition.name }));
  const heads = await Promise.all(refs.map((ref) => readHead(context.tables, ref)));
  return refs.filter((_, at) => heads[at] !== undefined);
};

const waitForSyncs = async (context: ServiceContext, partitions: readonly PartitionRef[]): Promise<void> => {
  for (let look = 0; look < LOOKS_MAX; look++) {
    const heads = await Promise.all(partitions.map((ref) => readHead(context.tables, ref)));
    if (!heads.some((head) => head?.intents.some((intent) => mayTakeEffect(context, intent, NEXT_SYNC_MS)))) return;
    await context.tables.wait(LOOK_EVERY_MS);
  }
};

const mayTakeEffect = (context: ServiceContext, { deadlineMs }: Intent, moreMs = 0): boolean => context.clock() <= deadlineMs + moreMs;

const settleOpen = async (context: ServiceContext, leased: LeasedPartition): Promise<void> => {
  const { head, lease } = leased;
  const path = `${lease.partition.cluster}/${lease.partition.partition}`;
  const refusal = (code: string, why: string): TidemarkError =>
    new TidemarkError(code, `Cannot remove cluster "${lease.partition.cluster}": ${why}`, { partition: path });
  const [lost] = head.unreadable;
  if (lost) {
    const command = `tidemark partition reset-intent ${path} ${lost.id}`;
    throw refusal("service.unreadable", `the intent "${lost.id}" in partition "${path}" cannot be read; run \`${command}\` first`);
  }
  if (head.intents.some((intent) => mayTakeEffect(context, intent))) {
    throw refusal("service.busy", `a scale in partition "${path}" is still open; try again in a minute`);
  }
  if (head.intents.length === 0) return;
  const nowMs = notBeforeMs(context, leased);
  const outcome = { kind: "unknown", message: "the cluster was removed before a sync could look at the workload" } as const;
  await insertEvents(
    context.insert,
    head.intents.map((intent) => scaleEvent(lease.partition, intent, outcome, nowMs)),
  );
  leased.lease = await withdrawIntents(
    context.tables,
    lease,
    head.intents.map(({ id }) => id),
  );
};
