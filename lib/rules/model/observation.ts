import type { AutoscalerName } from "./ids.ts";
import type { SlowAnswer } from "./metric-source.ts";
import type { LabelIndex } from "./selector.ts";
import type { Because } from "./decision.ts";

/**
 * What one sync read from the cluster for one autoscaler. Everything is read before anything is
 * decided. A failed call is a value here, never an exception. Quantities are thousandths as BigInt;
 * times are milliseconds since 1970.
 */
export interface Observation {
  readonly scale: ScaleReading;
  /** All pods of the namespace. The rules select from them. */
  readonly pods: LabelIndex<Pod>;
  /** True where `pods` is empty because nothing asked for them, or their list failed. */
  readonly podsUnread?: true;
  readonly answers: Answers;
  readonly recommender?: Answer<RecommenderReply>;
  /** The monitor that may stop all scaling. It is only read where the spec names one. */
  readonly monitor?: MonitorReading;
  /**
   * The autoscalers of the namespace with the selectors of their own last sync (hpa.md 2.5 step 3).
   * The autoscaler that is decided may be among them; the rules skip it. So all observations of a
   * namespace share one list, and its index is built once.
   */
  readonly others: readonly Neighbour[];
}

export interface Neighbour {
  readonly name: AutoscalerName;
  /** The selector text of its scale. */
  readonly selector: string;
}

/**
 * The Status object of a refused call, or the message of the transport (code 0) when there was no
 * answer.
 */
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
  /** `status.selector` of the scale. */
  readonly selector: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Absent for kinds without generations. */
  readonly generation?: number;
  /**
   * The field manager of the last change of the count, where it was a Tidemark and the answer says
   * so.
   */
  readonly lastScaledBy?: string;
  /** The field manager that has set the count, whoever it is, where the answer says so. */
  readonly countSetBy?: string;
  /** Why the cluster refuses pods of the workload, where its controller says so. */
  readonly podsRefused?: Because;
}

export type Answer<Item> =
  | { readonly kind: "answered"; readonly items: Item; readonly slow?: SlowAnswer }
  | { readonly kind: "failed"; readonly failure: ApiFailure };

/** Key of a question inside its namespace, as `queryKey` makes it (query.ts). */
export type QuestionKey = string;

/**
 * Everything that metric sources answered in a sync. To look up a question that was never asked is
 * a programmer's mistake.
 */
export type Answers = ReadonlyMap<QuestionKey, Answer<MeasuredSamples>>;

/** The values of a metric, or what the pods of the namespace use (metrics.k8s.io). */
export type MeasuredSamples = readonly MetricValue[] | LabelIndex<PodMetrics>;

export interface MetricValue {
  readonly milli: bigint;
  readonly timestampMs: number;
  /**
   * Name of the pod or object that the value describes; absent for a value from outside the
   * cluster.
   */
  readonly describes?: string;
  readonly windowMs?: number;
}

/** The values that answer a question; `undefined` where it was not asked. */
export const valuesIn = (
  answers: Answers,
  key: QuestionKey,
): Answer<readonly MetricValue[]> | undefined => {
  const answer = answers.get(key);
  if (answer === undefined || isOfValues(answer)) return answer;
  throw new TypeError(`The answer to ${key} holds no values`);
};

/** The use of resources that answers a question; `undefined` where it was not asked. */
export const podMetricsIn = (
  answers: Answers,
  key: QuestionKey,
): Answer<LabelIndex<PodMetrics>> | undefined => {
  const answer = answers.get(key);
  if (answer === undefined || isOfPods(answer)) return answer;
  throw new TypeError(`The answer to ${key} holds no PodMetrics`);
};

const isOfValues = (answer: Answer<MeasuredSamples>): answer is Answer<readonly MetricValue[]> =>
  answer.kind === "failed" || Array.isArray(answer.items);
const isOfPods = (answer: Answer<MeasuredSamples>): answer is Answer<LabelIndex<PodMetrics>> =>
  answer.kind === "failed" || !Array.isArray(answer.items);

/** The proposal of an external recommender (watermark.md 2.16). An absent bound is 0. */
export interface RecommenderReply {
  readonly replicas: number;
  readonly lowerBoundReplicas: number;
  readonly upperBoundReplicas: number;
  /** In whole units; 0 when it is absent. */
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
  /** Only targets in percent of the limit use it. */
  readonly limits: MilliByResource;
  /** True for an init container with restartPolicy Always, which runs beside the others. */
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
  /** `spec.resources.requests`: the requests of the whole pod. */
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

/**
 * Another controller of a workload: an HPA, a ScaledObject or a WatermarkPodAutoscaler, with what
 * its status says.
 */
export interface Rival {
  readonly kind: string;
  readonly name: string;
  /** The uid of the object; absent where only the HPA of a ScaledObject was listed. */
  readonly uid?: string;
  /**
   * The count that it wants; absent while it has not decided, or where the status is not of this
   * sync.
   */
  readonly desiredReplicas?: number;
  readonly lastScaleMs?: number;
  /** The condition that says most about its count. */
  readonly because?: Because;
}

/** As much of another controller as is kept between two syncs. */
export type KnownRival = Pick<Rival, "kind" | "name" | "uid">;

/**
 * What the looks for other controllers of one workload have shown so far. Without it a sync in a
 * new process takes a 403 or 404 for "there is none", though an earlier sync has seen one.
 */
export interface KnownRivals {
  /**
   * The connection that was asked (ClusterRecord.connectionVersion). What an earlier connection
   * showed counts no more.
   */
  readonly connection: number;
  /**
   * For each kind of which a LIST was answered, the controllers of the workload in the last one.
   */
  readonly looks: readonly (readonly [kind: string, rivals: readonly KnownRival[]])[];
}

/**
 * How one look for other controllers of a workload ended: a LIST of one kind. `refused` is a 403 or
 * 404, or an API group that is not served: the kind may not exist, or Tidemark may no longer see
 * it. A look that failed in any other way is not here.
 */
export type RivalLook =
  | { readonly kind: string; readonly outcome: "answered"; readonly rivals: readonly Rival[] }
  | {
      readonly kind: string;
      readonly outcome: "refused";
      readonly message: string;
      /** True where the refusal is about the whole cluster, and not about one namespace. */
      readonly everywhere: boolean;
      /** True where this client was answered there before. */
      readonly lost: boolean;
    };

/**
 * The reason of what was not asked, or not answered in time, because its namespace has used its
 * share of the sync; and of the autoscaler that waits for it.
 */
export const TENANT_OVER_SHARE = "TenantOverShare";
