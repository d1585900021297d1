import type {
  AutoscalerName,
  AutoscalerUid,
  ClusterName,
  Namespace,
  PartitionName,
} from "./ids.ts";
import type { Override } from "./override.ts";
import type { Calendar } from "./schedule.ts";
import type { ControllerSettings } from "./spec-common.ts";
import { type SpecKindName, SPEC_KINDS, type SpecKind } from "./spec.ts";

/** The settings for all clusters of the account. */
export interface FleetRecord {
  /** The kill switch. While it is set, every sync holds and says so. */
  readonly frozen?: { readonly by: string; readonly atMs: number; readonly reason: string };
  /**
   * The tables that this record was written for. Every sync holds in other ones, until a person
   * adopts them. Absent before the first cluster.
   */
  readonly tables?: TableIds;
  /** How often restored tables were adopted. */
  readonly restores?: number;
  /** How the fleet came to these tables from a replica of them. Absent: it never moved. */
  readonly moved?: FleetMove;
  /** The stack gave the fleet up for another region: no sync acts until that region takes it. */
  readonly leaving?: { readonly to: string; readonly by: string; readonly atMs: number };
  /** Overrides of every autoscaler of the fleet, expired ones too. Absent: none. */
  readonly overrides?: readonly Override[];
  /**
   * Days on which windows of schedules that name a calendar do not start; in order of name. Absent:
   * none.
   */
  readonly calendars?: readonly Calendar[];
}

/** The ids of both tables, as their service gives them. */
export interface TableIds {
  readonly state: string;
  readonly history: string;
  /** Where the tables are. Absent for embedded tables. */
  readonly region?: string;
}

/** The newest move of the fleet between the replicas of its tables (docs/standby.md). */
export interface FleetMove {
  /** Grows with each move, and no two regions use the same number. A claim carries it. */
  readonly term: number;
  readonly from?: string;
  readonly by: string;
  readonly atMs: number;
}

/** How to reach a cluster. The table stores the name of a secret, never the secret. */
export type Connection =
  | {
      readonly kind: "eks";
      /**
       * Given by an editor. They are compared with the description of the cluster by AWS, and never
       * used to connect.
       */
      readonly endpoint?: string;
      readonly caData?: string;
      readonly clusterId: string;
      readonly region: string;
      readonly roleArn?: string;
    }
  | {
      readonly kind: "secret";
      readonly secretId: string;
      readonly context?: string;
      /** NAMESPACE/NAME of the only service account whose token is used. */
      readonly serviceAccount?: string;
    }
  | { readonly kind: "kubeconfig"; readonly path: string; readonly context?: string };

/**
 * The connection of a cluster, in an item of its own: the function that edits may write the record
 * of a cluster, and has no right to write this (infra/roles.yml).
 */
export interface ConnectionRecord {
  readonly cluster: ClusterName;
  /** The cluster that it was stored for. It connects no other cluster of this name. */
  readonly uid: string;
  readonly connection: Connection;
  /**
   * The uid of the namespace kube-system when the connection was stored: the identity of the
   * cluster. Absent where it could not be read, or the connection was stored with force.
   */
  readonly kubeSystemUid?: string;
  /** What the API server last said that it is. Absent where it was not asked, or did not say it. */
  readonly server?: SeenServer;
  /** The version of the cluster that it was stored with, or a later one. */
  readonly version: number;
}

/** The version of an API server, and when it was last asked. */
export interface SeenServer {
  readonly version: string;
  readonly atMs: number;
}

/** Allows every host. */
export const ANY_HOST = "*";

export interface Pause {
  readonly by: string;
  readonly atMs: number;
  readonly untilMs?: number;
}

export interface ClusterRecord {
  readonly name: ClusterName;
  /** Made when the cluster is added. Another cluster of the same name gets another uid. */
  readonly uid: string;
  /**
   * The version of this record with which a person last stated the connection; absent means 0. What
   * was read over an earlier connection says nothing about this one.
   */
  readonly connectionVersion?: number;
  readonly syncPeriodMs: number;
  /**
   * When it was added, or its period or partitions last changed. Its syncs are planned from there
   * on, not from the next minute that is still unplanned. Absent in an embedded run, which plans
   * its own.
   */
  readonly plannedFromMs?: number;
  /**
   * Each partition with its namespaces. A partition without a list has every namespace that no
   * other partition names.
   */
  readonly partitions: readonly {
    readonly name: PartitionName;
    readonly namespaces?: readonly Namespace[];
  }[];
  readonly paused?: Pause;
  readonly settings: ControllerSettings;
  /**
   * The kinds of autoscalers that are read from the cluster itself. Absent: every autoscaler is
   * stored by people.
   */
  readonly specsFromCluster?: readonly SpecKindName[];
  /**
   * Hosts of the recommenders that autoscalers may ask: "recommender.example.com", with a port, or
   * ANY_HOST; for http behind "http://". Absent: none.
   */
  readonly recommenderHosts?: readonly string[];
  /** What people choose clusters by, as an apply that prunes. Absent: none. */
  readonly labels?: Readonly<Record<string, string>>;
  /**
   * Present after restored tables were adopted: a part of the name under which scales are made, so
   * that two stacks with copies of one table see each other.
   */
  readonly restoredAs?: string;
  /**
   * Present while the cluster is being removed. No autoscaler may be added then
   * (lib/answers/service/edits/removal.ts).
   */
  readonly removing?: { readonly by: string; readonly atMs: number };
  /**
   * Overrides of the cluster and of its namespaces (an override of a namespace names it); expired
   * ones too. Absent: none.
   */
  readonly overrides?: readonly Override[];
  /** Raised by every edit. An edit is a conditional write on it. */
  readonly version: number;
}

