import type { AutoscalerName } from "./ids.ts";
import type { LabelIndex } from "./label-index.ts";

/**
 * What one autoscaler sees of its cluster in one sync. Everything is read before anything is decided; a failed call is a value here, never an exception.
 * Quantities are thousandths as BigInt, times are milliseconds since 1970.
 */
export interface Observation {
  readonly scale: ScaleReading;
  /** All pods of the namespace; rules select from it. */
  readonly pods: LabelIndex<Pod>;
  readonly answers: MetricAnswers;
  /** The monitor that may stop all scaling; only read where the spec asks for it. */
  readonly monitor?: MonitorReading;
  /**
   * The autoscalers of the namespace and the selectors that their own last sync found (hpa.md 2.5 step 3). The one that is decided may be among them, so that all
   * observations of a namespace can share one list: rules skip it, and an index of the list is built once.
   */
  readonly others: readonly Neighbour[];
}

export interface Neighbour {
  readonly name: AutoscalerName;
  /** Text of the selector, as its scale gave it. */
  readonly selector: string;
}

/** The Status object with which the API server refused a call, or the words of the transport (code 0) when there was no answer. */
export interface ApiFailure {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
}

export type ScaleReading = ScaleRead | { readonly kind: "failed"; readonly failure: ApiFailure };

export interface ScaleRead {
  readonly kind: "read";
  readonly specReplicas: number;
  readonly statusReplicas: number;
  /** As status.selector of the scale gives it. */
  readonly selector: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Absent for kinds that do not count generations. */
  readonly generation?: number;
}

export type Answer<Item> = { readonly kind: "answered"; readonly items: Item } | { readonly kind: "failed"; readonly failure: ApiFailure };

/** Keys of the maps are those of `queryKey` in query.ts. A query that was never asked is absent, which is a programmer's mistake to look up. */
export interface MetricAnswers {
  /** metrics.k8s.io for the namespace; absent when no metric needs it. */
  readonly resource?: Answer<LabelIndex<PodMetrics>>;
  readonly custom: ReadonlyMap<string, Answer<readonly CustomMetricValue[]>>;
  readonly external: ReadonlyMap<string, Answer<readonly ExternalMetricValue[]>>;
  /** Label queries of metrics.k8s.io, by canonical selector, that failed while others were answered. */
  readonly resourceFailures?: ReadonlyMap<string, ApiFailure>;
  /** Answer of the recommender, for specs that have one. */
  readonly recommender?: Answer<RecommenderReply>;
}

/** What an external recommender proposed (watermark.md 2.16); absent bounds are 0. */
export interface RecommenderReply {
  readonly replicas: number;
  readonly lowerBoundReplicas: number;
  readonly upperBoundReplicas: number;
  /** In whole units; 0 when it names none. */
  readonly observedValue: number;
  readonly reason: string;
}

/** The monitor that may stop all scaling of an autoscaler (watermark.md 2.2). */
export type MonitorReading =
  | { readonly kind: "found"; readonly state?: string }
  | { readonly kind: "missing" }
  | { readonly kind: "failed"; readonly failure: ApiFailure };

export type MilliByResource = Readonly<Record<string, bigint>>;

export interface Container {
  readonly name: string;
  readonly requests: MilliByResource;
  /** Only percentage-of-limit targets look at it. */
  readonly limits: MilliByResource;
  /** An init container with restartPolicy Always runs beside the others. */
  readonly restartable: boolean;
}

export interface Pod {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly owners: readonly { readonly kind: string; readonly name: string }[];
  readonly deleting: boolean;
  readonly phase: string;
  readonly startMs?: number;
  readonly ready?: { readonly status: string; readonly transitionMs: number };
  readonly containers: readonly Container[];
  readonly initContainers: readonly Container[];
  /** spec.resources.requests, the requests of the whole pod. */
  readonly podRequests?: MilliByResource;
  readonly overhead: MilliByResource;
}

export interface PodMetrics {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly timestampMs: number;
  readonly windowMs: number;
  readonly containers: readonly { readonly name: string; readonly usage: MilliByResource }[];
}

export interface CustomMetricValue {
  /** Name of the pod or object that the value describes. */
  readonly describes: string;
  readonly milli: bigint;
  readonly timestampMs: number;
  readonly windowMs: number;
}

export interface ExternalMetricValue {
  readonly milli: bigint;
  readonly timestampMs: number;
}
