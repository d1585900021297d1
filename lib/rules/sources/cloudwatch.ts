import { group, type ReadOf } from "../fields/field-types.ts";
import { isObject } from "../model/json.ts";
import {
  type MetricSourceRecord,
  mayReadAccount,
  mayReadNamespace,
} from "../model/metric-source.ts";
import type { Answer, MetricValue } from "../model/observation.ts";
import { milliOf } from "../model/quantity.ts";
import {
  CLOUDWATCH_FIELDS,
  CLOUDWATCH_RULES,
  cloudwatchProblems,
  type StatRead,
  findsSeries,
  isInsights,
  withPrefix,
} from "./cloudwatch-fields.ts";
import {
  awsFailure,
  awsWords,
  type BatchAsking,
  type ForeignAnswer,
  failure,
  type MetricSource,
  noAnswer,
  type RegisteredQuery,
  registeredSamples,
  roundedMilli,
} from "./source.ts";
import { OK } from "../model/http-status.ts";

declare module "../model/spec-native.ts" {
  interface NativeSources {
    readonly CloudWatch: Omit<CloudwatchSpec, "type">;
  }
}

/** One metric with its statistic, as GetMetricData asks for it. */
interface Stat {
  /** The name in the expression; empty without one. */
  readonly id: string;
  readonly namespace: string;
  readonly metric: string;
  /** In order of name, so that equal questions are equal texts. */
  readonly dimensions: readonly (readonly [name: string, value: string])[];
  readonly stat: string;
  /** Empty for the account of the role. */
  readonly accountId: string;
}

export interface CloudwatchSpec {
  readonly type: "CloudWatch";
  readonly source: string;
  /** Empty where one metric is asked for without a calculation. */
  readonly expression: string;
  readonly stats: readonly Stat[];
  readonly periodSeconds: number;
  readonly lookbackSeconds: number;
  readonly offsetSeconds: number;
  readonly whenEmptyMilli?: bigint;
}

/** A question of GetMetricData: one metric, or an expression with its inputs. */
export interface CloudwatchQuery extends RegisteredQuery {
  readonly for: "cloudwatch";
  /** JSON of the expression and its metrics. */
  readonly asked: string;
  /**
   * "60 300 0": seconds of the period, the time that is looked at, and how long before now it ends.
   */
  readonly window: string;
}

type Read = ReadOf<typeof CLOUDWATCH_FIELDS>;

const statOf = ({
  id = "",
  namespace = "",
  metric = "",
  dimensions = {},
  stat = "Average",
  accountId = "",
}: StatRead): Stat => ({
  id,
  namespace,
  metric,
  dimensions: Object.entries(dimensions).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  stat,
  accountId,
});

const LEAST_LOOKBACK_SECONDS = 300;
const lookbackOf = ({ lookbackSeconds, periodSeconds }: Read): number =>
  lookbackSeconds ?? Math.max(LEAST_LOOKBACK_SECONDS, 3 * periodSeconds);

const specOf = (read: Read): CloudwatchSpec => {
  const {
    source = "",
    expression = "",
    inputs = [],
    periodSeconds,
    offsetSeconds,
    whenEmpty,
  } = read;
  return {
    type: "CloudWatch",
    source,
    expression,
    stats: expression === "" ? [statOf(read)] : inputs.map(statOf),
    periodSeconds,
    lookbackSeconds: lookbackOf(read),
    offsetSeconds,
    ...(whenEmpty && { whenEmptyMilli: milliOf(whenEmpty) }),
  };
};

const questionOf = ({
  source,
  expression,
  stats,
  periodSeconds,
  lookbackSeconds,
  offsetSeconds,
}: Omit<CloudwatchSpec, "type">): CloudwatchQuery => ({
  for: "cloudwatch",
  source,
  asked: JSON.stringify([expression, stats] satisfies Asked),
  window: `${periodSeconds} ${lookbackSeconds} ${offsetSeconds}`,
});

type Asked = readonly [expression: string, stats: readonly Stat[]];
/** Only `questionOf` writes it. */
const askedOf = ({ asked }: CloudwatchQuery): Asked => JSON.parse(asked) as Asked;
const windowOf = ({ window }: CloudwatchQuery) => {
  const [periodSeconds = 0, lookbackSeconds = 0, offsetSeconds = 0] = window.split(" ").map(Number);
  return { periodSeconds, lookbackSeconds, offsetSeconds };
};

/**
 * On doubt, no question: an expression that finds its own series can read every namespace of the
 * account.
 */
