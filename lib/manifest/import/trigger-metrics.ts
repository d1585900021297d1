import type { Json } from "../../fields/json.ts";
import { isObject } from "../../model/json.ts";
import type { Detail } from "./finding.ts";
import { kedaCron } from "./schedules/actions.ts";

const object = (value: unknown): Json => (isObject(value) ? value : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The metrics of all triggers; undefined where one of them is not known. */
export interface TriggerMetrics {
  readonly metrics: readonly unknown[] | undefined;
  /** Entries of a schedule, of triggers `cron`. */
  readonly schedule: readonly Json[];
  readonly details: readonly Detail[];
}

/**
 * Each trigger as a metric of an HPA: cpu and memory by themselves, a cron trigger beside others as an entry of a schedule, any other as the external metric that KEDA serves under the name in
 * its HPA. Cron triggers without another one stay metrics of KEDA: a schedule has no metric that lets the count fall after its windows.
 */
export const triggerMetrics = (spec: Json, { hpaSpec, most }: { readonly hpaSpec: Json | undefined; readonly most: number }): TriggerMetrics => {
  const triggers = list(spec["triggers"]).map(object);
  const formula = object(object(spec["advanced"])["scalingModifiers"])["formula"] !== undefined;
  const isCron = (trigger: Json): boolean => trigger["type"] === "cron" && !formula && triggers.some(({ type }) => type !== "cron");
  const read = triggers.map((trigger, index): ReadTrigger => {
    const cron = isCron(trigger) ? kedaCron(trigger, { index, most }) : undefined;
    return cron && cron.entries.length > 0 ? cron : metricOf(trigger, { index, hpaSpec, formula });
  });
  const schedule = read.flatMap(({ entries = [] }) => entries);
  const lost = read.some(({ detail }) => detail?.severity === "lost") || triggers.length === 0;
  const details = [...read.flatMap(({ detail }) => detail ?? []), ...(triggers.length === 0 ? [NO_TRIGGER] : [])];
  if (lost) return { metrics: undefined, schedule, details };
  const metrics = read.flatMap(({ metric }) => metric ?? []);
  return { metrics: formula ? [...metrics, ...externalMetrics(hpaSpec)] : metrics, schedule, details };
};

const NO_TRIGGER: Detail = { of: "spec.triggers", severity: "lost", message: "it has no trigger" };

interface TriggerPlace {
  readonly index: number;
  readonly hpaSpec: Json | undefined;
  /** True where one calculated metric stands for the metrics of all triggers but cpu and memory. */
  readonly formula: boolean;
}

interface ReadTrigger {
  readonly entries?: readonly Json[];
  readonly metric?: unknown;
  readonly detail?: Detail;
}

const metricOf = (trigger: Json, among: TriggerPlace): ReadTrigger => {
  const type = String(trigger["type"]);
  return type === "cpu" || type === "memory" ? resourceMetric(trigger, type, among.index) : externalMetric(type, among);
};

const label = (index: number, type: string): string => `spec.triggers[${index}] (${type})`;

/** `metadata.type` is what earlier versions of KEDA call `metricType`. */
const resourceMetric = (trigger: Json, type: "cpu" | "memory", index: number): ReadTrigger => {
  const { value, containerName, type: formerType } = object(trigger["metadata"]);
  const kind = trigger["metricType"] ?? formerType ?? "Utilization";
  const target = targetOf(String(kind), value);
  if (target === undefined)
    return {
      detail: lostTrigger(index, type, `its metricType "${String(kind)}" with the value "${String(value)}" is no target of a resource metric`),
    };
  if (typeof containerName === "string" && containerName !== "")
    return { metric: { type: "ContainerResource", containerResource: { name: type, container: containerName, target } } };
  return { metric: { type: "Resource", resource: { name: type, target } } };
};

const targetOf = (kind: string, value: unknown): Json | undefined => {
  if (kind === "AverageValue" && typeof value === "string" && value !== "") return { type: "AverageValue", averageValue: value };
  const percent = Number(value);
  return kind === "Utilization" && Number.isInteger(percent) && percent > 0 ? { type: "Utilization", averageUtilization: percent } : undefined;
};

const externalMetric = (type: string, { index, hpaSpec, formula }: TriggerPlace): ReadTrigger => {
  if (hpaSpec === undefined)
    return {
      detail: lostTrigger(
        index,
        type,
        "KEDA's HPA of this ScaledObject does not exist, so that name and target of its external metric are not known",
      ),
    };
  const served = externalMetrics(hpaSpec);
  const own = served.find((metric) => nameOf(metric).startsWith(`s${index}-`));
  if (formula && served.length > 0) return { detail: dependsOnKeda(index, type, "is a part of the metric that KEDA calculates") };
  if (own === undefined) return { detail: lostTrigger(index, type, `KEDA's HPA has no external metric of it: none begins with "s${index}-"`) };
  return { metric: own, detail: dependsOnKeda(index, type, `is the external metric "${nameOf(own)}"`) };
};

const externalMetrics = (hpaSpec: Json | undefined): readonly Json[] =>
  list(hpaSpec?.["metrics"])
    .map(object)
    .filter(({ type }) => type === "External");

const nameOf = (metric: Json): string => String(object(object(metric["external"])["metric"])["name"]);

const lostTrigger = (index: number, type: string, message: string): Detail => ({ of: label(index, type), severity: "lost", message });

const dependsOnKeda = (index: number, type: string, words: string): Detail => ({
  of: label(index, type),
  severity: "changed",
  message: `it ${words}, which KEDA serves while it runs and the ScaledObject exists: keep both, with the ScaledObject paused`,
});
