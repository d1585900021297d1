import { amount, group, type ReadOf, words } from "../fields/field-types.ts";
import { foreignText } from "../model/foreign-text.ts";
import { asList, isObject } from "../model/json.ts";
import { type AwsPlace, type RegisteredSource, SOURCE_LIMITS } from "../model/metric-source.ts";
import type { Answer, MetricValue } from "../model/observation.ts";
import { milliOf } from "../model/quantity.ts";
import type { NativeSourceOf } from "../model/spec-native.ts";
import {
  type ForeignAnswer,
  failure,
  type MetricSource,
  type RegisteredQuery,
  registeredSamples,
  roundedMilli,
  unusable,
} from "./source.ts";
import { SECOND_MS } from "../model/time-text.ts";

declare module "../model/spec-native.ts" {
  interface NativeSources {
    readonly Prometheus: {
      readonly source: string;
      readonly query: string;
      readonly whenEmptyMilli?: bigint;
    };
  }
}

/** An instant query of PromQL. */
export interface PrometheusQuery extends RegisteredQuery {
  readonly for: "prometheus";
  readonly query: string;
}

/** A query becomes a part of a URL, which servers and proxies bound. */
const QUERY_CHARACTERS_MAX = 4_096;

const FIELDS = {
  source: words("Name of the registered source (docs/sources.md).", {
    required: true,
    segment: true,
  }),
  query: words("PromQL with one series or one number, at most 4,096 characters.", {
    required: true,
    mostCharacters: QUERY_CHARACTERS_MAX,
    lines: true,
  }),
  whenEmpty: amount(
    "The value where the query finds no series. Without it the metric is then missing.",
  ),
};

/**
 * The result of an instant query (https://prometheus.io/docs/prometheus/latest/querying/api/). On
 * doubt, a missing metric: whatever is not exactly one finite number is no value.
 */
const read = (
  answer: ForeignAnswer,
  _query: PrometheusQuery,
  { partialAnswers = false }: Pick<RegisteredSource, "partialAnswers"> = {},
): Answer<readonly MetricValue[]> => {
  const body = isObject(answer.body) ? answer.body : {};
  if (answer.status !== 200 || body["status"] !== "success") return refused(answer, body);
  // Thanos and Mimir answer with warnings where a store was not reached: the value then lacks a
  // part, and only who registered the source can say that it counts. Prometheus 2.48 to 2.53 has
  // its remarks about a query there as well.
  if (!partialAnswers && asList(body["warnings"]).some((warning) => !isRemark(warning)))
    return unusable(
      answer,
      "PartialAnswer",
      "the answer has warnings, so that a part of the data may be missing",
    );
  const data = isObject(body["data"]) ? body["data"] : {};
  const result = data["result"];
  switch (data["resultType"]) {
    case "scalar":
      return valueIn(answer, result);
    case "vector":
      return ofVector(answer, result);
    default:
      return unusable(
        answer,
        "WrongResult",
        "the query gives neither one series nor a number: write an instant query, such as sum(rate(x[2m]))",
      );
  }
};

/** Later versions have these in `infos`. They say that a name is unusual, and nothing of the data. */
const isRemark = (warning: unknown): boolean =>
  typeof warning === "string" && warning.startsWith("PromQL info:");

const ofVector = (answer: ForeignAnswer, result: unknown): Answer<readonly MetricValue[]> => {
  if (!Array.isArray(result))
    return unusable(answer, "InvalidAnswer", "the answer has no list of series");
  const [only, ...more] = result;
  if (only === undefined) return { kind: "answered", items: [] };
  if (more.length > 0)
    return unusable(
      answer,
      "SeveralSeries",
      `the query gives ${result.length} series, and one is needed: aggregate them, as with sum(…)`,
    );
  return valueIn(answer, isObject(only) ? only["value"] : undefined);
};

const NOT_FINITE = /^[+-]?(?:NaN|Inf)$/;

