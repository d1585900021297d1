import { asObject } from "../../rules/model/json.ts";
import type { AutoscalerSpec } from "../../rules/model/spec.ts";
import type { MetricStatus } from "../../rules/model/windows.ts";
import { askDialect } from "../../rules/policy/dialects.ts";
import type { MetricReading } from "../report/metric-reading.ts";
import type { Evaluation } from "../../rules/model/scale-records.ts";

type Measured = Pick<Evaluation, "metrics" | "status">;

/**
 * Every metric of the spec, as the sync measured it. A workload outside its bounds measures
 * nothing, and one at rest only its activation. A failed metric takes its target from the spec,
 * which has them in the same order. After a change of the spec the evaluation's metrics are shown.
 */
export const metricReadings = (
  spec: AutoscalerSpec | undefined,
  evaluation: Measured | undefined,
): readonly MetricReading[] => {
  const measured = evaluation ? withAverages(evaluation) : [];
  if (!spec) return measured;
  const wanted = unmeasured(spec);
  const whole = measured.length === wanted.length ? measured : completed(measured, wanted);
  // As a rule none has failed, and a summary reads the metrics of all autoscalers.
  if (!whole.some(({ kind }) => kind === "failed")) return whole;
  return whole.map((metric, at) =>
    metric.kind === "failed" ? { ...metric, target: wanted[at]?.target ?? "none" } : metric,
  );
};

/**
 * The metrics of a spec with their targets, before the first measurement. They are made once for a
 * spec, which stays in memory from sync to sync.
 */
export const unmeasured = (spec: AutoscalerSpec): readonly MetricReading[] => {
  const known = made.get(spec);
  if (known) return known;
  const readings = askDialect(spec, ({ explains }, own) => explains.targets(own)).map((metric) => ({
    kind: "unmeasured" as const,
    ...metric,
  }));
  made.set(spec, readings);
  return readings;
};

const made = new WeakMap<AutoscalerSpec, readonly MetricReading[]>();

const completed = (
  measured: readonly MetricReading[],
  wanted: readonly MetricReading[],
): readonly MetricReading[] =>
  measured.every(({ name }) => wanted.some((metric) => metric.name === name))
    ? wanted.map((metric) => measured.find(({ name }) => name === metric.name) ?? metric)
    : measured;

/**
 * The metrics of an evaluation. Each percentage has the amount per pod behind it, as in `kubectl
 * describe hpa`. The amounts come from the status, which has a slot per metric in the same order.
 */
const withAverages = ({ metrics, status }: Measured): readonly MetricReading[] => {
  const slots = status?.currentMetrics ?? [];
  if (slots.length !== metrics.length) return metrics;
  return metrics.map((metric, at) => {
    const average =
      metric.kind === "measured" && metric.value.endsWith("%") ? averageIn(slots[at]) : undefined;
    return average === undefined ? metric : { ...metric, average };
  });
};

const averageIn = (slot: MetricStatus | undefined): string | undefined => {
  const source = slot?.["resource"] ?? slot?.["containerResource"];
  const average = asObject(asObject(source)["current"])["averageValue"];
  return typeof average === "string" ? average : undefined;
};
