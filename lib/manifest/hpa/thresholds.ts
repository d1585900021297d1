import { type Json, present } from "../../fields/json.ts";
import { forbidden, invalid, notSupported, type Problem, type Warning } from "../../fields/problem.ts";
import { floatOf, milliOf, parseQuantity, type Quantity, signOf, wholeOf } from "../../model/quantity.ts";
import type { Thresholds } from "../../model/spec-hpa.ts";
import type { LimitFactor } from "../../model/spec-watermark.ts";
import { DEFAULTS } from "../watermark/shape.ts";
import { defaultsWarning } from "../watermark/multi-threshold-fields.ts";
import { isMarked, type Metric, THRESHOLD_FIELDS, type WrittenThresholds } from "./v2-shape.ts";

/** The multi-threshold fields of an HPA: the values for the rules, the stored fields, and their problems and warnings. */
export interface ThresholdsBlock {
  readonly thresholds: Thresholds;
  /** Every field as it reads back. Quantities are still values. */
  readonly stored: Json;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Warning[];
}

interface Complete {
  readonly algorithm: string | undefined;
  readonly tolerance: Quantity;
  readonly scaleUpLimitFactor: Quantity;
  readonly scaleDownLimitFactor: Quantity;
  readonly upscaleForbiddenWindowSeconds: number;
  readonly downscaleForbiddenWindowSeconds: number;
}

const NAMES = Object.keys(THRESHOLD_FIELDS) as readonly (keyof WrittenThresholds)[];

/** Reads the fields; `undefined` when the manifest has none of them and no marks. An absent field takes its default; 0 means 0 (proposals.md §5). */
export const readThresholds = (
  written: WrittenThresholds | undefined,
  metrics: readonly Metric[],
  minReplicas: number,
): ThresholdsBlock | undefined => {
  const marked = metrics.some(isMarked);
  if (!marked && !NAMES.some((name) => written?.[name] !== undefined)) return undefined;
  const complete = completed(written ?? {}, marked);
  return {
    thresholds: thresholdsOf(complete),
    stored: present({ ...complete }),
    problems: [...problemsOf(complete), ...(marked && minReplicas === 0 ? [ZERO_MINIMUM] : [])],
    warnings: [...defaultsWarning(written ?? {}), ...(marked || complete.algorithm === undefined ? [] : [IDLE_ALGORITHM])],
  };
};

const amount = (text: string): Quantity => {
  const quantity = parseQuantity(text);
  if (!quantity) throw new RangeError(`the default "${text}" is no quantity`);
  return quantity;
};

const completed = (written: NonNullable<WrittenThresholds>, marked: boolean): Complete => ({
  algorithm: written.algorithm ?? (marked ? "absolute" : undefined),
  tolerance: written.tolerance ?? amount(DEFAULTS.tolerance),
  scaleUpLimitFactor: written.scaleUpLimitFactor ?? amount(DEFAULTS.scaleUpLimitFactor),
  scaleDownLimitFactor: written.scaleDownLimitFactor ?? amount(DEFAULTS.scaleDownLimitFactor),
  upscaleForbiddenWindowSeconds: written.upscaleForbiddenWindowSeconds ?? DEFAULTS.upscaleForbiddenWindowSeconds,
  downscaleForbiddenWindowSeconds: written.downscaleForbiddenWindowSeconds ?? DEFAULTS.downscaleForbiddenWindowSeconds,
});

const thresholdsOf = (complete: Complete): Thresholds => ({
  average: complete.algorithm === "average",
  tolerance: floatOf(complete.tolerance),
  scaleUpLimit: factorOf(complete.scaleUpLimitFactor),
  scaleDownLimit: factorOf(complete.scaleDownLimitFactor),
  upscaleForbiddenWindowSeconds: complete.upscaleForbiddenWindowSeconds,
  downscaleForbiddenWindowSeconds: complete.downscaleForbiddenWindowSeconds,
});

const factorOf = (quantity: Quantity): LimitFactor => ({ milli: milliOf(quantity), whole: wholeOf(quantity) });

const ALGORITHMS = ["absolute", "average"];
const MOST_PERCENT = 100;

const problemsOf = (complete: Complete): readonly Problem[] => {
  const problems: Problem[] = [];
  const { algorithm, tolerance } = complete;
  if (algorithm !== undefined && !ALGORITHMS.includes(algorithm)) problems.push(notSupported("spec.algorithm", ALGORITHMS));
  if (signOf(tolerance) < 0 || milliOf(tolerance) > 1000n)
    problems.push(invalid("spec.tolerance", "must be a share from 0 to 1", 'write a share such as "0.1" or 100m'));
  for (const name of ["scaleUpLimitFactor", "scaleDownLimitFactor"] as const) {
    const milli = milliOf(complete[name]);
    if (milli < 0n || milli > BigInt(MOST_PERCENT) * 1000n || milli % 1000n !== 0n)
      problems.push(invalid(`spec.${name}`, `must be a whole percentage from 0 to ${MOST_PERCENT}`, "write a whole number such as 30"));
  }
  for (const name of ["upscaleForbiddenWindowSeconds", "downscaleForbiddenWindowSeconds"] as const) {
    if (complete[name] < 0) problems.push(invalid(`spec.${name}`, "must be greater than or equal to 0", "write 0 or more seconds"));
  }
  return problems;
};

const ZERO_MINIMUM = forbidden(
  "spec.minReplicas",
  "may not be 0 together with watermarks, because a count of 0 times any value stays 0",
  "write 1 or more, or a target instead of the watermarks",
);

const IDLE_ALGORITHM: Warning = {
  field: "spec.algorithm",
  message: "algorithm has no effect without watermarks; the type of a target decides",
  fix: "remove it",
};
