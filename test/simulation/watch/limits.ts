import type { AutoscalerSpec } from "../../../lib/model/spec.ts";
import type { Behavior, ScalingPolicy, ScalingRules } from "../../../lib/model/spec-hpa.ts";
import { CLOCK_ALLOWANCE_MS, type KnownEffect, type Ledger } from "./ledger.ts";

export const behaviorOf = (spec: AutoscalerSpec): Behavior | undefined => (spec.dialect === "hpa" ? spec.behavior : undefined);

/**
 * The rate limits of hpa.md 3.8.4 worked out anew from what the cluster saw: a period that is shorter by the clock difference for what was done in the same direction, and longer
 * by it for what was undone in the other. Bounds have limits of their own; changes by others count at face value, as in the controller.
 */
export const watchLimits = (ledger: Ledger, effect: KnownEffect): void => {
  const behavior = behaviorOf(effect.decided.input.spec);
  if (!behavior) return;
  const before = ledger.effects.get(effect.uid) ?? [];
  const up = effect.to > effect.from;
  const rules = up ? behavior.scaleUp : behavior.scaleDown;
  const allowed = rules.policies.map((policy) => reach(policy, effect, before, up));
  const furthest = furthestOf(rules, allowed, effect.from, up);
  if (up ? effect.to > furthest : effect.to < furthest) {
    const words = rules.policies.map(({ type, value, periodSeconds }) => `${value} ${type} in ${periodSeconds} s`).join(", ");
    ledger.violate(
      "per-period limits are never exceeded as seen from the cluster",
      `"${effect.id}" went from ${effect.from} to ${effect.to}, and ${words} (${rules.selectPolicy}) lets it go to ${furthest}`,
    );
  }
};

/** The count that one policy allows, as far as the cluster's own record of effects says. */
const reach = ({ type, value, periodSeconds }: ScalingPolicy, { from, atMs }: KnownEffect, before: readonly KnownEffect[], up: boolean): number => {
  const sum = (wanted: boolean, periodMs: number): number =>
    before.reduce((total, one) => (one.to > one.from === wanted && one.atMs > atMs - periodMs ? total + Math.abs(one.to - one.from) : total), 0);
  const periodMs = periodSeconds * 1_000;
  const same = sum(up, periodMs - CLOCK_ALLOWANCE_MS);
  const undone = sum(!up, periodMs + CLOCK_ALLOWANCE_MS);
  const start = up ? from - same + undone : from + same - undone;
  if (type === "Pods") return up ? start + value : start - value;
  return up ? Math.ceil(start * (1 + value / 100)) : Math.trunc(start * (1 - value / 100));
};

const furthestOf = ({ selectPolicy }: ScalingRules, allowed: readonly number[], from: number, up: boolean): number => {
  if (selectPolicy === "Disabled") return from;
  const most = (selectPolicy === "Max") === up ? Math.max(...allowed) : Math.min(...allowed);
  return up ? Math.max(from, most) : Math.min(from, most);
};
