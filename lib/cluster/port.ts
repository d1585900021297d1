import type { AutoscalerName, AutoscalerUid, Namespace } from "../model/ids.ts";
import type { Answer, ApiFailure, Observation, RecommenderReply, ScaleReading } from "../model/observation.ts";
import type { Questions } from "../model/query.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import type { TargetRef } from "../model/spec-governed.ts";
import type { Recommender } from "../model/spec-watermark.ts";

/**
 * What a sync asks of one cluster. The sync knows this port alone; which authentication, which pool and which API paths stand behind it is decided in this room.
 */
export interface ClusterClient {
  /**
   * Reads what the watched autoscalers need, with a number of LIST calls that does not depend on how many they are. What the cluster refuses or leaves unanswered is a
   * failure inside the observations; it never throws for that. `consistent`: no call may be answered from a cache older than its start.
   */
  observe(watched: readonly Watched[], limits: ObserveLimits): Promise<ObservedCluster>;
  /** One attempt, never repeated by the transport. */
  putScale(write: ScaleWrite, timeoutMs: number): Promise<ScaleAnswer>;
  readScale(namespace: Namespace, target: TargetRef, timeoutMs: number): Promise<ScaleReading>;
  /** Asks an external recommender once (watermark.md 2.16); whatever goes wrong is a failure value. */
  recommend(recommender: Recommender, request: unknown, timeoutMs: number): Promise<Answer<RecommenderReply>>;
  close(): void;
}

export interface ObserveLimits {
  /** Wall time that all calls together may take. */
  readonly budgetMs: number;
  /** The whole cluster, or the namespaces of a partition. */
  readonly namespaces: readonly Namespace[] | "all";
}

export interface Watched {
  readonly uid: AutoscalerUid;
  readonly namespace: Namespace;
  readonly name: AutoscalerName;
  readonly spec: AutoscalerSpec;
  /** What its rules must ask, once its scale was read. */
  readonly questions: (scale: ScaleReading) => Questions;
  /** True where a monitor of the same name may stop all scaling. */
  readonly asksMonitor: boolean;
  /** Selector that its own last sync found, for the overlap with others. */
  readonly selector?: string;
}

export interface ObservedCluster {
  readonly observations: ReadonlyMap<AutoscalerUid, Observed>;
  /** Calls made and bytes received, for the log line and the bench. */
  readonly calls: number;
  readonly bytes: number;
}

export interface Observed {
  readonly observation: Observation;
  /** Other controllers that scale the same target: an HPA, a ScaledObject, a WatermarkPodAutoscaler in the cluster. Tidemark holds beside them. */
  readonly rivals: readonly Rival[];
  /** Why there may be others that were not seen: "not seen" is not "none", so it holds. Absent where all were looked for, or looking is not allowed. */
  readonly rivalsUnknown?: string;
}

export interface Rival {
  readonly kind: string;
  readonly name: string;
}

export interface ScaleWrite {
  readonly namespace: Namespace;
  readonly target: TargetRef;
  readonly targetUid: string;
  readonly resourceVersion: string;
  readonly replicas: number;
}

/**
 * `conflict` is a 409; `refused` any other 4xx that proves the write was not executed; `unclear` a timeout, reset, 408 or 5xx: it may have taken effect, or still will.
 */
export type ScaleAnswer =
  | { readonly kind: "applied"; readonly resourceVersion: string; readonly generation?: number }
  | { readonly kind: "conflict" | "refused" | "unclear"; readonly failure: ApiFailure };
