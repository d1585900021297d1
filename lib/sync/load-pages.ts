import { TidemarkError } from "../model/errors.ts";
import type { AutoscalerUid, PartitionRef } from "../model/ids.ts";
import type { StoredWindows } from "../model/records.ts";
import type { Head } from "../store/head/head.ts";
import { decodePage } from "../store/pages/codec.ts";
import { type PageItem, readPage } from "../store/pages/pages.ts";
import { pageOf } from "../store/pages/plan.ts";
import { eachDone } from "../store/table/all-done.ts";
import type { Tables } from "../store/table/tables.ts";

const PARALLEL = 8;

/** A windows page as this sync goes by it. */
export type LoadedPage = { readonly index: number; readonly generation: number; readonly epoch: number; readonly body: Uint8Array } & (
  | { readonly kind: "read"; readonly entries: ReadonlyMap<string, StoredWindows> }
  /** Its autoscalers hold: nobody knows what they did last. The bytes are kept as they are. */
  | { readonly kind: "unreadable"; readonly message: string }
);

export interface LoadedPages {
  readonly pages: readonly LoadedPage[];
  /** Every page must be written by this sync: the one before stopped halfway, and a late write of its pages must find them changed. */
  readonly mustWrite: boolean;
}

/**
 * The pages that the head names. After a clean release a page of the named version may come from memory; after an unclean one all are read strongly and written by
 * this sync, so that a late page write by whoever stopped halfway is refused, and never makes the next holder's memory stale.
 */
export const loadPages = async (tables: Tables, partition: PartitionRef, head: Head, remembered: readonly LoadedPage[]): Promise<LoadedPages> => {
  const clean = head.releasedEpoch === head.epoch - 1;
  const pages = await eachDone([...head.pages.entries()], PARALLEL, async ([index, version]) => {
    const known = remembered[index];
    const counts = clean && known?.generation === head.pageGeneration && known.epoch === version;
    return counts ? known : readOne(tables, partition, head, index);
  });
  // A version that no release named means the same as an unclean one: somebody wrote since.
  return { pages, mustWrite: !clean || pages.some(({ epoch, index }) => epoch !== head.pages[index]) };
};

const readOne = async (tables: Tables, partition: PartitionRef, head: Head, index: number): Promise<LoadedPage> => {
  const generation = head.pageGeneration;
  const item = await readPage(tables, { partition, generation, index });
  if (!item) return missingPage(head, index);
  if (item.epoch > head.epoch) throw overtaken(partition, head.epoch, item.epoch);
  return pageOfItem(item, generation, index);
};

/** A page of a later epoch: another holder claimed since, and whatever this one still did would be refused. */
const overtaken = ({ cluster, partition }: PartitionRef, mine: number, found: number): TidemarkError =>
  new TidemarkError("store.lease-lost", `Cannot load the windows of "${cluster}/${partition}": epoch is ${found}, not ${mine}`, {
    cluster,
    partition,
    mine,
    found,
  });

const pageOfItem = ({ epoch, body }: PageItem, generation: number, index: number): LoadedPage => ({
  ...decodePage(body),
  index,
  generation,
  epoch,
  body,
});

const missingPage = (head: Head, index: number): LoadedPage => ({
  kind: "unreadable",
  message: "the item is not there",
  index,
  generation: head.pageGeneration,
  epoch: head.pages[index] ?? 0,
  body: new Uint8Array(),
});

/** The page of an autoscaler, whether it has an entry there or not; `undefined` while there are no pages. */
export const pageOfUid = ({ pages }: LoadedPages, uid: AutoscalerUid): LoadedPage | undefined =>
  pages.length === 0 ? undefined : pages[pageOf(uid, pages.length)];
