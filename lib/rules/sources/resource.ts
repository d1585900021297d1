import { choice, group, type ReadOf, words } from "../fields/field-types.ts";
import {
  type Answers,
  podMetricsIn,
  type PodMetrics,
  type QuestionKey,
} from "../model/observation.ts";
import { queryKey } from "../model/query.ts";
import {
  readAmounts,
  asList,
  asName,
  asObject,
  asTexts,
  type Json,
  readWindow,
  readTime,
} from "../model/json.ts";
import {
  canonicalSelector,
  type LabelSelector,
  type Selector,
  selectorOf,
} from "../model/selector.ts";
import {
  type Asking,
  type Failure,
  failure,
  type MetricSource,
  NOT_ASKED,
  type PodSamples,
  type SampleContext,
} from "./source.ts";

type Base = "request" | "limit";

declare module "../model/spec-native.ts" {
  interface NativeSources {
    readonly Resource: { readonly name: string; readonly of: Base };
    readonly ContainerResource: {
      readonly name: string;
      readonly container: string;
      readonly of: Base;
    };
  }
}

/** The question that all metrics of resources share: what the pods of the namespace use. */
export interface ResourceQuery {
  readonly for: "resource";
}

export interface ResourceSpec {
  readonly type: "Resource";
  readonly name: string;
  /** Other pods than the pods of the workload. */
  readonly selector?: LabelSelector;
}

export interface ContainerSpec {
  readonly type: "ContainerResource";
  readonly name: string;
  readonly container: string;
}

export const RESOURCE_QUERY: ResourceQuery = { for: "resource" };
const KEY = queryKey(RESOURCE_QUERY);

/**
 * The key of a label query that is answered by itself, as the watermark controller asks. It counts
 * before the answer for the whole namespace.
 */
export const labelQueryKey = (selector: Selector): QuestionKey =>
  JSON.stringify([RESOURCE_QUERY.for, canonicalSelector(selector)]);

/**
 * The PodMetrics of the namespace, or of a label query; `undefined` where they were not asked for.
 */
export const podMetricsOf = (
  answers: Answers,
  selector?: Selector,
): ReturnType<typeof podMetricsIn> =>
  (selector && podMetricsIn(answers, labelQueryKey(selector))) ?? podMetricsIn(answers, KEY);

/**
 * The PodMetrics of the target. The API answers a label query: it selects by the labels of the
 * PodMetrics, not of the pods.
 */
export const selectedPodMetrics = (
  answers: Answers,
  podSelector: Selector,
): readonly PodMetrics[] | Failure => {
  const answer = podMetricsOf(answers);
  if (answer === undefined) return failure(NOT_ASKED);
  if (answer.kind === "failed")
    return failure(`unable to fetch metrics from resource metrics API: ${answer.failure.message}`);
  const selected = answer.items.select(podSelector);
  return selected.length === 0
    ? failure("no metrics returned from resource metrics API")
    : selected;
};

/**
 * Usage of whole pods: a pod without containers, or with one that lacks the resource, gives no
 * sample and so is missing (hpa.md 2.5).
 */
export const podSamples = (metrics: readonly PodMetrics[], resource: string): PodSamples => {
  const samples: PodSamples = new Map();
  for (const { name, timestampMs, windowMs, containers } of metrics) {
    let milli: bigint | undefined;
    for (const { usage } of containers) {
      const amount = usage[resource];
      if (amount === undefined) {
        milli = undefined;
        break;
      }
      milli = milli === undefined ? amount : milli + amount;
    }
    if (milli !== undefined)
      samples.set(name, { milli: BigInt.asIntN(64, milli), timestampMs, windowMs });
  }
  return samples;
};

