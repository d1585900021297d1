import type { ChangeRecord } from "../../rules/model/changes.ts";
import type { StoredChange } from "../../stack/store/history/changes.ts";
import type { HistoryItem } from "../../stack/store/history/item.ts";

/** One kind of event: a file, and a line in the table (kinds.ts). */
export interface EventKind<Event> {
  /** Also the end of its type: `dev.tidemark.scale`. */
  readonly kind: string;
  /** How the keys of the stored items begin that are events of this kind. */
  readonly keys: readonly { readonly pk: string; readonly sk: string }[];
  /**
   * The event of an item with such a key. Throws `store.unreadable` for what cannot be read; errors
   * of the table pass.
   */
  readonly read: (
    item: HistoryItem,
    readChange: (change: StoredChange) => Promise<ChangeRecord>,
  ) => Promise<Event>;
}
