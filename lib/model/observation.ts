import type { AutoscalerName } from "./ids.ts";
import type { LabelIndex } from "./selector.ts";

/**
 * What one sync read from the cluster for one autoscaler. Everything is read before anything is decided. A failed call is a value here, never an exception.
 * Quantities are thousandths as BigInt; times are milliseconds since 1970.
 */
export interface Observation {
  readonly scale: ScaleReading;
  /** All pods of the namespace. The rules select from them. */
  readonly pods: LabelIndex<Pod>;
  readonly answers: Answers;
  /** Answer of the recommender, for specs that have one. */
  readonly recommender?: Answer<RecommenderReply>;
  /** The monitor that may stop all scaling. It is only read where the spec names one. */
  readonly monitor?: MonitorReading;
  /**
   * The autoscalers of the namespace with the selectors of their own last sync (hpa.md 2.5 step 3). The autoscaler that is decided may be among them; the rules skip it. So all
   * observations of a namespace share one list, and its index is built once.
   */
  readonly others: readonly Neighbour[];
}

export interface Neighbour {
  readonly name: AutoscalerName;
  /** The selector text of its scale. */
  readonly selector: string;
}

/** The Status object of a refused call, or the message of the transport (code 0) when there was no answer. */
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
  /** The field manager of the last change of the count, where it was a Tidemark and the answer says so. */
  readonly lastScaledBy?: string;
}

export type Answer<Item> = { readonly kind: "answered"; readonly items: Item } | { readonly kind: "failed"; readonly failure: ApiFailure };

/** Key of a question inside its namespace, as `queryKey` makes it (query.ts). */
export type QuestionKey = string;

/** Everything that metric sources answered in a sync. To look up a question that was never asked is a programmer's mistake. */
export type Answers = ReadonlyMap<QuestionKey, Answer<Samples>>;

/** The values of a metric, or what the pods of the namespace use (metrics.k8s.io). */
export type Samples = readonly MetricValue[] | LabelIndex<PodMetrics>;

export interface MetricValue {
  readonly milli: bigint;
  readonly timestampMs: number;
  /** Name of the pod or object that the value describes; absent for a value from outside the cluster. */
  readonly describes?: string;
  readonly windowMs?: number;
}

/** The values that answer a question; `undefined` where it was not asked. */
export const valuesIn = (answers: Answers, key: QuestionKey): Answer<readonly MetricValue[]> | undefined => {
  const answer = answers.get(key);
  if (answer === undefined || isOfValues(answer)) return answer;
  throw new TypeError(`The answer to ${key} holds no values`);
};

/** The use of resources that answers a question; `undefined` where it was not asked. */
export const podMetricsIn = (answers: Answers, key: QuestionKey): Answer<LabelIndex<PodMetrics>> | undefined => {
  const answer = answers.get(key);
  if (answer === undefined || isOfPods(answer)) return answer;
  throw new TypeError(`The answer to ${key} holds no PodMetrics`);
};

const isOfValues = (answer: Answer<Samples>): answer is Answer<readonly MetricValue[]> => answer.kind === "failed" || Array.isArray(answer.items);
const isOfPods = (answer: Answer<Samples>): answer is Answer<LabelIndex<PodMetrics>> => answer.kind === "failed" || !Array.isArray(answer.items);

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
