import * as z from "zod";
import type { Resource } from "../packaged.ts";
import { keyOf, type Sample } from "./emitted.ts";

const named = z.array(z.object({ Name: z.string(), Value: z.unknown() }));
const stat = z.object({
  Stat: z.string(),
  Metric: z.object({ Namespace: z.string(), MetricName: z.string(), Dimensions: named }),
});
const alarmSchema = z.object({
  Namespace: z.string().optional(),
  MetricName: z.string().optional(),
  Dimensions: named.optional(),
  Statistic: z.string().optional(),
  ExtendedStatistic: z.string().optional(),
  Metrics: z
    .array(
      z.object({ Id: z.string(), Expression: z.string().optional(), MetricStat: stat.optional() }),
    )
    .optional(),
  EvaluationPeriods: z.number(),
  DatapointsToAlarm: z.number(),
  ComparisonOperator: z.enum(["GreaterThanThreshold", "LessThanThreshold"]),
  Threshold: z.number(),
  TreatMissingData: z.enum(["breaching", "notBreaching"]),
});

/** The value of one minute; undefined where the metric has no sample in it. */
type Datapoint = number | undefined;
type Values = Readonly<Record<string, Datapoint>>;

const plus = (one: Datapoint, other: Datapoint): number => (one ?? 0) + (other ?? 0);

/**
 * The expressions of infra/alarms.yml by their text, with the rules of CloudWatch: without FILL, a
 * missing operand gives a missing result.
 */
const EXPRESSIONS: Readonly<Record<string, (values: Values) => Datapoint>> = {
  "calls - errors": ({ calls, errors }) =>
    calls === undefined || errors === undefined ? undefined : calls - errors,
  "IF(FILL(planned, 0) > 0 AND FILL(completed, 0) < 1, 1, 0)": ({ planned = 0, completed = 0 }) =>
    planned > 0 && completed < 1 ? 1 : 0,
  "FILL(stateReads, 0)+FILL(stateWrites, 0)+FILL(historyReads, 0)+FILL(historyWrites, 0)": ({
    stateReads,
    stateWrites,
    historyReads,
    historyWrites,
  }) => plus(plus(stateReads, stateWrites), plus(historyReads, historyWrites)),
  "FILL(schedule, 0)+FILL(sync, 0)": ({ schedule, sync }) => plus(schedule, sync),
};

const statistic = (kind: string, values: readonly number[]): Datapoint => {
  if (values.length === 0) return undefined;
  if (kind === "Sum") return values.reduce((sum, value) => sum + value, 0);
  if (kind === "Maximum") return Math.max(...values);
  const percentile = /^p(\d+)$/.exec(kind)?.[1];
  if (percentile === undefined) throw new RangeError(`Cannot take the statistic "${kind}"`);
  return values.toSorted((one, other) => one - other)[
    Math.ceil((values.length * Number(percentile)) / 100) - 1
  ];
};

const dimensionsOf = (list: z.infer<typeof named> = []): unknown =>
  Object.fromEntries(list.map(({ Name, Value }) => [Name, Value]));

/**
 * True where the alarm of the template would fire on these minutes, the last of which is the
 * newest. Each is the samples of one minute.
 */
export const fires = (
  properties: Resource["Properties"],
  minutes: readonly (readonly Sample[])[],
): boolean => {
  const alarm = alarmSchema.parse(properties);
  const valueIn = (minute: readonly Sample[], kind: string, key: string): Datapoint =>
    statistic(
      kind,
      minute.filter((sample) => sample.key === key).map(({ value }) => value),
    );
  const datapoint = (minute: readonly Sample[]): Datapoint => {
    const {
      Namespace = "",
      MetricName = "",
      Dimensions,
      Statistic,
      ExtendedStatistic,
      Metrics: queries,
    } = alarm;
    if (!queries)
      return valueIn(
        minute,
        Statistic ?? ExtendedStatistic ?? "",
        keyOf({ namespace: Namespace, name: MetricName, dimensions: dimensionsOf(Dimensions) }),
      );
    const values = queries.flatMap(({ Id, MetricStat }) => {
      if (!MetricStat) return [];
      const { Namespace: namespace, MetricName: name, Dimensions: list } = MetricStat.Metric;
      return [
        [
          Id,
          valueIn(
            minute,
            MetricStat.Stat,
            keyOf({ namespace, name, dimensions: dimensionsOf(list) }),
          ),
        ] as const,
      ];
    });
    const text = queries.find(({ Expression }) => Expression !== undefined)?.Expression ?? "";
    const expression = EXPRESSIONS[text];
    if (!expression) throw new RangeError(`Cannot evaluate the expression "${text}"`);
    return expression(Object.fromEntries(values));
  };
  const { EvaluationPeriods, DatapointsToAlarm, ComparisonOperator, Threshold, TreatMissingData } =
    alarm;
  // Minutes before the first one had no samples.
  const window = Array.from(
    { length: EvaluationPeriods },
    (_, back) => minutes.at(-1 - back) ?? [],
  );
  const breaching = window.filter((minute) => {
    const value = datapoint(minute);
    if (value === undefined) return TreatMissingData === "breaching";
    return ComparisonOperator === "GreaterThanThreshold" ? value > Threshold : value < Threshold;
  });
  return breaching.length >= DatapointsToAlarm;
};
