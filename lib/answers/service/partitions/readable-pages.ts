import type { PartitionRef } from "../../../rules/model/ids.ts";
import type { StoredWindows } from "../../../rules/model/scale-records.ts";
import type { Head } from "../../../stack/store/head/head.ts";
import { adoptPages } from "../../../stack/store/head/moving.ts";
import { encodePage } from "../../../stack/store/pages/codec.ts";
import { writePage } from "../../../stack/store/pages/pages.ts";
import { pageOf } from "../../../stack/store/pages/plan.ts";
import type { ServiceContext } from "../context.ts";
import type { LeasedPartition } from "./leases.ts";
import { pageOfHead } from "./partition-query.ts";

/** A page with its entries, under the epoch that it was read with. */
export interface ReadablePage {
  readonly index: number;
  readonly readEpoch: number;
  readonly entries: ReadonlyMap<string, StoredWindows>;
}

/**
 * The pages of a head that can be read. For another one `unreadable` may throw; else it is left
 * out, and stays as it is.
 */
export const readablePages = async (
  context: ServiceContext,
  ref: PartitionRef,
  head: Head,
  unreadable: (index: number) => void = () => undefined,
): Promise<readonly ReadablePage[]> => {
  const pages = await Promise.all(
    head.pages.map(async (_epoch, index) => {
      const { item, decoded } = await pageOfHead(context, ref, head, index);
      if (item && decoded.kind === "read")
        return [{ index, readEpoch: item.epoch, entries: decoded.entries }];
      unreadable(index);
      return [];
    }),
  );
  return pages.flat();
};

/** What stays of the entries of a page beside those that change. */
export type KeepEntries = (entries: readonly StoredWindows[]) => readonly StoredWindows[];

/**
 * Writes each page of which something changed, once; where the head names none, the first one of a
 * new generation.
 */
export const writePages = async (
  context: ServiceContext,
  leased: LeasedPartition,
  pages: readonly ReadablePage[],
  {
    changed,
    keep = (entries) => entries,
  }: { readonly changed: ReadonlyMap<string, StoredWindows>; readonly keep?: KeepEntries },
): Promise<void> => {
  const { head, lease } = leased;
  const { partition, epoch } = lease;
  if (head.pages.length === 0 && changed.size > 0) {
    const generation = head.pageGeneration + 1;
    await writePage(context.tables, {
      id: { partition, generation, index: 0 },
      epoch,
      body: encodePage([...changed.values()]),
    });
    leased.lease = await adoptPages(context.tables, lease, {
      generation,
      pages: [epoch],
      nowMs: head.nowMs,
    });
  }
  for (const { index, entries, readEpoch } of pages) {
    const before = [...entries.values()];
    const kept = keep(before);
    const own = [...changed.values()].filter(({ uid }) => pageOf(uid, head.pages.length) === index);
    if (own.length === 0 && kept.every((entry, at) => entry === before[at])) continue;
    const body = encodePage([
      ...new Map([...kept, ...own].map((entry) => [entry.uid, entry])).values(),
    ]);
    await writePage(context.tables, {
      id: { partition, generation: head.pageGeneration, index },
      epoch,
      body,
      readEpoch,
    });
  }
};