/** Usage of one container in every pod that has it. */
const containerSamples = (
  metrics: readonly PodMetrics[],
  resource: string,
  container: string,
): PodSamples => {
  const samples: PodSamples = new Map();
  for (const { name, timestampMs, windowMs, containers } of metrics) {
    const milli = containers.find((candidate) => candidate.name === container)?.usage[resource];
    if (milli !== undefined) samples.set(name, { milli, timestampMs, windowMs });
  }
  return samples;
};

const samplesBy = (
  context: SampleContext,
  own: LabelSelector | undefined,
  read: (metrics: readonly PodMetrics[]) => PodSamples,
): PodSamples | Failure => {
  const selector = own && selectorOf(own);
  if (selector?.kind === "invalid") return failure(selector.message);
  const metrics = selectedPodMetrics(context.answers, selector?.selector ?? context.podSelector);
  return "message" in metrics ? metrics : read(metrics);
};

/** One item of a metrics.k8s.io PodMetricsList. */
export const readPodMetrics = (item: Json): PodMetrics => {
  const metadata = asObject(item["metadata"]);
  return {
    name: asName(metadata["name"]),
    labels: asTexts(metadata["labels"]),
    timestampMs: readTime(item["timestamp"]) ?? 0,
    windowMs: readWindow(item["window"]) ?? 0,
    containers: asList(item["containers"]).map((container) => ({
      name: asName(asObject(container)["name"]),
      usage: readAmounts(asObject(container)["usage"]),
    })),
  };
};

/**
 * The newest version first; both have the same fields, and every release of metrics-server so far
 * serves the oldest.
 */
export const POD_METRICS = { group: "metrics.k8s.io", versions: ["v1", "v1beta1"] } as const;

const asking: Asking<ResourceQuery> = {
  way: "list",
  query: RESOURCE_QUERY,
  request: { ...POD_METRICS, path: ["pods"], resource: "pods" },
  read: readPodMetrics,
};

const FIELDS = {
  name: words('The resource: "cpu", "memory", or another one that pods request.', {
    required: true,
  }),
  of: choice("The base of a percentage.", ["request", "limit"], { default: "request" }),
};

/** Use of a resource by the pods (hpa.md 2.5). */
export const RESOURCE: MetricSource<
  ReadOf<typeof FIELDS>,
  ResourceSpec,
  ResourceQuery,
  PodSamples
> = {
  type: "Resource",
  field: group("Use of a resource by the pods.", FIELDS),
  measures: ["Percent", "Average"],
  samplesOf: "pods",
  specOf: ({ name = "", of }) => ({ type: "Resource", name, of }),
  namedBy: ["name"],
  nameOf: ({ name }) => `${name} resource`,
  queryOf: () => RESOURCE_QUERY,
  asking,
  samples: ({ name, selector }, context) =>
    samplesBy(context, selector, (metrics) => podSamples(metrics, name)),
  statusOf: ({ type, name }, current) => ({ type, resource: { name, current } }),
};

const CONTAINER_FIELDS = {
  name: FIELDS.name,
  container: words("Name of the container.", { required: true }),
  of: FIELDS.of,
};

/** Use of a resource by one container of each pod. */
export const CONTAINER_RESOURCE: MetricSource<
  ReadOf<typeof CONTAINER_FIELDS>,
  ContainerSpec,
  ResourceQuery,
  PodSamples
> = {
  type: "ContainerResource",
  field: group("Use of a resource by one container of each pod.", CONTAINER_FIELDS),
  measures: ["Percent", "Average"],
  samplesOf: "pods",
  specOf: ({ name = "", container = "", of }) => ({
    type: "ContainerResource",
    name,
    container,
    of,
  }),
  namedBy: ["name"],
  nameOf: ({ name, container }) => `${name} resource of container ${container}`,
  queryOf: () => RESOURCE_QUERY,
  asking,
  samples: ({ name, container }, context) =>
    samplesBy(context, undefined, (metrics) => containerSamples(metrics, name, container)),
  statusOf: ({ type, name, container }, current) => ({
    type,
    containerResource: { name, container, current },
  }),
};
