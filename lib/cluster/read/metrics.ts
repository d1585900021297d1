import { foreignWords } from "../../model/foreign-words.ts";
import type { Answer, CustomMetricValue, ExternalMetricValue, PodMetrics } from "../../model/observation.ts";
import { asList, asName, asObject, asTexts } from "./json.ts";
import { readAmounts, readMilli } from "./pod-amounts.ts";
import { readDuration, readTime } from "./time.ts";

/** Window of a custom metric value without a window (hpa.md 2.5). */
const DEFAULT_WINDOW_MS = 60_000;

/** Items of a metrics.k8s.io PodMetricsList. */
export const readPodMetrics = (items: unknown): readonly PodMetrics[] =>
  asList(items).map((raw) => {
    const metrics = asObject(raw);
    const metadata = asObject(metrics["metadata"]);
    return {
      name: asName(metadata["name"]),
      labels: asTexts(metadata["labels"]),
      timestampMs: readTime(metrics["timestamp"]) ?? 0,
      windowMs: readDuration(metrics["window"]) ?? 0,
      containers: asList(metrics["containers"]).map((container) => ({
        name: asName(asObject(container)["name"]),
        usage: readAmounts(asObject(container)["usage"]),
      })),
    };
  });

/** Items of a custom.metrics.k8s.io MetricValueList. One value that is not a quantity fails the whole answer: a sum without it would be too small. */
export const readCustomValues = (items: unknown): Answer<readonly CustomMetricValue[]> =>
  readValues(items, (value, milli) => ({
    describes: asName(asObject(value["describedObject"])["name"]),
    milli,
    timestampMs: readTime(value["timestamp"]) ?? 0,
    windowMs: typeof value["windowSeconds"] === "number" ? value["windowSeconds"] * 1000 : DEFAULT_WINDOW_MS,
  }));

/** Items of an external.metrics.k8s.io ExternalMetricValueList. */
export const readExternalValues = (items: unknown): Answer<readonly ExternalMetricValue[]> =>
  readValues(items, (value, milli) => ({ milli, timestampMs: readTime(value["timestamp"]) ?? 0 }));

const readValues = <Item>(items: unknown, read: (value: Readonly<Record<string, unknown>>, milli: bigint) => Item): Answer<readonly Item[]> => {
  // Fails to a missing metric: an answer without its items would look like a metric without values.
  if (!Array.isArray(items) && items !== null) return invalid("the answer has no list of items");
  const values: Item[] = [];
  for (const raw of asList(items)) {
    const value = asObject(raw);
    const milli = readMilli(value["value"]);
    if (milli === undefined)
      return invalid(`the answer holds ${foreignWords(JSON.stringify(value["value"]) ?? "nothing")} where a quantity is expected`);
    values.push(read(value, milli));
  }
  return { kind: "answered", items: values };
};

const invalid = (message: string): Answer<never> => ({ kind: "failed", failure: { code: 0, reason: "InvalidAnswer", message } });
