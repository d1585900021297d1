import type { ClusterRecord } from "../../model/records.ts";
import { NEW_WINDOWS } from "../../model/windows.ts";
import { raiseEpoch } from "../../store/head/repair-head.ts";
import { autoscalersOf } from "../../store/records/clusters.ts";
import type { ServiceContext } from "../context.ts";
import { toArray } from "../to-array.ts";
import type { LeasedPartition } from "./leases.ts";
import { type FoundPartition, pageOfHead, uidOfItem } from "./partition-query.ts";
import { notBeforeMs, underLease, withUnknownHistory } from "./reset-lease.ts";
import { type ReadablePage, writePages } from "./reset-time.ts";
import type { StoredWindows } from "../../model/scale-records.ts";

/*
 *  claim ── pages@epoch: every autoscaler as if it had just been scaled as far as its rules allow ── epoch raised, lease given back
 * └─ died ✗  the fleet record still names the former tables: every sync holds, and a repeat does it again
 */

/**
 * Takes the windows of a partition in restored tables as an unknown past, and raises its epoch. On doubt, hold: a page that cannot be read stays as it is, and holds its autoscalers until it is reset. Open intents stay,
 * and the next sync settles them. Returns the number of autoscalers. Throws `service.busy`, `service.conflict`.
 */
export const forgetPast = (context: ServiceContext, partition: FoundPartition, action: string): Promise<number> =>
  underLease(context, partition, action, async (leased, cluster) => {
    const count = await forget(context, leased, { ...partition, cluster });
    leased.lease = await raiseEpoch(context.tables, leased.lease);
    return count;
  });

const forget = async (
  context: ServiceContext,
  leased: LeasedPartition,
  { cluster, ref }: { readonly cluster: ClusterRecord; readonly ref: FoundPartition["ref"] },
): Promise<number> => {
  const { head } = leased;
  const nowMs = notBeforeMs(context, leased);
  const pages: ReadablePage[] = [];
  for (const index of head.pages.keys()) {
    const { item, decoded } = await pageOfHead(context, ref, head, index);
    if (item && decoded.kind === "read") pages.push({ index, readEpoch: item.epoch, entries: decoded.entries });
  }
  const entries = new Map(pages.flatMap((page) => [...page.entries]));
  const changed = new Map<string, StoredWindows>();
  for (const item of await toArray(autoscalersOf(context.tables, cluster, ref))) {
    const uid = uidOfItem(item);
    if (uid === undefined) continue;
    const record = item.kind === "read" ? item.record : undefined;
    const known = entries.get(uid)?.windows ?? NEW_WINDOWS;
    changed.set(uid, { uid, windows: await withUnknownHistory(context, known, record, { nowMs, eventId: `adopt:${head.epoch}` }), open: false });
  }
  await writePages(context, leased, pages, changed);
  return changed.size;
};
