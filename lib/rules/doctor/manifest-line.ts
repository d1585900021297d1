import { asList, asObject, asText, type Json } from "../model/json.ts";

/** A manifest as it was given, of any kind. */
export type Manifest = Json;

/** A field of a manifest, and what is written there. */
export interface ManifestLine {
  readonly field: string;
  readonly value?: string;
}

const SEGMENT = /[^.[\]]+/g;

/** The line of a field such as `spec.metrics[0].target`; without a value where none is written. */
export const lineOf = (manifest: Manifest, field: string): ManifestLine => {
  const value = partOf(manifest, field);
  return value === undefined ? { field } : { field, value: textOf(value) };
};

/** What a manifest has at a field. */
export const partOf = (manifest: Manifest, field: string): unknown =>
  (field.match(SEGMENT) ?? []).reduce<unknown>(
    (part, segment) => (Array.isArray(part) ? part[Number(segment)] : asObject(part)[segment]),
    manifest,
  );

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);

/** Where the level of a metric is written, by the kinds and versions that are accepted. */
const LEVELS = [
  "target",
  "watermarks.high",
  "target.averageUtilization",
  "target.averageValue",
  "target.value",
  "targetAverageUtilization",
  "targetAverageValue",
  "targetValue",
  "highWatermark",
] as const;

/** Where the level is written in forms that have one metric, and no list of metrics. */
const SINGLE_LEVELS = [
  "spec.targetCPUUtilizationPercentage",
  "spec.cpuUtilization.targetPercentage",
  "spec.hpa.cpuUtilization.targetPercentage",
] as const;

/** Where a list of metrics is written: a PodAutoscaler has it inside the rules that it names. */
const LISTS = ["spec.metrics", "spec.hpa.metrics", "spec.watermark.metrics"] as const;

/**
 * The line with the level that a metric is compared with. Metrics of a manifest and of an
 * evaluation are in the same order; where a manifest has another number of them, as the oldest form
 * of an HPA has, the line of the whole list.
 */
export const levelLine = (manifest: Manifest, at: number, of: number): ManifestLine => {
  const { field } = metricLine(manifest, at, of);
  const metric = asObject(partOf(manifest, field));
  // The part of an HPA and of a WatermarkPodAutoscaler has the name of its type.
  const type = asText(metric["type"]);
  const source = type === "" ? field : `${field}.${type.charAt(0).toLowerCase()}${type.slice(1)}`;
  for (const place of [field, source])
    for (const level of LEVELS) {
      const line = lineOf(manifest, `${place}.${level}`);
      if (line.value !== undefined && !line.value.startsWith("{")) return line;
    }
  return singleLevel(manifest) ?? { field: source };
};

/** The place of a metric, where it is not its level that is to be changed. */
export const metricLine = (manifest: Manifest, at: number, of: number): ManifestLine => {
  const list = LISTS.find((place) => asList(partOf(manifest, place)).length > 0) ?? LISTS[0];
  if (asList(partOf(manifest, list)).length === of) return { field: `${list}[${at}]` };
  return singleLevel(manifest) ?? { field: list };
};

const singleLevel = (manifest: Manifest): ManifestLine | undefined =>
  SINGLE_LEVELS.map((field) => lineOf(manifest, field)).find(({ value }) => value !== undefined);

/** A place outside the manifest: the workload that it scales. */
export const workloadPlace = (
  { kind, name }: { readonly kind: string; readonly name: string },
  field: string,
): ManifestLine => ({ field: `${kind} "${name}": ${field}` });
