import type { Diagnosis } from "../examine.ts";
import type { BesideObjects, BesideRule, Scaled } from "./beside.ts";
import { DISRUPTION_BUDGET } from "./disruption-budget.ts";
import { QUOTA_BELOW_MAXIMUM, QUOTA_REFUSES } from "./quota.ts";
import { VERTICAL_AUTOSCALER } from "./vertical-autoscaler.ts";

/** Every rule is a file and a line, in the order of its findings. */
export const BESIDE_RULES: readonly BesideRule[] = [
  VERTICAL_AUTOSCALER,
  QUOTA_REFUSES,
  QUOTA_BELOW_MAXIMUM,
  DISRUPTION_BUDGET,
];

export const examineBeside = (scaled: Scaled, beside: BesideObjects): readonly Diagnosis[] =>
  BESIDE_RULES.flatMap(({ name, severity, examine }) =>
    examine(scaled, beside).map((finding) => ({ rule: name, severity, ...finding })),
  );
