import type { ClusterRecord, Connection } from "../model/records.ts";
import type { InsertHistory } from "../store/history/port.ts";
import type { Tables } from "../store/table/tables.ts";
import type { DeadLetters } from "./views/status.ts";

/** What every query needs. The clock and the tables are passed in, so that tests can replace them. */
export interface QueryContext {
  readonly tables: Tables;
  /** Milliseconds since 1970. The clock is virtual in the embedded run. */
  readonly clock: () => number;
  /** Counts the messages in the dead-letter queues; undefined when it cannot tell. When it is absent, the status says that they are not known. */
  readonly deadLetters?: () => Promise<DeadLetters | undefined>;
}

/** What every command needs beside it. */
export interface ServiceContext extends QueryContext {
  /** Appends to the history. */
  readonly insert: InsertHistory;
  /** The caller; edits are recorded with this name. */
  readonly by: string;
  /** Checks a connection with AWS before it is stored, and throws when it is wrong. When it is absent, only the sync checks, as it connects. */
  readonly checkConnection?: (cluster: string, connection: Connection) => Promise<void>;
  /** Plans a cluster whose due times changed, so that its first sync does not wait for the scheduler. When it is absent, the first sync waits. */
  readonly planNow?: (cluster: ClusterRecord) => Promise<void>;
  /** Makes the uid of a new autoscaler. */
  readonly newUid: () => string;
}
