import { forbidden, type Problem } from "../problem.ts";
import { isObject } from "../shape.ts";

/** What of a manifest belongs to the multi-threshold form (proposals.md §5), looked at before its form reads it. */
type Members = Readonly<Record<string, unknown>>;

/** Fields of the spec that no other HPA has. */
const OWN_FIELDS = [
  "algorithm",
  "tolerance",
  "scaleUpLimitFactor",
  "scaleDownLimitFactor",
  "upscaleForbiddenWindowSeconds",
  "downscaleForbiddenWindowSeconds",
] as const;
const MARKS = ["highWatermark", "lowWatermark"] as const;
const BLOCKS = ["external", "resource", "pods", "object", "containerResource"] as const;
/** Plain targets of any HPA form, inside the block of a metric. The `target` of an old Object metric is the object that it describes. */
const TARGETS = ["target", "targetValue", "targetAverageValue", "targetAverageUtilization", "averageValue"] as const;

export const objectAt = (value: unknown, name: string): Members => {
  const member = isObject(value) ? value[name] : undefined;
  return isObject(member) ? member : {};
};

export const metricsOf = (document: unknown): readonly unknown[] => {
  const { metrics } = objectAt(document, "spec");
  return Array.isArray(metrics) ? metrics : [];
};

const isGiven = (members: Members, name: string): boolean => (members[name] ?? undefined) !== undefined;

const isMarked = (metric: unknown): boolean => BLOCKS.some((block) => MARKS.some((mark) => isGiven(objectAt(metric, block), mark)));

export const hasMarks = (document: unknown): boolean => metricsOf(document).some(isMarked);

export const hasOwnFields = (document: unknown): boolean => OWN_FIELDS.some((field) => isGiven(objectAt(document, "spec"), field));

const isTarget = (members: Members, name: string): boolean =>
  isGiven(members, name) && !(name === "target" && isObject(members["target"]) && "kind" in members["target"]);

/** A mark beside a plain target on one metric: which rule is meant cannot be guessed. Both places are named. */
export const mixed = (document: unknown): readonly Problem[] =>
  metricsOf(document).flatMap((metric, index) =>
    BLOCKS.flatMap((block) => {
      const members = objectAt(metric, block);
      const mark = MARKS.find((name) => isGiven(members, name));
      const target = TARGETS.find((name) => isTarget(members, name));
      if (mark === undefined || target === undefined) return [];
      const place = `spec.metrics[${index}].${block}`;
      return [forbidden(`${place}.${target}`, `may not be set together with ${place}.${mark}`, "keep the target or the watermarks, not both")];
    }),
  );
