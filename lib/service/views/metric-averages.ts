import type { Evaluation } from "../../model/records.ts";
import type { MetricStatus } from "../../model/windows.ts";
import type { MetricView } from "./autoscaler-view.ts";

/**
 * The metrics of an evaluation. Each percentage has the amount per pod behind it, as in `kubectl describe hpa`. The amounts come from the status, which has a
 * slot per metric in the same order.
 */
export const withAverages = ({ metrics, status }: Pick<Evaluation, "metrics" | "status">): readonly MetricView[] => {
  const slots = status?.currentMetrics ?? [];
  if (slots.length !== metrics.length) return metrics;
  return metrics.map((metric, at) => {
    const average = metric.kind === "measured" && metric.value.endsWith("%") ? averageIn(slots[at]) : undefined;
    return average === undefined ? metric : { ...metric, average };
  });
};

const averageIn = (slot: MetricStatus | undefined): string | undefined => {
  const source = slot?.["resource"] ?? slot?.["containerResource"];
  const average = field(field(source, "current"), "averageValue");
  return typeof average === "string" ? average : undefined;
};

const field = (value: unknown, name: string): unknown => (typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined);
