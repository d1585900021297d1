import * as z from "zod";
import type { Json } from "../../model/json.ts";
import { firstOfEach, type Problem, warnIf, type Warning } from "../../fields/problem.ts";
import { objectOf } from "../../fields/shape.ts";
import { decimalText, floatOf, milliOf, parseQuantity } from "../../model/quantity.ts";
import { WATERMARK_ANNOTATIONS, type WatermarkAnnotations } from "../../model/spec.ts";
import type { WatermarkSpec } from "../../model/spec-watermark.ts";
import { type AdmitForm, metadataOf, metadataProblems } from "../form.ts";
import { apiProblems, rulesProblems } from "../hpa/api-problems.ts";
import { HEAD } from "../hpa/v2-shape.ts";
import { LEAST_MAXIMUM, LEAST_MINIMUM, NAME_RULES, RECOMMENDER_URL, SETTINGS } from "./fields.ts";
import {
  type Defaulted,
  defaulted,
  manifestMetric,
  WATERMARK_SPEC,
  type WatermarkManifestSpec,
  watermarkSpecFrom,
} from "./shape.ts";
import { watermarkSpecOf } from "./spec.ts";
import { breaches } from "./validity.ts";

const DOCUMENT = objectOf({ ...HEAD, spec: WATERMARK_SPEC });

/** The form of the fields, and the counts that the rules use. */
export interface WatermarkForm {
  readonly counts: WatermarkSpec["counts"];
  readonly apiVersion: string;
  readonly kind: string;
}

/**
 * Admits a WatermarkPodAutoscaler: the schema's bounds, the defaults, then the controller's own
 * rules (watermark.md 1).
 */
export const admitWatermarkAs =
  ({ counts, ...form }: WatermarkForm): AdmitForm =>
  (document, context, old) => {
    const read = DOCUMENT(document, "", context);
    const draft = watermarkSpecFrom(read?.spec ?? {});
    const metadata = metadataOf(read?.metadata);
    const spec = defaulted(draft, counts);
    context.warnings.push(...warningsOf(spec, metadata.annotations));
    const broken = breaches(spec, counts);
    const problems = [
      ...metadataProblems(metadata, old?.metadata),
      ...schemaProblems(draft),
      ...broken,
    ];
    return {
      metadata,
      // The schema comes before the rule of the controller.
      problems: firstOfEach(problems),
      spec: watermarkSpecOf(
        draft,
        metadata.annotations,
        { skipNotScalingEvents: false, clusterName: "", counts },
        spec,
        broken,
      ),
      stored: { ...form, spec: storedSpec(spec) },
      meaning: { spec, annotations: metadata.annotations },
    };
  };

const MARKS = ["highWatermark", "lowWatermark"] as const;

/** Thousandths of 64 bits wrap, in the controller as here (hpa.md 0.4). */
const hugeWarning = (mark: string | undefined, of: string): readonly Warning[] => {
  const quantity = mark === undefined ? undefined : parseQuantity(mark);
  return warnIf(
    quantity !== undefined && Math.abs(floatOf(quantity)) * 1_000 >= 2 ** 63,
    of,
    `${mark} has more thousandths than 64 bits hold, so that it is read as ${quantity && decimalText(milliOf(quantity))}`,
    "write a smaller number",
  );
};

/** In the order of the schema. Absent fields are not checked. */
const BOUNDED = [
  "upscaleDelayAboveWatermarkSeconds",
  "downscaleDelayBelowWatermarkSeconds",
  "upscaleForbiddenWindowSeconds",
  "downscaleForbiddenWindowSeconds",
  "replicaScalingAbsoluteModulo",
  "readinessDelaySeconds",
  "minAvailableReplicaPercentage",
] as const;

const schemaProblems = (spec: WatermarkManifestSpec): readonly Problem[] => [
  ...rulesProblems([LEAST_MINIMUM], spec, "spec"),
  ...BOUNDED.flatMap((name) => apiProblems(SETTINGS[name], spec[name], `spec.${name}`)),
  ...rulesProblems([LEAST_MAXIMUM], spec, "spec"),
  ...spec.metrics.flatMap((metric, index) =>
    rulesProblems(NAME_RULES, manifestMetric(metric), `spec.metrics[${index}]`),
  ),
  ...(spec.recommender
    ? apiProblems(RECOMMENDER_URL, spec.recommender.url, "spec.recommender.url")
    : []),
];

const warningsOf = (
  spec: WatermarkManifestSpec,
  annotations: WatermarkAnnotations,
): readonly Warning[] => {
  const { metrics, recommender, algorithm, convergeTowardsWatermark: converge } = spec;
  const hasMarks =
    recommender?.highWatermark !== undefined && recommender.lowWatermark !== undefined;
  const attributes = logAttributes(annotations);
  const annotation = `metadata.annotations["${WATERMARK_ANNOTATIONS.logAttributes}"]`;
  return [
    ...warnIf(
      metrics.length === 0 && !recommender,
      "spec.metrics",
      "without metrics or a recommender only the bounds have an effect",
      "write at least one metric",
    ),
    ...warnIf(
      recommender !== undefined && !hasMarks,
      "spec.recommender",
      "a recommender needs both watermarks, and is not called without them",
      "write highWatermark and lowWatermark",
    ),
    ...warnIf(
      spec.scaleTargetRef.apiVersion === "",
      "spec.scaleTargetRef.apiVersion",
      "an empty apiVersion means the core group, which has no Deployment",
      "write apiVersion: apps/v1",
    ),
    ...warnIf(
      !["average", "absolute"].includes(algorithm),
      "spec.algorithm",
      `"${algorithm}" is read as absolute`,
      "write absolute or average",
    ),
    ...warnIf(
      !["", "highwatermark", "lowwatermark"].includes(converge),
      "spec.convergeTowardsWatermark",
      `"${converge}" means off`,
      "write highwatermark or lowwatermark",
    ),
    ...metrics.flatMap(({ external, resource }, index) =>
      Object.entries({ external, resource }).flatMap(([field, marks]) =>
        MARKS.flatMap((mark) =>
          hugeWarning(marks?.[mark], `spec.metrics[${index}].${field}.${mark}`),
        ),
      ),
    ),
    ...(attributes.kind === "unreadable"
      ? warnIf(true, annotation, attributes.message, "write a JSON object")
      : []),
  ];
};

/** The spec with defaults, as the controller writes it back. */
const storedSpec = ({ metrics, recommender, ...rest }: Defaulted): Json => ({
  ...withoutEmpty({
    ...rest,
    scaleTargetRef: withoutEmpty({ ...rest.scaleTargetRef }),
    metrics: metrics.length === 0 ? undefined : metrics.map(manifestMetric),
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

const withoutEmpty = (members: Json): Json =>
  Object.fromEntries(
    Object.entries(members).filter(
      ([, value]) => value !== undefined && value !== "" && value !== 0 && value !== false,
    ),
  );

const shape = z.record(z.string(), z.unknown());

/**
 * Reads the annotation `wpa.datadoghq.com/logs-attributes` for the log lines of its autoscaler. A
 * failure only warns (watermark.md 1.4, 2.2).
 */
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
