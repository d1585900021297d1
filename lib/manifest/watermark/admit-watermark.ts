import * as z from "zod";
import { type Json, present } from "../../fields/json.ts";
import { invalid, type Problem, required } from "../../fields/problem.ts";
import { objectOf, type ReadContext } from "../../fields/shape.ts";
import { WATERMARK_ANNOTATIONS, type WatermarkAnnotations } from "../../model/spec.ts";
import type { WatermarkSpec } from "../../model/spec-watermark.ts";
import { type AdmitForm, metadataOf, metadataProblems } from "../form.ts";
import { HEAD } from "../hpa/v2-shape.ts";
import {
  type Defaulted,
  defaulted,
  WATERMARK_SPEC_FIELDS,
  type WatermarkManifestMetric,
  type WatermarkManifestSpec,
  watermarkSpecFrom,
} from "./shape.ts";
import { watermarkSpecOf } from "./spec.ts";
import { breaches } from "./validity.ts";

const DOCUMENT = objectOf({ ...HEAD, spec: objectOf(WATERMARK_SPEC_FIELDS) });

/** The form of the fields, and the counts that the rules use. */
export interface WatermarkForm {
  readonly counts: WatermarkSpec["counts"];
  readonly apiVersion: string;
  readonly kind: string;
}

/** Admits a WatermarkPodAutoscaler: the schema's bounds, the defaults, then the controller's own rules (watermark.md 1). */
export const admitWatermarkAs =
  ({ counts, ...form }: WatermarkForm): AdmitForm =>
  (document, context, old) => {
    const read = DOCUMENT(document, "", context);
    const draft = watermarkSpecFrom(read?.spec ?? {});
    const metadata = metadataOf(read?.metadata);
    const spec = defaulted(draft, counts);
    context.warnings.push(...warningsOf(spec, metadata.annotations));
    const problems = [...metadataProblems(metadata, old?.metadata), ...schemaProblems(draft), ...breaches(spec, counts).map(problemOf)];
    return {
      metadata,
      problems: uniqueByField(problems),
      spec: watermarkSpecOf(draft, metadata.annotations, { skipNotScalingEvents: false, clusterName: "", counts }),
      stored: { ...form, spec: storedSpec(spec) },
      meaning: { spec, annotations: metadata.annotations },
    };
  };

/** One problem per field; the schema comes before the controller's rule. */
const uniqueByField = (problems: readonly Problem[]): readonly Problem[] =>
  [...Map.groupBy(problems, ({ field }) => field).values()].flatMap(([first]) => first ?? []);

type Bounded = keyof WatermarkManifestSpec;

/** Least values of the schema; absent fields are not checked. */
const LEAST: Readonly<Partial<Record<Bounded, number>>> = {
  minReplicas: 1,
  upscaleDelayAboveWatermarkSeconds: 0,
  downscaleDelayBelowWatermarkSeconds: 0,
  upscaleForbiddenWindowSeconds: 0,
  downscaleForbiddenWindowSeconds: 0,
  replicaScalingAbsoluteModulo: 1,
  readinessDelaySeconds: 0,
};
const MOST_PERCENT = 100;

const schemaProblems = (spec: WatermarkManifestSpec): readonly Problem[] => {
  const problems: Problem[] = Object.entries(LEAST).flatMap(([name, least]) => {
    const value = spec[name as Bounded];
    return typeof value === "number" && value < least
      ? [invalid(`spec.${name}`, `must be greater than or equal to ${least}`, `write ${least} or more`)]
      : [];
  });
  if (spec.minAvailableReplicaPercentage > MOST_PERCENT)
    problems.push(invalid("spec.minAvailableReplicaPercentage", `must be less than or equal to ${MOST_PERCENT}`, "write a percentage up to 100"));
  if (spec.maxReplicas < 1)
    problems.push(required("spec.maxReplicas", "must be greater than or equal to 1", "write the largest count of the workload"));
  return [...problems, ...spec.metrics.flatMap(metricProblems), ...recommenderProblems(spec)];
};

const metricProblems = (metric: WatermarkManifestMetric, index: number): readonly Problem[] => {
  const member = metric.type === "Resource" ? "resource" : "external";
  const field = `spec.metrics[${index}].${member}.${member === "external" ? "metricName" : "name"}`;
  return metric[member] && metric[member].name === "" ? [required(field, "", "name the metric")] : [];
};

const recommenderProblems = ({ recommender }: WatermarkManifestSpec): readonly Problem[] => {
  if (!recommender) return [];
  if (recommender.url === "") return [required("spec.recommender.url", "", "write its address, http:// or https://")];
  return URL.canParse(recommender.url) && /^https?:$/.test(new URL(recommender.url).protocol)
    ? []
    : [invalid("spec.recommender.url", "must be an http or https address", "write it with its scheme, such as https://recommender.example/v1")];
};

const problemOf = ({ field, message }: { readonly field: string; readonly message: string }): Problem =>
  invalid(field, message, FIXES[lastName(field)] ?? "see docs/manifests.md for this field");