/** `[seconds, "number"]`. */
const valueIn = (answer: ForeignAnswer, pair: unknown): Answer<readonly MetricValue[]> => {
  const [seconds, text] = Array.isArray(pair) ? pair : [];
  if (typeof seconds !== "number" || typeof text !== "string" || text.trim() === "")
    return unusable(answer, "InvalidAnswer", "a value of the answer cannot be read");
  const value = Number(text);
  // Only what a Prometheus writes for it is quoted: any other text may hold a secret.
  const shown = NOT_FINITE.test(text) ? text : "a text";
  if (!Number.isFinite(value))
    return unusable(answer, "NotANumber", `the value is ${shown}, which is no finite number`);
  const milli = roundedMilli(value);
  if (milli === undefined) return unusable(answer, "NotANumber", "the value is too large");
  return { kind: "answered", items: [{ milli, timestampMs: Math.round(seconds * SECOND_MS) }] };
};

const ERROR_CHARACTERS_MAX = 200;

/**
 * The server's own words where it answers in its format. Any other body may be the page of a proxy,
 * and is not quoted.
 */
const refused = (
  answer: ForeignAnswer,
  { errorType, error }: Readonly<Record<string, unknown>>,
): Answer<never> => {
  if (typeof errorType !== "string" || typeof error !== "string")
    return unusable(answer, "InvalidAnswer", "the answer is not one of a Prometheus");
  return unusable(
    answer,
    "QueryRefused",
    `the server refused the query: ${foreignText(`${errorType}: ${error}`.slice(0, ERROR_CHARACTERS_MAX))}`,
  );
};

/** Only Amazon Managed Prometheus charges for samples, and knows the parameter. */
const samplesOf = ({ maxSamples = SOURCE_LIMITS.maxSamples.default }: AwsPlace): number =>
  maxSamples;

const questionOf = (source: string, query: string): PrometheusQuery => ({
  for: "prometheus",
  source,
  query,
});

/**
 * An instant query of a Prometheus, Thanos, Mimir or VictoriaMetrics that an administrator
 * registered.
 */
export const PROMETHEUS: MetricSource<
  ReadOf<typeof FIELDS>,
  NativeSourceOf<"Prometheus">,
  PrometheusQuery,
  readonly bigint[]
> = {
  type: "Prometheus",
  field: group("A query of a registered Prometheus.", FIELDS),
  measures: ["Total", "Average"],
  samplesOf: "whole",
  specOf: ({ source = "", query = "", whenEmpty }) => ({
    type: "Prometheus",
    source,
    query,
    ...(whenEmpty && { whenEmptyMilli: milliOf(whenEmpty) }),
  }),
  namedBy: ["source"],
  nameOf: ({ source }) => `query of source ${source}`,
  queryOf: ({ source, query }) => questionOf(source, query),
  asking: {
    way: "registered",
    kinds: ["prometheus", "amp"],
    // Without `time` the server evaluates at its own now: its clock may differ from ours, and data
    // of the last seconds would be missed.
    request: ({ query }, { timeoutMs, aws }) => ({
      path: "/api/v1/query",
      parameters: {
        query,
        timeout: `${Math.floor(timeoutMs)}ms`,
        ...(aws && { max_samples_processed_error_threshold: String(samplesOf(aws)) }),
      },
    }),
    read,
  },
  samples: ({ source, query, whenEmptyMilli }, { answers }) =>
    registeredSamples(answers, questionOf(source, query), {
      unable: (cause) =>
        failure(`unable to get the value of a query from source "${source}": ${cause}`),
      empty:
        whenEmptyMilli ??
        "the query found no series; whenEmpty says what that means, where it has a meaning",
    }),
  // The query stays in the manifest: a status is stored and written with every sync.
  statusOf: ({ source }, current) => ({ type: "Prometheus", prometheus: { source, current } }),
};
