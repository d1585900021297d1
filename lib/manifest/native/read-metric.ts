import { floatOf, milliOf, type Quantity } from "../../model/quantity.ts";
import type { Band, NativeMetric, NativeSource, OnMissing } from "../../model/spec-native.ts";
import { type AnySource, namedBy, SOURCE_NAMES, type SourceName, sourceNamed } from "../../sources/sources.ts";
import type { MetricRead } from "./spec-fields.ts";

export const sourcesOf = (read: MetricRead): readonly SourceName[] => SOURCE_NAMES.filter((name) => read[name] !== undefined);

/** The first source of the metric with what the manifest says of it; a metric without any is read as a resource without a name. */
const readSource = (read: MetricRead): readonly [AnySource, Readonly<Record<string, unknown>>, SourceName] => {
  for (const name of SOURCE_NAMES) {
    const block = read[name];
    if (block !== undefined) return [sourceNamed(name), { ...block }, name];
  }
  return [sourceNamed("resource"), {}, "resource"];
};

export const measureOf = (read: MetricRead): NativeMetric["measure"] => read.measure ?? readSource(read)[0].measures[0];

/** The given name, or the name of the source. */
export const nameOf = (read: MetricRead): string => {
  if (read.name) return read.name;
  const [, block, name] = readSource(read);
  const fields = namedBy(name);
  const [given] = fields.map((field) => block[field]).filter((value) => typeof value === "string" && value !== "");
  return String(given ?? (fields.length === 0 ? name : ""));
};

/** Converts a valid metric. Members that validation requires fall back to zero values. */
export const metricOf = (read: MetricRead): NativeMetric => ({
  name: nameOf(read),
  source: sourceOf(read),
  measure: measureOf(read),
  ...(read.input && { input: true as const }),
  band: bandOf(read),
  scaleUpOnly: read.scaleUpOnly,
  onMissing: onMissingOf(read.onMissing),
  ...timesOf(read),
  ...(read.activation && { activationMilli: milliOf(read.activation) }),
});

/** The default age is the time of three answers: then two of them were lost. A source whose values are old when they come adds their age. */
const timesOf = (read: MetricRead): Pick<NativeMetric, "everyMs" | "maxAgeMs"> => {
  if (!isOfRegistered(read)) return {};
  const [source, block] = readSource(read);
  const own = source.times?.(block);
  const everySeconds = read.everySeconds ?? own?.everySeconds;
  const { maxAgeSeconds = Math.max(LEAST_AGE_SECONDS, 3 * (everySeconds ?? 0), own?.leastAgeSeconds ?? 0) } = read;
  return { ...(everySeconds !== undefined && { everyMs: everySeconds * SECOND_MS }), maxAgeMs: maxAgeSeconds * SECOND_MS };
};

const LEAST_AGE_SECONDS = 180;
const SECOND_MS = 1_000;

export const isOfRegistered = (read: MetricRead): boolean => readSource(read)[0].asking.way === "registered";

const sourceOf = (read: MetricRead): NativeSource => {
  const [source, block] = readSource(read);
  return source.specOf(block);
};

const level = (quantity: Quantity | undefined): bigint => (quantity ? milliOf(quantity) : 0n);

const bandOf = ({ target, tolerance, watermarks }: MetricRead): Band => {
  if (watermarks) return { kind: "watermarks", lowMilli: level(watermarks.low), highMilli: level(watermarks.high) };
  return {
    kind: "target",
    milli: level(target),
    ...(tolerance?.up && { toleranceUp: floatOf(tolerance.up) }),
    ...(tolerance?.down && { toleranceDown: floatOf(tolerance.down) }),
  };
};

const onMissingOf = ({ action, replicas = 1, afterSeconds = 0 }: MetricRead["onMissing"]): OnMissing =>
  action === "fallback" ? { action, replicas, afterSeconds } : { action };
