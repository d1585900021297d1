import { MAX_ANSWER_BYTES, PAGE_LIMIT, KEPT_ITEM_BYTES_MAX } from "./request-limits.ts";
import type { Transport } from "./transport/transport.ts";

/**
 * Bytes that a page is to have at most. Half of what is allowed: its objects may be larger than the
 * objects of the page before.
 */
export const PAGE_BYTES = MAX_ANSWER_BYTES / 2;

/** A page that was read: its objects, and the bytes of its answer. */
interface Size {
  readonly objects: number;
  readonly bytes: number;
}

/**
 * How many objects the pages of one LIST may have, by what a warm client has seen in the last LIST:
 * a page that is too large is read for nothing, and all tenants would wait for it in each sync.
 */
export interface PageSizes {
  /** The most objects that fit into the page that begins now. */
  readonly most: () => number;
  readonly read: (page: Size) => void;
  /**
   * Called where a page of so many objects was too large, and smaller ones follow. The next LIST
   * begins with those, also where this one does not get so far in its time.
   */
  readonly tooLarge: (objects: number) => void;
  /**
   * Called where a page of so many objects had not come in time, which ends the LIST. The next one
   * asks for a sixteenth there: a page that was late says nothing of its objects, and from a small
   * one it is known which namespace is heavy.
   */
  readonly late: (objects: number) => void;
  /** Called where the LIST has reached its end. Only a LIST with large objects is remembered. */
  readonly end: () => void;
}

/**
 * The pages of the last LIST of each path. A LIST is in the order of names, so that large objects
 * stand about where they stood.
 */
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
    late: (objects) => {
      paths.set(path, [...pages, { objects, bytes: LATE_SHRINKS_BY * PAGE_BYTES }]);
    },
    end: () => {
      if (pages.some(({ objects, bytes }) => bytes * PAGE_LIMIT > MAX_ANSWER_BYTES * objects))
        paths.set(path, pages);
      else paths.delete(path);
    },
  };
};

const LATE_SHRINKS_BY = 16;

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

/** What was made of an item of a LIST, and the values of the answer that it counts as. */
interface MadeItem {
  readonly made: unknown;
  readonly namespace: string;
  readonly parts: number;
}

/** One reading of a LIST. */
export interface UnchangedItems {
  /** What the last whole LIST has made of an item with this hash of its bytes. */
  readonly find: (hash: string) => MadeItem | undefined;
  readonly keep: (hash: string, item: MadeItem, bytes: number) => void;
  /** The LIST was read to its end: its items are the ones that the next one finds. */
  readonly end: () => void;
}

/**
 * The items of the last LIST of a path, so that the next one decodes only what has changed: at rest
 * the pods and workloads of a cluster are byte for byte the same in each sync.
 */
export interface KeptLists {
  readonly begin: (path: string) => UnchangedItems;
}

/**
 * Bytes of the answers whose items the process keeps, of all clusters together. What is made of
 * them takes less than half.
 */
const BYTES_MAX = 32_000_000;

interface KeptItem {
  readonly item: MadeItem;
  readonly bytes: number;
  /** The reading that has found or made it last. */
  reading: number;
}

interface KeptList {
  readonly items: Map<string, KeptItem>;
  bytes: number;
}

/** The lists of all clients, the least recently read first. */
const lists = new Set<KeptList>();

const boundAll = (newest: KeptList): void => {
  lists.delete(newest);
  lists.add(newest);
  let bytes = [...lists].reduce((sum, one) => sum + one.bytes, 0);
  for (const one of lists) {
    if (bytes <= BYTES_MAX) return;
    bytes -= one.bytes;
    lists.delete(one);
    one.items.clear();
    one.bytes = 0;
  }
};

/** Items that this reading did not have are gone, or are others now. */
const dropOthers = (list: KeptList, reading: number): void => {
  for (const [hash, kept] of list.items) {
    if (kept.reading === reading) continue;
    list.items.delete(hash);
    list.bytes -= kept.bytes;
  }
};

export const keptLists = (): KeptLists => {
  const byPath = new Map<string, KeptList>();
  let readings = 0;
  return {
    begin: (path) => {
      const list = byPath.get(path) ?? { items: new Map<string, KeptItem>(), bytes: 0 };
      byPath.set(path, list);
      const reading = ++readings;
      return {
        find: (hash) => {
          const kept = list.items.get(hash);
          if (kept) kept.reading = reading;
          return kept?.item;
        },
        keep: (hash, item, bytes) => {
          // What was made of it for another reading is replaced.
          const more = list.items.has(hash) ? 0 : bytes;
          if (bytes > KEPT_ITEM_BYTES_MAX || list.bytes + more > BYTES_MAX) return;
          list.items.set(hash, { item, bytes, reading });
          list.bytes += more;
        },
        end: () => {
          dropOthers(list, reading);
          boundAll(list);
        },
      };
    },
  };
};
