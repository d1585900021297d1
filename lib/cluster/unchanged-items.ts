import { KEPT_ITEM_BYTES_MAX } from "./request-limits.ts";

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

/** The items of the last LIST of a path, so that the next one decodes only what has changed: at rest the pods and workloads of a cluster are byte for byte the same in each sync. */
export interface KeptLists {
  readonly begin: (path: string) => UnchangedItems;
}

/** Bytes of the answers whose items the process keeps, of all clusters together. What is made of them takes less than half. */
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
