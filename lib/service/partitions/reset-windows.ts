import { TidemarkError } from "../../model/errors.ts";
import { autoscalerUid } from "../../model/ids.ts";
import type { StoredWindows } from "../../model/records.ts";
import { NEW_WINDOWS } from "../../model/windows.ts";
import { type Head, readHead } from "../../store/head/head.ts";
import { insertKeptBytes } from "../../store/history/kept-bytes.ts";
import { encodePage } from "../../store/pages/codec.ts";
import { type PagePlace, readPageBytes, writePage } from "../../store/pages/pages.ts";
import { autoscalersOf } from "../../store/records/partitions.ts";
import type { Desk } from "../context.ts";
import { gathered } from "../gather.ts";
import type { ResetView } from "../views/partition.ts";
import type { Leased } from "./leases.ts";
import { type FoundPartition, findPartition, itemsOfPage, pageOfHead, pathOf, uidOfItem } from "./partition-query.ts";
import { timeOf, underLease, withoutPast } from "./reset-lease.ts";
import { tellChange } from "./scope-change.ts";

/*
 *  claim ── page@3 unreadable ── bytes to history ── change to history ── page@epoch written under "it is still @3" ── give back, uncleanly
 *                                                └─ died ✗   the page is as it was: done again, both kept twice
 */

/**
 * Replaces a windows page that nobody can read by one that errs to safety: as if each of its autoscalers had just been scaled as far as its rules allow. The old bytes stay in the
 * history. Throws `service.unknown`, `service.readable` for a page that can be read, `service.busy`, `service.conflict`.
 */
export const resetWindows = async (desk: Desk, path: string, page: number): Promise<ResetView> => {
  const found = await findPartition(desk, path);
  const action = `reset windows page ${page} of "${found.ref.cluster}/${found.ref.partition}"`;
  // Looked at before anything is claimed: a claim costs the next sync a write of all pages.
  await mustBeUnreadable(desk, found, { head: await readHead(desk.tables, found.ref), page, action });
  return underLease(desk, found, action, async (leased, cluster) => {
    const lost = await mustBeUnreadable(desk, found, { head: leased.head, page, action });
    return reset(desk, leased, { ...found, cluster }, lost);
  });
};

/** A page that cannot be read, and the epoch that it had then: whatever is written over it must be this and nothing newer. */
interface Lost {
  readonly page: number;
  readonly problem: string;
  readonly readEpoch?: number;
}

const mustBeUnreadable = async (
  desk: Desk,
  { ref }: FoundPartition,
  { head, page, action }: { readonly head: Head | undefined; readonly page: number; readonly action: string },
): Promise<Lost> => {
  const pages = head?.pages.length ?? 0;
  if (!head || page >= pages) {
    const there = pages === 0 ? "it has no pages yet" : `its last page is ${pages - 1}`;
    throw new TidemarkError("service.unknown", `Cannot ${action}: ${there}`, { ...ref, page, pages });
  }
  const { item, decoded } = await pageOfHead(desk, ref, head, page);
  if (decoded.kind === "read") throw new TidemarkError("service.readable", `Cannot ${action}: it can be read`, { ...ref, page });
  return { page, problem: decoded.message, ...(item && { readEpoch: item.epoch }) };
};

const reset = async (desk: Desk, leased: Leased, { cluster, ref }: FoundPartition, lost: Lost): Promise<ResetView> => {
  const { head, held } = leased;
  const place: PagePlace = { partition: ref, generation: head.pageGeneration, index: lost.page };
  const bytes = await readPageBytes(desk.tables, place);
  const nowMs = timeOf(desk, leased);
  const items = itemsOfPage(await gathered(autoscalersOf(desk.tables, cluster, ref)), lost.page, head.pages.length);
  const entries: StoredWindows[] = [];
  for (const item of items) {
    const record = item.kind === "read" ? item.record : undefined;
    const windows = await withoutPast(desk, NEW_WINDOWS, record, { nowMs, eventId: `reset:${head.epoch}` });
    entries.push({ uid: autoscalerUid(uidOfItem(item) ?? ""), windows, open: false });
  }
  const what = `page#${place.generation}#${place.index}`;
  const kept = bytes && { ...(await insertKeptBytes(desk.insert, { partition: ref, what, atMs: nowMs, bytes })), bytes: bytes.length };
  const autoscalers = items.map(pathOf);
  await tellChange(desk, {
    scope: "partition",
    name: `${ref.cluster}/${ref.partition}`,
    version: head.epoch,
    verb: "reset-windows",
    before: { page: lost.page, problem: lost.problem, ...(kept && { kept }) },
    after: { page: lost.page, autoscalers },
  });
  await writePage(desk.tables, {
    place,
    epoch: held.epoch,
    body: encodePage(entries),
    ...(lost.readEpoch !== undefined && { readEpoch: lost.readEpoch }),
  });
  return { cluster: ref.cluster, partition: ref.partition, autoscalers, ...(kept && { kept }) };
};
