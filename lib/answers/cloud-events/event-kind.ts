import type { ChangeRecord } from "../../rules/model/changes.ts";
import type { AutoscalerRef } from "../../rules/model/ids.ts";
import type { EventRecord } from "../../rules/model/scale-records.ts";
import type { StoredChange } from "../../stack/store/history/changes.ts";
import type { HistoryItem } from "../../stack/store/history/item.ts";

/** What the event of an item needs beside the item. */
export interface EventBesides {
  readonly change: (change: StoredChange) => Promise<ChangeRecord>;
  /** The labels of an autoscaler as it is now; undefined where it has none, or is gone. */
  readonly labels: (ref: AutoscalerRef) => Promise<Readonly<Record<string, string>> | undefined>;
  /** True where as many scale events of its cluster and minute come before it as people read. */
  readonly inStorm: (event: Pick<EventRecord, "cluster" | "atMs" | "id">) => Promise<boolean>;
}

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
  readonly read: (item: HistoryItem, beside: EventBesides) => Promise<Event>;
}
