import { TidemarkError } from "../../../rules/model/errors.ts";
import { NEW_WINDOWS } from "../../../rules/model/windows.ts";
import { type Head, readHead } from "../../../stack/store/head/head.ts";
import { insertKeptBytes } from "../../../stack/store/history/events.ts";
import { encodePage } from "../../../stack/store/pages/codec.ts";
import { type PageId, readPageBytes, writePage } from "../../../stack/store/pages/pages.ts";
import { autoscalersOf } from "../../../stack/store/records/clusters.ts";
import type { ResetView } from "../../views/cluster.ts";
import type { ServiceContext } from "../context.ts";
import { type LeasedPartition, notBeforeMs, underLease, withUnknownHistory } from "./leases.ts";
import { type FoundPartition, findPartition, itemsOfPage, pageOfHead } from "./partition-query.ts";
import { recordReset } from "./record-change.ts";
import type { StoredWindows } from "../../../rules/model/scale-records.ts";
import { unknown } from "../refusals.ts";
import { present } from "../../../rules/model/json.ts";

/*
 *  claim ── page@3 unreadable ── bytes to history ── change to history ── page@epoch written under "it is still @3" ── give back, uncleanly
 * └─ failed ✗  the page is unchanged: repeated, both items kept twice
 */

/**
 * Replaces a windows page that cannot be read by a safe one: as if each of its autoscalers had just
 * been scaled as far as its rules allow. The old bytes stay in the history. Throws
 * `service.unknown`, `service.readable` for a page that can be read, `service.busy`,
 * `service.conflict`.
 */
export const resetWindows = async (
  context: ServiceContext,
  path: string,
  page: number,
): Promise<ResetView> => {
  const partition = await findPartition(context, path);
  const action = `reset windows page ${page} of "${partition.ref.cluster}/${partition.ref.partition}"`;
  // Checked before the claim, because a claim makes the next sync write all pages.
  await mustBeUnreadable(context, partition, {
    head: await readHead(context.tables, partition.ref),
    page,
    action,
  });
  return underLease(context, partition, action, async (leased, cluster) => {
    const lost = await mustBeUnreadable(context, partition, { head: leased.head, page, action });
    return reset(context, leased, { ...partition, cluster }, lost);
  });
};

/** A page that cannot be read, and its epoch when it was read; the write is conditional on it. */
interface UnreadablePage {
  readonly page: number;
  readonly problem: string;
  readonly readEpoch?: number;
}

const mustBeUnreadable = async (
  context: ServiceContext,
  { ref }: FoundPartition,
  {
    head,
    page,
    action,
  }: { readonly head: Head | undefined; readonly page: number; readonly action: string },
): Promise<UnreadablePage> => {
  const pages = head?.pages.length ?? 0;
  if (!head || page >= pages) {
    const extent = pages === 0 ? "it has no pages yet" : `its last page is ${pages - 1}`;
    throw unknown(`Cannot ${action}: ${extent}`, { ...ref, page, pages });
  }
  const { item, decoded } = await pageOfHead(context, ref, head, page);
  if (decoded.kind === "read")
    throw new TidemarkError(
      "service.readable",
      `Cannot ${action}: it can be read, so no reset is needed`,
      { ...ref, page },
    );
  return present({ page, problem: decoded.message, readEpoch: item?.epoch });
};

const reset = async (
  context: ServiceContext,
  leased: LeasedPartition,
  { cluster, ref }: FoundPartition,
  lost: UnreadablePage,
): Promise<ResetView> => {
  const { head, lease } = leased;
  const pageId: PageId = { partition: ref, generation: head.pageGeneration, index: lost.page };
  const bytes = await readPageBytes(context.tables, pageId);
  const nowMs = notBeforeMs(context, leased);
  const items = itemsOfPage(
    await Array.fromAsync(autoscalersOf(context.tables, cluster, ref)),
    lost.page,
    head.pages.length,
  );
  const entries: StoredWindows[] = [];
  for (const { uid, item } of items) {
    const record = item.kind === "read" ? item.record : undefined;
    const windows = await withUnknownHistory(context, NEW_WINDOWS, record, {
      nowMs,
      eventId: `reset:${head.epoch}`,
    });
    entries.push({ uid, windows, open: false });
  }
  const what = `page#${pageId.generation}#${pageId.index}`;
  const kept = bytes && {
    ...(await insertKeptBytes(context.insert, { partition: ref, what, atMs: nowMs, bytes })),
    bytes: bytes.length,
  };
  const autoscalers = items.map(({ path }) => path);
  const before = present({ page: lost.page, problem: lost.problem, kept });
  await recordReset(context, leased, {
    verb: "reset-windows",
    before,
    after: { page: lost.page, autoscalers },
  });
  await writePage(
    context.tables,
    present({
      id: pageId,
      epoch: lease.epoch,
      body: encodePage(entries),
      readEpoch: lost.readEpoch,
    }),
  );
  return present({ cluster: ref.cluster, partition: ref.partition, autoscalers, kept });
};
