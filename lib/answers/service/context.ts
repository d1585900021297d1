import type { CheckedConnection, ConnectionReport } from "../../stack/cluster/check/report.ts";
import type { Rights } from "../../rules/model/access.ts";
import type { ClusterRecord } from "../../rules/model/records.ts";
import type { CheckedSource } from "../../stack/source-client/check-source.ts";
import type { InsertHistory } from "../../stack/store/history/item.ts";
import type { getAutoscalers } from "../../stack/store/records/autoscalers.ts";
import type { Witness } from "../../stack/store/records/fleet-leases.ts";
import type { getCluster, readFleet } from "../../stack/store/records/clusters.ts";
import type { Waker } from "../../stack/plan/wake.ts";
import type { Tables } from "../../stack/store/table/tables.ts";
import type { DeadLetters } from "../views/status.ts";
import { present } from "../../rules/model/json.ts";

/**
 * What every query needs. The clock and the tables are passed in, so that tests can replace them.
 */
export interface QueryContext {
  readonly tables: Tables;
  /** Milliseconds since 1970. The clock is virtual in the embedded run. */
  readonly clock: () => number;
  /**
   * What the caller may look at and edit. When it is absent, everything: a data folder has no
   * callers.
   */
  readonly rights?: Rights;
  /** What was begun to read for the request before the rights were known. */
  readonly ahead?: Ahead;
  /**
   * Counts the messages in the dead-letter queues; undefined when it does not know. When it is
   * absent, the status says that they are not known.
   */
  readonly deadLetters?: () => Promise<DeadLetters | undefined>;
}

/** Reads that need no rights, so that they can be under way beside the read of the grants. */
export interface Ahead {
  readonly one?: AheadOne;
  readonly fleet?: ReturnType<typeof readFleet>;
}

/** The reads of one autoscaler by its whole name. */
export interface AheadOne {
  readonly path: string;
  readonly cluster: ReturnType<typeof getCluster>;
  readonly items: ReturnType<typeof getAutoscalers>;
}

/** What every command needs beside it. */
export interface ServiceContext extends QueryContext {
  /** Appends to the history. */
  readonly insert: InsertHistory;
  /** The caller; edits are recorded with this name. */
  readonly by: string;
  /**
   * Looks at a cluster from where the syncs connect to it. When it is absent, only the sync finds
   * out, as it connects.
   */
  readonly checkConnection?: (target: CheckedConnection) => Promise<ConnectionReport>;
  /**
   * Asks a metric source from where the syncs ask it. When it is absent, only the sync finds out.
   */
  readonly checkSource?: (target: CheckedSource) => Promise<ConnectionReport>;
  /**
   * Plans a cluster whose due times changed, so that its first sync does not wait for the
   * scheduler. When it is absent, the first sync waits.
   */
  readonly planNow?: (cluster: ClusterRecord) => Promise<void>;
  /** Sends the extra syncs of wakes. When it is absent, nothing here syncs. */
  readonly wake?: Waker;
  /** Where the stack keeps leases of the fleet in a third region; each call has a time of its own. */
  readonly witness?: () => Witness | undefined;
  /** True in the embedded run: a source may be on this machine. */
  readonly ownAddresses?: boolean;
  /** Makes the uid of a new autoscaler. */
  readonly newUid: () => string;
}

/**
 * True where the caller may look at the namespace; without one, at all of the cluster; without
 * both, at all of the fleet.
 */
export const sees = (
  { rights }: Pick<QueryContext, "rights">,
  cluster?: string,
  namespace?: string,
): boolean => !rights || rights.allows("view", present({ cluster, namespace })) !== undefined;

/**
 * True where the caller may look at some part of the cluster. To another caller it does not exist.
 */
export const touches = ({ rights }: Pick<QueryContext, "rights">, cluster: string): boolean =>
  !rights || rights.touches(cluster);
