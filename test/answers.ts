import type { LabelIndex } from "../lib/rules/model/selector.ts";
import type {
  Answer,
  Answers,
  MetricValue,
  PodMetrics,
  QuestionKey,
  MeasuredSamples,
} from "../lib/rules/model/observation.ts";
import { queryKey, type Questions } from "../lib/rules/model/query.ts";
import { asObject } from "../lib/rules/model/json.ts";
import { customValue } from "../lib/rules/sources/metric-identifier.ts";
import { EXTERNAL, type ExternalQuery } from "../lib/rules/sources/external.ts";
import type { ObjectQuery } from "../lib/rules/sources/object.ts";
import type { PodsQuery } from "../lib/rules/sources/pods.ts";
import {
  podMetricsOf,
  RESOURCE_QUERY,
  readPodMetrics as readOne,
} from "../lib/rules/sources/resource.ts";
import { readValues, valuesReader } from "../lib/rules/sources/source.ts";

/** The queries of custom.metrics.k8s.io. */
export type CustomQuery = PodsQuery | ObjectQuery;

type Values = ReadonlyMap<QuestionKey, Answer<readonly MetricValue[]>>;

/** The answers of a sync by the API that gives them. */
export interface AnswerParts {
  readonly resource?: Answer<LabelIndex<PodMetrics>> | undefined;
  readonly custom?: Values;
  readonly external?: Values;
}

/** All answers of a sync as one map. */
export const answersOf = ({
  resource,
  custom = new Map(),
  external = new Map(),
}: AnswerParts): Answers => {
  const answers = new Map<QuestionKey, Answer<MeasuredSamples>>();
  if (resource) answers.set(queryKey(RESOURCE_QUERY), resource);
  for (const [key, answer] of [...custom, ...external]) answers.set(key, answer);
  return answers;
};

/** The answers of a sync, taken apart again. */
export const partsOf = (answers: Answers = new Map()): Required<AnswerParts> => {
  const values = (...names: readonly string[]): Values =>
    new Map(
      [...answers].flatMap(([key, answer]) =>
        names.includes(JSON.parse(key)[0])
          ? [[key, answer as Answer<readonly MetricValue[]>] as const]
          : [],
      ),
    );
  return {
    resource: podMetricsOf(answers),
    custom: values("pods", "object"),
    external: values("external"),
  };
};

/** The questions of a sync by the API that answers them. */
export const askedOf = ({ pods, metrics }: Questions) => ({
  pods,
  podMetrics: metrics.some((query) => query.for === RESOURCE_QUERY.for),
  custom: metrics.filter(
    (query): query is CustomQuery => query.for === "pods" || query.for === "object",
  ),
  external: metrics.filter((query): query is ExternalQuery => query.for === "external"),
});

/** Items of a metrics.k8s.io PodMetricsList. */
export const readPodMetrics = (items: unknown): readonly PodMetrics[] =>
  Array.isArray(items) ? items.map((item) => readOne(asObject(item))) : [];

/** Items of a custom.metrics.k8s.io MetricValueList. */
export const readCustomValues = (items: unknown): Answer<readonly MetricValue[]> =>
  readValues(valuesReader(customValue), items);

/** Items of an external.metrics.k8s.io ExternalMetricValueList. */
export const readExternalValues = (items: unknown): Answer<readonly MetricValue[]> => {
  const { asking } = EXTERNAL;
  if (asking.way !== "each") throw new TypeError("external metrics are asked one by one");
  return readValues(valuesReader(asking.read), items);
};
