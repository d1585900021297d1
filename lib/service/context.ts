import type { ClusterRecord, Connection } from "../model/records.ts";
import type { InsertHistory } from "../store/history/port.ts";
import type { Tables } from "../store/table/tables.ts";

/** What every answer needs. Nothing here reads a clock or the environment by itself. */
export interface QueryContext {
  readonly tables: Tables;
  /** Milliseconds since 1970: the data's own clock, virtual in the embedded run. */
  readonly clock: () => number;
}

/** What every edit needs beside it. */
export interface ServiceContext extends QueryContext {
  /** How this engine appends to history. */
  readonly insert: InsertHistory;
  /** Who asks; edits are recorded for them. */
  readonly by: string;
  /** Asks AWS whether a connection is what it says, before it is stored; throws where it is not. Absent: only the sync asks, when it connects. */
  readonly checkConnection?: (cluster: string, connection: Connection) => Promise<void>;
  /** Plans a cluster whose due times changed, so that its first sync need not wait for the scheduler's next call. Absent: it waits for that. */
  readonly planNow?: (cluster: ClusterRecord) => Promise<void>;
  /** Identity of a new autoscaler, never used before. */
  readonly newUid: () => string;
}
