import { MAX_ANSWER_BYTES, PAGE_LIMIT } from "./request-limits.ts";
import type { Transport } from "./transport/transport.ts";

/** Bytes that a page is to have at most. Half of what is allowed: its objects may be larger than the objects of the page before. */
export const PAGE_BYTES = MAX_ANSWER_BYTES / 2;

/** A page that was read: its objects, and the bytes of its answer. */
interface Size {
  readonly objects: number;
  readonly bytes: number;
}

/** How many objects the pages of one LIST may have, by what a warm client has seen in the last LIST: a page that is too large is read for nothing, and all tenants would wait for it in each sync. */
export interface PageSizes {
  /** The most objects that fit into the page that begins now. */
  readonly most: () => number;
  readonly read: (page: Size) => void;
  /** Called where a page of so many objects was too large, and smaller ones follow. The next LIST begins with those, also where this one does not get so far in its time. */
  readonly tooLarge: (objects: number) => void;
  /** Called where the LIST has reached its end. Only a LIST with large objects is remembered. */
  readonly end: () => void;
}

/** The pages of the last LIST of each path. A LIST is in the order of names, so that large objects stand about where they stood. */
const lastLists = new WeakMap<Pick<Transport, "get">, Map<string, readonly Size[]>>();

export const pageSizes = (transport: Pick<Transport, "get">, path: string): PageSizes => {
  const paths = lastLists.get(transport) ?? new Map<string, readonly Size[]>();
  lastLists.set(transport, paths);
  const last = paths.get(path) ?? [];
  const pages: Size[] = [];
  let position = 0;
  return {
    most: () => fittingFrom(last, position),
    read: (page) => {
      pages.push(page);
      position += page.objects;
    },
    tooLarge: (objects) => {
      paths.set(path, [...pages, { objects, bytes: MAX_ANSWER_BYTES }]);
    },
    end: () => {
      if (pages.some(({ objects, bytes }) => bytes * PAGE_LIMIT > MAX_ANSWER_BYTES * objects)) paths.set(path, pages);
      else paths.delete(path);
    },
  };
};

const fittingFrom = (last: readonly Size[], position: number): number => {
  let [skip, fitting, bytesLeft] = [position, 0, PAGE_BYTES];
  for (const { objects, bytes } of last) {
    const left = Math.max(0, objects - skip);
    skip = Math.max(0, skip - objects);
    const taken = Math.min(left, bytes === 0 ? left : Math.floor((bytesLeft * objects) / bytes));
    fitting += taken;
    bytesLeft -= objects === 0 ? 0 : (taken * bytes) / objects;
    if (taken < left) return Math.max(1, Math.min(PAGE_LIMIT, fitting));
  }
  return PAGE_LIMIT;
};