const refusal = (query: CloudwatchQuery, source: MetricSourceRecord): string | undefined => {
  const [expression, stats] = askedOf(query);
  if (findsSeries(expression) && source.aws?.search !== true)
    return `source "${source.name}" allows neither SEARCH nor SELECT`;
  const refused = stats.find(({ namespace }) => !mayReadNamespace(source, namespace));
  if (refused)
    return `source "${source.name}" does not allow metrics of namespace "${refused.namespace}"`;
  const foreign = stats.find(({ accountId }) => !mayReadAccount(source, accountId));
  return (
    foreign && `source "${source.name}" does not allow metrics of account ${foreign.accountId}`
  );
};

/** Metrics and expressions of one call at most, by the service. */
const QUERIES_MAX = 500;
/**
 * An expression that CloudWatch refuses fails its whole call, which is then asked again in halves.
 */
const EXPRESSIONS_MAX = 50;
/**
 * One call stays below the limit of an answer (lib/stack/source-client/direct.ts): the bytes of a
 * result, and of each of its values.
 */
const BYTES = { call: 200_000, result: 160, value: 36 } as const;

const mostOf = (query: CloudwatchQuery): number => {
  const { periodSeconds, lookbackSeconds } = windowOf(query);
  const [expression] = askedOf(query);
  const most = expression === "" ? QUERIES_MAX : EXPRESSIONS_MAX;
  return Math.max(
    1,
    Math.min(
      most,
      Math.floor(BYTES.call / (BYTES.result + (BYTES.value * lookbackSeconds) / periodSeconds)),
    ),
  );
};

/**
 * Questions about the same time share a call. Metric math is apart, because CloudWatch refuses a
 * whole call for one expression; a call has one query of Metrics Insights.
 */
const groupOf = (query: CloudwatchQuery): string => {
  const [expression] = askedOf(query);
  if (isInsights(expression)) return query.asked;
  return `${query.window} ${expression === "" ? "metrics" : "math"}`;
};

const dataQueries = (query: CloudwatchQuery, at: number): readonly object[] => {
  const { periodSeconds: Period } = windowOf(query);
  const [expression, stats] = askedOf(query);
  const prefix = `q${at}_`;
  const metrics = stats.map(({ id, namespace, metric, dimensions, stat, accountId }) => ({
    Id: expression === "" ? `q${at}` : `${prefix}${id}`,
    Label: `q${at}`,
    ReturnData: expression === "",
    ...(accountId !== "" && { AccountId: accountId }),
    MetricStat: {
      Metric: {
        Namespace: namespace,
        MetricName: metric,
        Dimensions: dimensions.map(([Name, Value]) => ({ Name, Value })),
      },
      Period,
      Stat: stat,
    },
  }));
  if (expression === "") return metrics;
  const Expression = withPrefix(
    expression,
    prefix,
    stats.map(({ id }) => id),
  );
  return [
    ...metrics,
    {
      Id: `q${at}`,
      Label: `q${at}`,
      Expression,
      ReturnData: true,
      ...(isInsights(expression) && { Period }),
    },
  ];
};

/** The time ends at a whole period: the value of the running one is not complete. */
const request: BatchAsking<CloudwatchQuery>["request"] = (queries, { nowMs }) => {
  const [first] = queries;
  if (first === undefined) throw new RangeError("GetMetricData needs a question");
  const { periodSeconds, lookbackSeconds, offsetSeconds } = windowOf(first);
  const EndTime = Math.floor((nowMs / 1_000 - offsetSeconds) / periodSeconds) * periodSeconds;
  return {
    path: "/",
    parameters: {},
    call: {
      service: "monitoring",
      target: "GraniteServiceVersion20100801.GetMetricData",
      body: {
        StartTime: EndTime - lookbackSeconds,
        EndTime,
        ScanBy: "TimestampDescending",
        MetricDataQueries: queries.flatMap(dataQueries),
      },
    },
  };
};

const tokenIn = ({ status, body }: ForeignAnswer): string | undefined => {
  const token = status === OK && isObject(body) ? body["NextToken"] : undefined;
  return typeof token === "string" && token !== "" ? token : undefined;
};

/** Every series of an id, whose values may be spread over the pages. */
const resultsIn = (
  answers: readonly ForeignAnswer[],
  id: string,
): readonly Readonly<Record<string, unknown>>[] =>
  answers.flatMap(({ body }) => {
    const results: unknown = isObject(body) ? body["MetricDataResults"] : undefined;
    return Array.isArray(results)
      ? results.filter(
          (result): result is Readonly<Record<string, unknown>> =>
            isObject(result) && result["Id"] === id,
        )
      : [];
  });

const read: BatchAsking<CloudwatchQuery>["read"] = (answers, queries) => {
  const failed = answers.find(({ status }) => status !== OK);
  if (failed) return queries.map(() => refusedBy(failed, queries.length === 1));
  return queries.map((query, at) => newestOf(answers, query, at));
};

const VALIDATION = /Validation|Invalid|Missing/;

