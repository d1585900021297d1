import { encodePage } from "./codec.ts";
import { PAGE_BYTES_MAX, PAGE_BYTES_NEVER_ABOVE, pageOf, wantedPages } from "./plan.ts";
import type { StoredWindows } from "../../model/scale-records.ts";

/** Bodies of the pages of a new generation, by index. Their number follows from the number of autoscalers, and doubles until each page is small enough. */
export const dividedPages = (entries: readonly StoredWindows[]): readonly Uint8Array[] =>
  bodiesOn(entries, Math.max(1, wantedPages(entries.length, 0, 0)));

const bodiesOn = (entries: readonly StoredWindows[], count: number): readonly Uint8Array[] => {
  const byPage = Map.groupBy(entries, ({ uid }) => pageOf(uid, count));
  const bodies = Array.from({ length: count }, (_, index) => encodePage(byPage.get(index) ?? []));
  const most = count > entries.length * 2 ? PAGE_BYTES_NEVER_ABOVE : PAGE_BYTES_MAX;
  return bodies.every(({ length }) => length <= most) ? bodies : bodiesOn(entries, count * 2);
};
