import type { LimitFactor } from "../../../model/spec-watermark.ts";
import { scalingLimited } from "../../hpa/steps/sentences.ts";
import type { HpaStep } from "../../hpa/steps/sync.ts";
import { stepped, withCondition } from "../../shared/steps.ts";
import { scaleDownLimit, scaleUpLimit } from "../../shared/velocity.ts";

/** The share of the current count that one step may add or take away (proposals.md §5). It only brings the count nearer to the current one, so min and max stay kept. */
export const limitStep: HpaStep = (sync) => {
  const { thresholds } = sync.input.spec;
  if (!thresholds) return sync;
  const { current, count: before } = sync;
  const up = before > current;
  const factor = up ? thresholds.scaleUpLimit : thresholds.scaleDownLimit;
  const count = up ? Math.min(before, scaleUpLimit(factor, current)) : Math.max(before, scaleDownLimit(factor, current));
  if (before === current || count === before) return stepped(sync, "step limit", before);
  const reason = up ? "ScaleUpLimit" : "ScaleDownLimit";
  const limit = { reason, value: count, message: sentenceOf(up, factor) };
  return { ...stepped(sync, "step limit", count, limit), conditions: withCondition(sync, scalingLimited(true, reason)) };
};

const sentenceOf = (up: boolean, { milli }: LimitFactor): string => {
  const field = up ? "scaleUpLimitFactor" : "scaleDownLimitFactor";
  if (milli === 0n) return `${field} is 0, which forbids to ${up ? "add" : "remove"} pods`;
  return `one step may ${up ? "add" : "remove"} ${Number(milli) / 1000} percent of the current count, at least 1 pod (${field})`;
};
