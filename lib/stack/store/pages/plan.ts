import { hash } from "node:crypto";
import type { AutoscalerUid } from "../../../rules/model/ids.ts";
import { encodePage } from "./codec.ts";
import type { StoredWindows } from "../../../rules/model/scale-records.ts";

/**
 * Wanted entries of a page: they take one write unit as a rule, so that an autoscaler that changes
 * rewrites few others.
 */
export const PAGE_ENTRIES = 12;
/**
 * The number of pages stays until they are this full or this empty on average, so that a few new or
 * deleted autoscalers move nothing.
 */
const FULL = 1.25;
const EMPTY = 0.25;

const HASH_BYTES = 4;

/**
 * A stable number in [0, 2³²) that spreads names evenly. It is the same on every machine and in
 * every version.
 */
export const stableHash = (text: string): number =>
  hash("sha256", text, "buffer").readUIntBE(0, HASH_BYTES);

/**
 * Index of the page of an autoscaler. It follows from the uid, so that an unreadable page stops
 * exactly its own autoscalers.
 */
export const pageOf = (uid: AutoscalerUid, pages: number): number =>
  pages === 1 ? 0 : knownHash(uid) % pages;

/**
 * A journal page holds the autoscalers of this many windows pages, some 100: the more alike texts
 * it holds, the smaller each becomes.
 */
const WINDOWS_PAGES_A_JOURNAL_PAGE = 10;
export const journalPageOfWindows = (windowsPage: number): number =>
  Math.floor(windowsPage / WINDOWS_PAGES_A_JOURNAL_PAGE);
/** The journal page of an autoscaler in a partition with so many windows pages. */
export const journalPageOf = (uid: AutoscalerUid, windowsPages: number): number =>
  journalPageOfWindows(pageOf(uid, Math.max(1, windowsPages)));
/** The indexes of all journal pages of a partition with so many windows pages. */
export const journalPages = (windowsPages: number): readonly number[] =>
  Array.from(
    { length: Math.ceil(windowsPages / WINDOWS_PAGES_A_JOURNAL_PAGE) },
    (_, index) => index,
  );

/** Hashes of uids. Each sync needs the hashes of all its autoscalers several times. */
const hashes = new Map<AutoscalerUid, number>();
const HASHES_MAX = 50_000;

const knownHash = (uid: AutoscalerUid): number => {
  const known = hashes.get(uid);
  if (known !== undefined) return known;
  if (hashes.size >= HASHES_MAX) hashes.clear();
  const made = stableHash(uid);
  hashes.set(uid, made);
  return made;
};

/** A larger page body is divided, long before an item is full (400 KB). */
export const PAGE_BYTES_MAX = 200_000;
/**
 * No page is ever larger than this, however the hash distributes its autoscalers. It leaves room
 * for the keys of the item.
 */
export const PAGE_BYTES_NEVER_ABOVE = 390_000;

/**
 * The number of pages for so many autoscalers, by the present number of pages (0: none yet) and
 * their bytes together. It only falls where the stored bytes fit fewer pages with room to spare, so
 * that pages that were divided for their size are not joined again at once.
 */
export const wantedPages = (
  autoscalers: number,
  present: number,
  bytes: number,
  entries = PAGE_ENTRIES,
): number => {
  const wanted = Math.ceil(autoscalers / entries);
  if (present === 0 || autoscalers > present * entries * FULL) return Math.max(wanted, present);
  const sparse =
    autoscalers < present * entries * EMPTY && bytes / Math.max(1, wanted) < PAGE_BYTES_MAX / 2;
  return sparse ? Math.max(1, wanted) : present;
};

/**
 * Bodies of the pages of a new generation, by index. Their number follows from the number of
 * autoscalers, and doubles until each page is small enough.
 */
export const dividedPages = (entries: readonly StoredWindows[]): readonly Uint8Array[] =>
  bodiesOn(entries, Math.max(1, wantedPages(entries.length, 0, 0)));

const bodiesOn = (entries: readonly StoredWindows[], count: number): readonly Uint8Array[] => {
  const byPage = Map.groupBy(entries, ({ uid }) => pageOf(uid, count));
  const bodies = Array.from({ length: count }, (_, index) => encodePage(byPage.get(index) ?? []));
  const most = count > entries.length * 2 ? PAGE_BYTES_NEVER_ABOVE : PAGE_BYTES_MAX;
  return bodies.every(({ length }) => length <= most) ? bodies : bodiesOn(entries, count * 2);
};
