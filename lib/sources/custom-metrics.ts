import { asName, asObject, type Json, readTime } from "../model/json.ts";
import type { MetricValue } from "../model/observation.ts";

/** The API of the metrics of pods and objects. The newest version first, in the order of preference of the controller. */
export const CUSTOM_METRICS = {
  group: "custom.metrics.k8s.io",
  versions: ["v1beta2", "v1beta1"],
  absent: "no custom metrics API (custom.metrics.k8s.io) registered",
} as const;

/** Window of a custom metric value without a window (hpa.md 2.5). */
const DEFAULT_WINDOW_MS = 60_000;

/** One item of a custom.metrics.k8s.io MetricValueList. */
export const customValue = (value: Json, milli: bigint): MetricValue => ({
  describes: asName(asObject(value["describedObject"])["name"]),
  milli,
  timestampMs: readTime(value["timestamp"]) ?? 0,
  windowMs: typeof value["windowSeconds"] === "number" ? value["windowSeconds"] * 1000 : DEFAULT_WINDOW_MS,
});
