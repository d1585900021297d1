import { createHash } from "node:crypto";
import type { AutoscalerUid } from "../../model/ids.ts";

/** Wanted entries per page: one write unit per 10 or so, and a few changed autoscalers do not rewrite hundreds. */
export const PAGE_ENTRIES = 100;
/** A generation is kept until its pages are this full or this empty on average, so that a few autoscalers that come and go move nothing. */
const FULL = 1.25;
const EMPTY = 0.25;

const HASH_BYTES = 4;

/** A stable number in [0, 2³²) that spreads names evenly; the same on every machine and version. */
export const stableHash = (text: string): number => createHash("sha256").update(text).digest().readUIntBE(0, HASH_BYTES);

/** Page of an autoscaler among `pages` of them: it follows from its uid, so that an unreadable page stops exactly its own. */
export const pageOf = (uid: AutoscalerUid, pages: number): number => (pages === 1 ? 0 : stableHash(uid) % pages);

/** A page body above this is divided, long before an item is full (400 KB). */
export const PAGE_BYTES_MAX = 200_000;
/** No page is ever written above this, however its autoscalers fall together: it leaves room for the keys of the item. */
export const PAGE_BYTES_NEVER_ABOVE = 390_000;

/**
 * Number of pages that `autoscalers` want, given how many there are `now` (0: none yet) and the bytes in all of them. Fewer are wanted only if what is stored fits
 * them with room, so that pages divided for their size are not joined again at once.
 */
export const wantedPages = (autoscalers: number, now: number, bytes: number): number => {
  const wanted = Math.ceil(autoscalers / PAGE_ENTRIES);
  if (now === 0 || autoscalers > now * PAGE_ENTRIES * FULL) return Math.max(wanted, now);
  const sparse = autoscalers < now * PAGE_ENTRIES * EMPTY && bytes / Math.max(1, wanted) < PAGE_BYTES_MAX / 2;
  return sparse ? Math.max(1, wanted) : now;
};
