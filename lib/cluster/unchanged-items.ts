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
/** A larger item is decoded each time. */
const ITEM_BYTES_MAX = 16_000;

interface KeptList {
  readonly items: ReadonlyMap<string, MadeItem>;
  readonly bytes: number;
  readonly forget: () => void;
}

/** The lists of all clients, the least recently read first. */
const lists = new Set<KeptList>();

const keepList = (list: KeptList): void => {
  lists.add(list);
  let bytes = [...lists].reduce((sum, one) => sum + one.bytes, 0);
  for (const one of lists) {
    if (bytes <= BYTES_MAX) return;
    lists.delete(one);
    one.forget();
    bytes -= one.bytes;
  }
};

export const keptLists = (): KeptLists => {
  const byPath = new Map<string, KeptList>();
  return {
    begin: (path) => {
      const before = byPath.get(path);
      const items = new Map<string, MadeItem>();
      let bytes = 0;
      const keep: UnchangedItems["keep"] = (hash, item, size) => {
        if (size > ITEM_BYTES_MAX) return;
        items.set(hash, item);
        bytes += size;
      };
      return {
        find: (hash) => before?.items.get(hash),
        keep,
        end: () => {
          if (before) lists.delete(before);
          const list: KeptList = { items, bytes, forget: () => void (byPath.get(path) === list && byPath.delete(path)) };
          byPath.set(path, list);
          keepList(list);
        },
      };
    },
  };
};