const lastName = (field: string): string => field.slice(field.lastIndexOf(".") + 1);

const FIXES: Readonly<Record<string, string>> = {
  scaleTargetRef: "name kind and name of the workload to scale",
  maxReplicas: "write maxReplicas not below minReplicas",
  tolerance: 'write a share such as "0.1" or 100m',
  scaleUpLimitFactor: "write a percentage that is not negative",
  scaleDownLimitFactor: "write a percentage from 0 to below 100",
  recommender: "keep one of recommender and metrics",
  type: "write External or Resource",
  external: "write the block external with metricName, metricSelector and at least one watermark",
  resource: "write the block resource with name, metricSelector and at least one watermark",
  metricSelector: "write metricSelector, {} to select everything",
  lowWatermark: "write lowWatermark not above highWatermark",
};

const warningsOf = (spec: WatermarkManifestSpec, annotations: WatermarkAnnotations): ReadContext["warnings"] => {
  const warnings: ReadContext["warnings"] = [];
  if (spec.metrics.length === 0 && !spec.recommender)
    warnings.push({
      field: "spec.metrics",
      message: "without metrics or a recommender only the bounds have an effect",
      fix: "write at least one metric",
    });
  if (spec.recommender && (spec.recommender.highWatermark === undefined || spec.recommender.lowWatermark === undefined))
    warnings.push({
      field: "spec.recommender",
      message: "a recommender needs both watermarks, and is not called without them",
      fix: "write highWatermark and lowWatermark",
    });
  if (spec.scaleTargetRef.apiVersion === "")
    warnings.push({
      field: "spec.scaleTargetRef.apiVersion",
      message: "an empty apiVersion means the core group, which has no Deployment",
      fix: "write apiVersion: apps/v1",
    });
  if (spec.algorithm !== "average" && spec.algorithm !== "absolute")
    warnings.push({ field: "spec.algorithm", message: `"${spec.algorithm}" is read as absolute`, fix: "write absolute or average" });
  if (!["", "highwatermark", "lowwatermark"].includes(spec.convergeTowardsWatermark))
    warnings.push({
      field: "spec.convergeTowardsWatermark",
      message: `"${spec.convergeTowardsWatermark}" means off`,
      fix: "write highwatermark or lowwatermark",
    });
  const attributes = logAttributes(annotations);
  if (attributes.kind === "unreadable")
    warnings.push({
      field: `metadata.annotations["${WATERMARK_ANNOTATIONS.logAttributes}"]`,
      message: attributes.message,
      fix: "write a JSON object",
    });
  return warnings;
};

/** The spec with defaults, as the controller writes it back. */
const storedSpec = ({ metrics, recommender, ...rest }: Defaulted): Json => ({
  ...withoutEmpty({
    ...rest,
    scaleTargetRef: withoutEmpty({ ...rest.scaleTargetRef }),
    metrics: metrics.length === 0 ? undefined : metrics.map(storedMetric),
    recommender:
      recommender &&
      withoutEmpty({
        ...recommender,
        tls: undefined,
        tlsConfig: Object.keys(recommender.tls).length > 0 ? recommender.tls : undefined,
        settings: Object.keys(recommender.settings).length > 0 ? recommender.settings : undefined,
      }),
  }),
  // A window of 0 s is not the same as an absent one.
  upscaleForbiddenWindowSeconds: rest.upscaleForbiddenWindowSeconds,
  downscaleForbiddenWindowSeconds: rest.downscaleForbiddenWindowSeconds,
});

const storedMetric = ({ type, external, resource }: WatermarkManifestMetric): Json => {
  const block = ({ name: _name, ...marks }: NonNullable<WatermarkManifestMetric["external"]>): Json => ({ ...marks });
  return present({
    type,
    external: external && { metricName: external.name, ...block(external) },
    resource: resource && { name: resource.name, ...block(resource) },
  });
};

const withoutEmpty = (members: Json): Json =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== "" && value !== 0 && value !== false));

const shape = z.record(z.string(), z.unknown());

/** Reads the annotation `wpa.datadoghq.com/logs-attributes` for the log lines of its autoscaler. A failure only warns (watermark.md 1.4, 2.2). */
export const logAttributes = (
  annotations: WatermarkAnnotations,
):
  | { readonly kind: "none" }
  | { readonly kind: "read"; readonly attributes: Readonly<Record<string, unknown>> }
  | { readonly kind: "unreadable"; readonly message: string } => {
  const text = annotations[WATERMARK_ANNOTATIONS.logAttributes];
  if (text === undefined) return { kind: "none" };
  try {
    const attributes = shape.safeParse(JSON.parse(text));
    return attributes.success
      ? { kind: "read", attributes: attributes.data }
      : { kind: "unreadable", message: "the annotation is not a JSON object" };
  } catch (error) {
    if (error instanceof SyntaxError) return { kind: "unreadable", message: error.message };
    throw error;
  }
};