export interface AutoscalerRecord {
  readonly cluster: ClusterName;
  readonly namespace: Namespace;
  readonly name: AutoscalerName;
  readonly uid: AutoscalerUid;
  /** Raised by every edit (spec, pause, resume). An edit is a conditional write on it. */
  readonly generation: number;
  /**
   * The manifest of the user as JSON text. It is converted each time it is loaded, so that a fix of
   * the conversion reaches stored autoscalers.
   */
  readonly manifest: string;
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly updatedBy: string;
  readonly paused?: Pause;
  /** Overrides of this autoscaler, expired ones too. Absent: none. */
  readonly overrides?: readonly Override[];
  /**
   * The uid of the cluster that the last apply meant. A cluster that was removed and added again
   * has another. Absent in copies of objects.
   */
  readonly clusterUid?: string;
  /**
   * The object in the cluster that this record is a copy of. Absent where people store the manifest
   * in Tidemark.
   */
  readonly origin?: ClusterOrigin;
  /**
   * The newest change of it that the history holds whole: later changes are stored as differences
   * from that one. Absent where there is none.
   */
  readonly wholeChange?: { readonly generation: number; readonly atMs: number };
}

/**
 * The object of a cluster that an autoscaler was read from. Its namespace and name are the
 * record's.
 */
export interface ClusterOrigin {
  readonly apiVersion: string;
  readonly kind: SpecKindName;
  readonly uid: string;
  /** `metadata.generation` of the object. The generation of the record also counts pauses. */
  readonly generation: number;
  /**
   * When the manifest of the record was stored. The next one is stored a minute later at the
   * earliest. Absent where people had stored it.
   */
  readonly storedMs?: number;
  /**
   * When a LIST first had no such object. The autoscaler holds from then on, and the record ends
   * some time later.
   */
  readonly goneMs?: number;
}

/**
 * Identifies one version of one cluster: two records with the same text are the same record. The
 * version is not enough, because a cluster that was removed and added again under its name may be
 * another physical cluster. Everything that is remembered of a cluster between two syncs has this
 * text as its key.
 */
export const incarnationOf = ({ uid, version }: Pick<ClusterRecord, "uid" | "version">): string =>
  `${uid}:${version}`;

/**
 * True where the last apply meant an earlier cluster of this name, which was removed since: that
 * apply died, or stood still, before it could take the record back. The workload may be in another
 * physical cluster now, so nothing is scaled until it is applied again.
 */
export const isOfEarlierCluster = (
  { uid }: Pick<ClusterRecord, "uid">,
  { clusterUid }: Pick<AutoscalerRecord, "clusterUid">,
): boolean => clusterUid !== undefined && clusterUid !== uid;

/** The pause of a cluster or an autoscaler; absent when it has none, or the pause has ended. */
export const pausedBy = (
  { paused }: { readonly paused?: Pause },
  nowMs: number,
): Pause | undefined =>
  paused && nowMs < (paused.untilMs ?? Number.POSITIVE_INFINITY) ? paused : undefined;

/** The kinds that the syncs of this cluster read from it. */
export const kindsReadFrom = ({
  specsFromCluster,
}: Pick<ClusterRecord, "specsFromCluster">): readonly SpecKind[] =>
  SPEC_KINDS.filter(({ kind }) => specsFromCluster?.includes(kind));

/**
 * The object that decides what this autoscaler is. Absent where it is edited in Tidemark, also
 * after a change of the cluster to `--specs table`.
 */
export const originIn = (
  cluster: Pick<ClusterRecord, "specsFromCluster">,
  { origin }: Pick<AutoscalerRecord, "origin">,
): ClusterOrigin | undefined =>
  origin && kindsReadFrom(cluster).some(({ kind }) => kind === origin.kind) ? origin : undefined;
