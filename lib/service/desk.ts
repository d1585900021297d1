import type { InsertHistory } from "../store/history-port.ts";
import type { Tables } from "../store/tables.ts";

/** What every answer and every edit needs. Nothing here reads a clock or the environment by itself. */
export interface Desk {
  readonly tables: Tables;
  /** How this engine appends to history. */
  readonly insert: InsertHistory;
  /** Milliseconds since 1970: the data's own clock, virtual in the embedded run. */
  readonly clock: () => number;
  /** Who asks; edits are recorded for them. */
  readonly by: string;
  /** Identity of a new autoscaler, never used before. */
  readonly newUid: () => string;
}
