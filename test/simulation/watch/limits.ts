import { CLOCK_ALLOWANCE_MS } from "./clocks.ts";
import type { KnownEffect, Ledger } from "./ledger.ts";
import { outsideWithin } from "./outside.ts";
import { type DirectionRules, type Policy, rulesOf } from "./rules-of.ts";

const INVARIANT = "per-period limits are never exceeded as seen from the cluster";

/**
 * The rate limits of hpa.md 3.8.4 and of the native rules, worked out anew from what the cluster
 * saw: a period that is shorter by the clock difference for what was done in the same direction,
 * and longer by it for what was undone in the other. What was undone is looked at when it was
 * decided: a PUT may be on its way until its deadline, and the room that it was given does not come
 * back. Bounds have limits of their own; changes by others count at face value, as in the
 * controller.
 */
export const watchLimits = (ledger: Ledger, effect: KnownEffect): void => {
  const up = effect.to > effect.from;
  const rules = rulesOf(effect.decided.input, up);
  if (rules.policies.length === 0 && rules.selectPolicy !== "Disabled") return;
  const before = ledger.effects.get(effect.uid) ?? [];
  const allowed = rules.policies.map((policy) =>
    reach(policy, effect, {
      before,
      unmade: ledger.unmade.get(effect.uid) ?? [],
      up,
      outside: (sinceMs) => outsideWithin(ledger, effect.uid, up, sinceMs),
    }),
  );
  const furthest = furthestOf(rules, allowed, effect.from, up);
  if (up ? effect.to <= furthest : effect.to >= furthest) return;
  const words = rules.policies
    .map(({ type, value, periodMs }) => `${value} ${type} in ${periodMs / 1_000} s`)
    .join(", ");
  ledger.violate(
    INVARIANT,
    `"${effect.id}" went from ${effect.from} to ${effect.to}, and ${words} (${rules.selectPolicy}) lets it go to ${furthest}`,
  );
};

/**
 * The count that one policy allows, as far as the cluster's own record of effects says. A scale
 * that had left its period when another was recorded may be forgotten (hpa.md 3.9).
 */
interface Before {
  readonly before: readonly KnownEffect[];
  readonly unmade: readonly KnownEffect[];
  readonly up: boolean;
  /** Pods by which others have moved the count the same way. */
  readonly outside: (sinceMs: number) => number;
}

const reach = (
  policy: Policy,
  { from, atMs, decided }: KnownEffect,
  { before, unmade, up, outside }: Before,
): number => {
  const sum = (wanted: boolean, sinceMs: number, effects = before): number =>
    effects.reduce((total, one) => {
      const counts =
        one.to > one.from === wanted && one.atMs > sinceMs && !(one.forgettable && wanted === up);
      return counts ? total + Math.abs(one.to - one.from) : total;
    }, 0);
  const sinceMs = atMs - policy.periodMs + CLOCK_ALLOWANCE_MS;
  const same = sum(up, sinceMs) + outside(sinceMs);
  // When it was decided, also where a source was slow to answer: room that is over by then is not
  // given.
  const givesSinceMs = decided.atMs - policy.periodMs - CLOCK_ALLOWANCE_MS;
  const undone = sum(!up, givesSinceMs, [...before, ...unmade]);
  return up ? grown(from - same + undone, policy) : shrunk(from + same - undone, policy);
};

const grown = (start: number, { type, value }: Policy): number => {
  if (type === "Pods") return start + value;
  return Math.ceil(type === "Percent" ? start * (1 + value / 100) : start * value);
};

const shrunk = (start: number, { type, value }: Policy): number => {
  if (type === "Pods") return start - value;
  return type === "Percent" ? Math.trunc(start * (1 - value / 100)) : Math.ceil(start / value);
};

const furthestOf = (
  { selectPolicy }: DirectionRules,
  allowed: readonly number[],
  from: number,
  up: boolean,
): number => {
  if (selectPolicy === "Disabled") return from;
  const most = (selectPolicy === "Max") === up ? Math.max(...allowed) : Math.min(...allowed);
  return up ? Math.max(from, most) : Math.min(from, most);
};

/**
 * One step of the watermark dialect adds or takes away a share of the count, rounded down and 1 at
 * least (watermark.md 2.8).
 */
export const watchStep = (
  ledger: Ledger,
  { id, from, to, decided: { input } }: KnownEffect,
): void => {
  const { spec } = input;
  if (spec.dialect !== "watermark") return;
  const percent = Number((to > from ? spec.scaleUpLimit : spec.scaleDownLimit).milli) / 1_000;
  const most = percent < 1 ? 0 : Math.max(1, Math.floor((from * percent) / 100));
  if (Math.abs(to - from) > most)
    ledger.violate(
      INVARIANT,
      `"${id}" went from ${from} to ${to}, and a step of ${percent} % is ${most}`,
    );
};

/** Multiples of the modulo, but for the bounds (docs/pod-autoscaler.md). */
export const watchModulo = (
  ledger: Ledger,
  { id, from, to, decided: { input, decision } }: KnownEffect,
): void => {
  const { spec } = input;
  if (spec.dialect !== "native" || to === spec.minReplicas || to === spec.maxReplicas) return;
  if (to === decision.bounds?.min.replicas || to === decision.bounds?.max.replicas) return;
  const { replicaModulo } = to > from ? spec.scaleUp : spec.scaleDown;
  if (to % replicaModulo !== 0)
    ledger.violate(
      INVARIANT,
      `"${id}" went from ${from} to ${to}, and counts are multiples of ${replicaModulo}`,
    );
};

/**
 * What a scale leaves of the flap budget: counted between the effects that the cluster saw, the way
 * up from this one included.
 */
export const watchFlaps = (
  ledger: Ledger,
  { id, uid, atMs, from, to, decided: { input } }: KnownEffect,
): void => {
  const budget = input.spec.dialect === "native" ? input.spec.flapBudget : undefined;
  if (!budget || to > from) return;
  const sinceMs = atMs - budget.periodSeconds * 1_000 + CLOCK_ALLOWANCE_MS;
  const before = (ledger.effects.get(uid) ?? []).filter(
    (one) => one.atMs > sinceMs && !one.forgettable,
  );
  const ways = [...before.map((one) => one.to > one.from), false, true];
  const reversals = ways.filter((way, at) => at > 0 && ways[at - 1] !== way).length;
  if (reversals > budget.reversals) {
    ledger.violate(
      INVARIANT,
      `"${id}" went from ${from} to ${to}, and leaves ${reversals} reversals in ${budget.periodSeconds} s with the way up`,
    );
  }
};