/** The words of the service are about an expression, and are shown where it is the only one. */
const refusedBy = (answer: ForeignAnswer, isOnly: boolean): Answer<never> => {
  const words = isOnly && isRefusalOfOne(answer) ? awsWords(answer) : undefined;
  return awsFailure(
    answer,
    { AccessDenied: "the role of the source may not read metrics (cloudwatch:GetMetricData)" },
    words,
  );
};

const isRefusalOfOne = ({ status, body }: ForeignAnswer): boolean =>
  status === 400 && isObject(body) && VALIDATION.test(String(body["__type"]));

/**
 * The newest value, of which the whole time of the period is known. On doubt, a missing metric: a
 * part of the data is no value.
 */
const newestOf = (
  answers: readonly ForeignAnswer[],
  query: CloudwatchQuery,
  at: number,
): Answer<readonly MetricValue[]> => {
  const of = (reason: string, message: string): Answer<never> => noAnswer(message, reason);
  const results = resultsIn(answers, `q${at}`);
  if (results.length === 0)
    return of("InvalidAnswer", "CloudWatch answered without a result for this metric");
  const codes = new Set(results.map(({ StatusCode }) => StatusCode));
  if (codes.has("Forbidden"))
    return of(
      "RefusedByAws",
      "CloudWatch answered Forbidden: the role of the source may not read this metric",
    );
  if (codes.has("InternalError"))
    return of("FailedInAws", "CloudWatch answered InternalError for this metric");
  // A page that is followed by others may be called partial, so that the last page decides.
  if (results.at(-1)?.["StatusCode"] !== "Complete")
    return of("PartialAnswer", "CloudWatch answered with a part of the data");
  if (new Set(results.map(({ Label }) => Label)).size > 1 || results.length > answers.length)
    return of(
      "SeveralSeries",
      "the expression gives several series, and one is needed: aggregate them, as with SUM(…)",
    );
  const { Timestamps, Values } =
    results.find(({ Values: values }) => Array.isArray(values) && values.length > 0) ?? {};
  if (!Array.isArray(Timestamps) || !Array.isArray(Values)) return { kind: "answered", items: [] };
  const [seconds]: readonly unknown[] = Timestamps;
  const [value]: readonly unknown[] = Values;
  const milli = typeof value === "number" ? roundedMilli(value) : undefined;
  if (typeof seconds !== "number" || milli === undefined)
    return of("NotANumber", "the value that CloudWatch gave is no finite number");
  return {
    kind: "answered",
    items: [{ milli, timestampMs: (seconds + windowOf(query).periodSeconds) * 1_000 }],
  };
};

/** A metric of Amazon CloudWatch, or metric math over several. */
export const CLOUDWATCH: MetricSource<Read, CloudwatchSpec, CloudwatchQuery, readonly bigint[]> = {
  type: "CloudWatch",
  field: group("A metric of Amazon CloudWatch, by a registered source.", CLOUDWATCH_FIELDS),
  rules: CLOUDWATCH_RULES,
  problems: cloudwatchProblems,
  measures: ["Total", "Average"],
  samplesOf: "whole",
  specOf,
  times: (fields) => ({
    everySeconds: fields.periodSeconds,
    leastAgeSeconds: fields.periodSeconds + lookbackOf(fields) + fields.offsetSeconds,
  }),
  namedBy: ["metric", "source"],
  nameOf: ({ expression, stats: [first], source }) =>
    expression === ""
      ? `metric ${first?.metric ?? ""} of CloudWatch`
      : `expression of source ${source}`,
  queryOf: questionOf,
  asking: {
    way: "registered",
    kinds: ["cloudwatch"],
    dated: true,
    refusal,
    batch: {
      groupOf,
      weightOf: (query) => askedOf(query)[1].length + (askedOf(query)[0] === "" ? 0 : 1),
      mostOf,
      request,
      next: (asked, answer) => {
        const NextToken = tokenIn(answer);
        return NextToken !== undefined && asked.call
          ? { ...asked, call: { ...asked.call, body: { ...asked.call.body, NextToken } } }
          : undefined;
      },
      isRefusalOfOne,
      read,
    },
  },
  samples: (spec, { answers }) =>
    registeredSamples(answers, questionOf(spec), {
      unable: (cause) =>
        failure(`unable to get a metric of CloudWatch by source "${spec.source}": ${cause}`),
      empty:
        spec.whenEmptyMilli ??
        `CloudWatch has no value of the last ${spec.lookbackSeconds} s; whenEmpty says what that means, where it has a meaning`,
    }),
  statusOf: ({ source, stats: [first], expression }, current) => ({
    type: "CloudWatch",
    cloudwatch: { source, ...(expression === "" && { metric: first?.metric ?? "" }), current },
  }),
};
