import type { AutoscalerSpec } from "../../model/spec.ts";
import { askDialect } from "../../policy/dialects.ts";
import type { MetricView } from "./autoscaler-view.ts";

/** The metrics of a spec with their targets, before the first measurement. */
export const unmeasured = (spec: AutoscalerSpec): readonly MetricView[] =>
  askDialect(spec, ({ explains }, own) => explains.targets(own)).map((metric) => ({ kind: "unmeasured", ...metric }));

const AMOUNT = /^(\d+(?:\.\d+)?)(%|[A-Za-z]*)$/;

/** A target text times a factor, in its own unit: "60%" by 1.1 is "66%", "1Gi" is "1.1Gi". A target that is no amount keeps the factor in words. */
export const timesTarget = (target: string, factor: number): string => {
  const [, amount, unit] = AMOUNT.exec(target) ?? [];
  return amount === undefined ? `${rounded(factor)} times its target` : `${rounded(Number(amount) * factor)}${unit}`;
};

/** Rounds, because tolerances are doubles: 66, not 66.00000000000001. */
const rounded = (value: number): number => Number(value.toFixed(2));
