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
  const value = (field.match(SEGMENT) ?? []).reduce<unknown>(
    (part, segment) => (Array.isArray(part) ? part[Number(segment)] : asObject(part)[segment]),
    manifest,
  );
  return value === undefined ? { field } : { field, value: textOf(value) };
};

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

/**
 * The line with the level that a metric is compared with. Metrics of a manifest and of an
 * evaluation are in the same order; where a manifest has another number of them, as the oldest form
 * of an HPA has, the line of the whole list.
 */
export const levelLine = (manifest: Manifest, at: number, of: number): ManifestLine => {
  const metrics = asList(asObject(manifest["spec"])["metrics"]);
  const metric = asObject(metrics[at]);
  if (metrics.length !== of) {
    const field = "spec.targetCPUUtilizationPercentage";
    const old = lineOf(manifest, field);
    return old.value === undefined ? { field: "spec.metrics" } : old;
  }
  const path = `spec.metrics[${at}]`;
  // The part of an HPA and of a WatermarkPodAutoscaler has the name of its type.
  const type = asText(metric["type"]);
  const source = type === "" ? path : `${path}.${type.charAt(0).toLowerCase()}${type.slice(1)}`;
  for (const place of [path, source])
    for (const level of LEVELS) {
      const line = lineOf(manifest, `${place}.${level}`);
      if (line.value !== undefined && !line.value.startsWith("{")) return line;
    }
  return lineOf(manifest, source);
};

/** A place outside the manifest: the workload that it scales. */
export const workloadPlace = (
  { kind, name }: { readonly kind: string; readonly name: string },
  field: string,
): ManifestLine => ({ field: `${kind} "${name}": ${field}` });
