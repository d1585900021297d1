import { TidemarkError } from "../../model/errors.ts";
import type { PartitionRef } from "../../model/ids.ts";
import { readHead } from "../../store/head/head.ts";
import { withdrawIntents } from "../../store/head/store-intents.ts";
import { insertEvents } from "../../store/history/events.ts";
import { scaleEvent } from "../../sync/scale/scale-event.ts";
import type { ServiceContext } from "../context.ts";
import type { LeasedPartition, Leases } from "./leases.ts";
import { notBeforeMs } from "./reset-lease.ts";
import type { Intent } from "../../model/scale-records.ts";

/*
 *  mark ── open intents: wait for their deadlines, and 20 s more ── lease every partition ── list: none ── what is still open: event "unknown", out of the head ── (the rest) ── give back
 *          │ their PUTs can take effect until then   │ the next sync settles them       │ from here on no sync stores another intent
 *
 * No sync looks at a removed cluster again. So the outcome of every scale must be in the history before the cluster goes.
 */

const LOOK_EVERY_MS = 2_000;
/** All waits together are longer than an intent may stay open (39 s) and the time after it. */
const LOOKS_MAX = 32;
/** Time after the deadline in which a sync of the default period settles an intent with its true outcome. */
const NEXT_SYNC_MS = 20_000;

/** Waits for the syncs that settle the open intents, as long as they may need for it. */
export const waitForSyncs = async (context: ServiceContext, partitions: readonly PartitionRef[]): Promise<void> => {
  for (let look = 0; look < LOOKS_MAX; look++) {
    const heads = await Promise.all(partitions.map((ref) => readHead(context.tables, ref)));
    if (!heads.some((head) => head?.intents.some((intent) => mayTakeEffect(context, intent, NEXT_SYNC_MS)))) return;
    await context.tables.wait(LOOK_EVERY_MS);
  }
};

const mayTakeEffect = (context: ServiceContext, { deadlineMs }: Intent, moreMs = 0): boolean => context.clock() <= deadlineMs + moreMs;

/**
 * Settles every intent that no sync settled by its deadline as *unknown*, and takes what is settled out of the heads. The cluster must have no autoscalers, so that no windows need count
 * these scales. Throws `service.busy` for an intent whose PUT can take effect, `service.unreadable` for one that cannot be read, `store.lease-lost`.
 */
export const settleForRemoval = async (context: ServiceContext, leases: Leases): Promise<void> => {
  for (const leased of leases.values()) await settleOpen(context, leased);
};

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
  if (head.intents.length > 0) {
    const nowMs = notBeforeMs(context, leased);
    const outcome = { kind: "unknown", message: "the cluster was removed before a sync could look at the workload" } as const;
    await insertEvents(
      context.insert,
      head.intents.map((intent) => scaleEvent(lease.partition, intent, outcome, nowMs)),
    );
  }
  // An uncounted scale has its event.
  const settled = [...head.intents, ...head.uncounted].map(({ id }) => id);
  leased.lease = await withdrawIntents(context.tables, lease, settled);
};
