import { type Json, present } from "../../model/json.ts";
import type { Words } from "../../fields/field-types.ts";
import type { Problem, Warning } from "../../fields/problem.ts";
import { is, type Rule } from "../../fields/rule.ts";
import { floatOf, milliOf, parseQuantity, type Quantity, wholeOf } from "../../model/quantity.ts";
import type { Thresholds } from "../../model/spec-hpa.ts";
import type { LimitFactor } from "../../model/spec-watermark.ts";
import { choice, integer, quantity } from "../native/field-descriptions.ts";
import { DEFAULTS } from "../watermark/shape.ts";
import { defaultsWarning } from "../watermark/multi-threshold-fields.ts";
import { apiProblems, rulesProblems } from "./api-problems.ts";
import { noMarks } from "./metric-fields.ts";
import {
  isMarked,
  type ManifestMetric,
  THRESHOLD_FIELDS,
  type WrittenThresholds,
} from "./v2-shape.ts";

/**
 * The multi-threshold fields of an HPA: the values for the rules, the stored fields, and their
 * problems and warnings.
 */
export interface ThresholdsBlock {
  readonly thresholds: Thresholds;
  /** Every field as it reads back. Quantities are still values. */
  readonly stored: Json;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Warning[];
}

const NAMES = Object.keys(THRESHOLD_FIELDS) as readonly (keyof WrittenThresholds)[];

/**
 * Reads the fields; `undefined` when the manifest has none of them and no marks. An absent field
 * takes its default; 0 means 0 (proposals.md §5).
 */
export const readThresholds = (
  written: WrittenThresholds | undefined,
  metrics: readonly ManifestMetric[],
  minReplicas: number,
): ThresholdsBlock | undefined => {
  const marked = metrics.some(isMarked);
  if (!marked && !NAMES.some((name) => written?.[name] !== undefined)) return undefined;
  const complete = completed(written ?? {}, marked);
  return {
    thresholds: thresholdsOf(complete),
    stored: present(complete),
    problems: [
      ...NAMES.flatMap((name) =>
        apiProblems(THRESHOLD_DESCRIPTIONS[name], complete[name], `spec.${name}`),
      ),
      ...rulesProblems(
        [NO_ZERO_WITH_MARKS],
        { minReplicas, metrics: metrics.filter(isMarked) },
        "spec",
      ),
    ],
    warnings: [
      ...defaultsWarning(written ?? {}),
      ...(marked || complete.algorithm === undefined ? [] : [IDLE_ALGORITHM]),
    ],
  };
};

const amount = (text: string): Quantity => {
  const parsed = parseQuantity(text);
  if (!parsed) throw new RangeError(`the default "${text}" is no quantity`);
  return parsed;
};

const completed = (written: NonNullable<WrittenThresholds>, marked: boolean) => ({
  algorithm: written.algorithm ?? (marked ? "absolute" : undefined),
  tolerance: written.tolerance ?? amount(DEFAULTS.tolerance),
  scaleUpLimitFactor: written.scaleUpLimitFactor ?? amount(DEFAULTS.scaleUpLimitFactor),
  scaleDownLimitFactor: written.scaleDownLimitFactor ?? amount(DEFAULTS.scaleDownLimitFactor),
  upscaleForbiddenWindowSeconds:
    written.upscaleForbiddenWindowSeconds ?? DEFAULTS.upscaleForbiddenWindowSeconds,
  downscaleForbiddenWindowSeconds:
    written.downscaleForbiddenWindowSeconds ?? DEFAULTS.downscaleForbiddenWindowSeconds,
});

const thresholdsOf = (complete: ReturnType<typeof completed>): Thresholds => ({
  average: complete.algorithm === "average",
  tolerance: floatOf(complete.tolerance),
  scaleUpLimit: factorOf(complete.scaleUpLimitFactor),
  scaleDownLimit: factorOf(complete.scaleDownLimitFactor),
  upscaleForbiddenWindowSeconds: complete.upscaleForbiddenWindowSeconds,
  downscaleForbiddenWindowSeconds: complete.downscaleForbiddenWindowSeconds,
});

const factorOf = (factor: Quantity): LimitFactor => ({
  milli: milliOf(factor),
  whole: wholeOf(factor),
});

const SHARE: Words = ["must be a share from 0 to 1", 'write a share such as "0.1" or 100m'];
export const WHOLE: Words = [
  "must be a whole percentage from 0 to 100",
  "write a whole number such as 30",
];
const WHOLE_PERCENT = { least: 0, most: 100, api: { least: WHOLE, most: WHOLE, fraction: WHOLE } };
const SECONDS = {
  least: 0,
  api: { least: ["must be greater than or equal to 0", "write 0 or more seconds"] as const },
};

/**
 * Fields of the multi-threshold form (docs/manifests.md). When one of them or a mark is present,
 * the others take their defaults.
 */
export const THRESHOLD_DESCRIPTIONS = {
  algorithm: choice(
    "average divides a value by the current count before it is compared with marks.",
    ["absolute", "average"],
  ),
  tolerance: quantity(
    "Share by which every target and every mark is widened; 100m where another of these fields is written.",
    {
      least: 0,
      most: 1,
      api: { least: SHARE, most: SHARE },
    },
  ),
  scaleUpLimitFactor: quantity(
    "Whole percent of the count that one step may add; 50 where another of these fields is written.",
    WHOLE_PERCENT,
  ),
  scaleDownLimitFactor: quantity(
    "Whole percent of the count that one step may remove; 20 where another of these fields is written.",
    WHOLE_PERCENT,
  ),
  upscaleForbiddenWindowSeconds: integer(
    "No scale up so long after any scale; 60 where another of these fields is written.",
    SECONDS,
  ),
  downscaleForbiddenWindowSeconds: integer(
    "No scale down so long after any scale; 300 where another of these fields is written.",
    SECONDS,
  ),
};

const NO_ZERO_WITH_MARKS: Rule = {
  when: is("minReplicas", 0),
  needs: noMarks("metrics"),
  at: "minReplicas",
  type: "FieldValueForbidden",
  detail: "may not be 0 together with watermarks, because a count of 0 times any value stays 0",
  fix: "write 1 or more, or a target instead of the watermarks",
};

const IDLE_ALGORITHM: Warning = {
  field: "spec.algorithm",
  message: "algorithm has no effect without watermarks; the type of a target decides",
  fix: "remove it",
};
