import { TidemarkError } from "../../../rules/model/errors.ts";
import type { AutoscalerUid, PartitionRef } from "../../../rules/model/ids.ts";
import { followsCleanRelease, type Head } from "../../store/head/head.ts";
import { decodePage } from "../../store/pages/codec.ts";
import { type PageItem, readPage } from "../../store/pages/pages.ts";
import { pageOf } from "../../store/pages/plan.ts";
import type { Tables } from "../../store/table/tables.ts";
import { mapWithLimit } from "../../store/table/wait-for-all.ts";
import type { StoredWindows } from "../../../rules/model/scale-records.ts";
import type { LoadedPage, LoadedPages } from "../hand-over.ts";

const PARALLEL = 8;

/**
 * Loads the pages that the head names. After a clean release a page of the named version may come
 * from memory. After an unclean one all are read strongly, and written by this sync. So a late page
 * write of the stopped sync is refused, and cannot make the memory of the next holder stale.
 */
export const loadPages = async (
  tables: Tables,
  partition: PartitionRef,
  head: Head,
  remembered: readonly LoadedPage[],
): Promise<LoadedPages> => {
  const clean = followsCleanRelease(head);
  const pages = await mapWithLimit(
    [...head.pages.entries()],
    PARALLEL,
    async ([index, version]) => {
      const known = remembered[index];
      const counts = clean && known?.generation === head.pageGeneration && known.epoch === version;
      return counts ? known : readOnePage(tables, partition, head, index);
    },
  );
  // A page with a version that no release named was written after the last release: this means the
  // same as an unclean release.
  return {
    pages,
    rewriteAll: !clean || pages.some(({ epoch, index }) => epoch !== head.pages[index]),
  };
};

const readOnePage = async (
  tables: Tables,
  partition: PartitionRef,
  head: Head,
  index: number,
): Promise<LoadedPage> => {
  const generation = head.pageGeneration;
  const item = await readPage(tables, { partition, generation, index });
  if (!item) return missingPage(head, index);
  if (item.epoch > head.epoch) throw overtaken(partition, head.epoch, item.epoch);
  return pageOfItem(item, generation, index);
};

/**
 * The error for a page of a later epoch: another holder claimed since, so that every write of this
 * one would be refused.
 */
const overtaken = (
  { cluster, partition }: PartitionRef,
  own: number,
  stored: number,
): TidemarkError =>
  new TidemarkError(
    "store.lease-lost",
    `Cannot load the windows of "${cluster}/${partition}": epoch is ${stored}, not ${own}`,
    {
      cluster,
      partition,
      mine: own,
      found: stored,
    },
  );

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

/**
 * The page of an autoscaler, also where it has no entry there yet; `undefined` while there are no
 * pages.
 */
export const pageOfUid = ({ pages }: LoadedPages, uid: AutoscalerUid): LoadedPage | undefined =>
  pages.length === 0 ? undefined : pages[pageOf(uid, pages.length)];

/** What the pages hold of an autoscaler; `undefined` where its page cannot be read. */
export const entryOf = (loaded: LoadedPages, uid: AutoscalerUid): StoredWindows | undefined => {
  const page = pageOfUid(loaded, uid);
  return page?.kind === "read" ? page.entries.get(uid) : undefined;
};
