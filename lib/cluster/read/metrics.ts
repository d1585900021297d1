import { foreignWords } from "../../model/foreign-words.ts";
import type { Answer, CustomMetricValue, ExternalMetricValue, PodMetrics } from "../../model/observation.ts";
import { asList, asName, asObject, asTexts, type Json } from "../../model/read/json.ts";
import { readAmounts, readMilli } from "../../model/read/amounts.ts";
import { readDuration, readTime } from "../../model/read/time.ts";

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

/** Reads the items of a list of metric values one by one. */
export interface ValuesReader<Item> {
  readonly take: (raw: Json) => void;
  /** One value that is not a quantity fails the whole answer: a sum without it would be too small. */
  readonly answer: () => Answer<readonly Item[]>;
}

/** Reads a custom.metrics.k8s.io MetricValueList. */
export const customValues = (): ValuesReader<CustomMetricValue> =>
  valuesReader((value, milli) => ({
    describes: asName(asObject(value["describedObject"])["name"]),
    milli,
    timestampMs: readTime(value["timestamp"]) ?? 0,
    windowMs: typeof value["windowSeconds"] === "number" ? value["windowSeconds"] * 1000 : DEFAULT_WINDOW_MS,
  }));

/** Reads an external.metrics.k8s.io ExternalMetricValueList. */
export const externalValues = (): ValuesReader<ExternalMetricValue> =>
  valuesReader((value, milli) => ({ milli, timestampMs: readTime(value["timestamp"]) ?? 0 }));

const valuesReader = <Item>(read: (value: Json, milli: bigint) => Item): ValuesReader<Item> => {
  const values: Item[] = [];
  let failure: Answer<never> | undefined;
  return {
    take: (raw) => {
      const milli = readMilli(raw["value"]);
      if (milli !== undefined) values.push(read(raw, milli));
      else failure ??= invalid(`the answer holds ${foreignWords(JSON.stringify(raw["value"]) ?? "nothing")} where a quantity is expected`);
    },
    answer: () => failure ?? { kind: "answered", items: values },
  };
};

export const readCustomValues = (items: unknown): Answer<readonly CustomMetricValue[]> => readAll(customValues(), items);

export const readExternalValues = (items: unknown): Answer<readonly ExternalMetricValue[]> => readAll(externalValues(), items);

/** Reads items that are there as a whole. A server in Go may write an empty list as null. */
export const readAll = <Item>({ take, answer }: ValuesReader<Item>, items: unknown): Answer<readonly Item[]> => {
  // Fails to a missing metric: an answer without its items would look like a metric without values.
  if (!Array.isArray(items) && items !== null) return invalid("the answer has no list of items");
  for (const raw of asList(items)) take(asObject(raw));
  return answer();
};

const invalid = (message: string): Answer<never> => ({ kind: "failed", failure: { code: 0, reason: "InvalidAnswer", message } });
