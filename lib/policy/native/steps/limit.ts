import type { NativePolicy, NativeRules, NativeSpec } from "../../../model/spec-native.ts";
import { countedEvents, type DecisionTimes, type Events, startForDown, startForUp } from "../../shared/recorded-scales.ts";
import { stepped } from "../../shared/steps.ts";
import { type Move, moveOf, type NativeStep } from "./sync.ts";

/** How fast: what the policies of the direction allow within their periods, cut to the modulo towards the current count. */
export const limit: NativeStep = (sync) => {
  const { input, current, count } = sync;
  const move = moveOf(sync);
  if (!move) return stepped(sync, "limit", count);
  const { direction, up, rules } = move;
  if (rules.selectPolicy === "Disabled") {
    const message = `scaling ${up ? "up" : "down"} is disabled`;
    return stepped(sync, "limit", current, { reason: "DirectionDisabled", value: current, message });
  }
  const events = countedEvents(direction, rules.countedChanges, input.windows.memory);
  const fastest = up ? upLimit(current, rules, events, input) : downLimit(current, rules, events, input);
  if (up ? count <= fastest : count >= fastest) return stepped(sync, "limit", count);
  const after = onModulo(fastest, current, move);
  // The bound comes first: the next step says so, and the rate would be blamed for what no rate could change.
  if (reachesBound(after, up, input.spec)) return stepped(sync, "limit", count);
  const message = `the policies allow ${after} for now`;
  return stepped(sync, "limit", after, { reason: up ? "ScaleUpLimit" : "ScaleDownLimit", value: after, message });
};

const reachesBound = (count: number, up: boolean, { minReplicas, maxReplicas }: Pick<NativeSpec, "minReplicas" | "maxReplicas">): boolean =>
  up ? count >= maxReplicas : count <= minReplicas;

/** The last multiple on the way to the limit; the current count when the limit comes before the first. */
const onModulo = (fastest: number, current: number, { up, rules: { replicaModulo } }: Move): number =>
  up ? Math.max(current, Math.floor(fastest / replicaModulo) * replicaModulo) : Math.min(current, Math.ceil(fastest / replicaModulo) * replicaModulo);

const THOUSAND = 1000;
const PERCENT = 100 * THOUSAND;

/** The largest count that is allowed, never below the current one; "Min" takes the slowest policy. Percentages and factors are rounded up. */
export const upLimit = (current: number, { selectPolicy, policies }: NativeRules, events: Events, times: DecisionTimes): number => {
  const allowed = policies.map((policy) => grown(startForUp(current, policy.periodSeconds * THOUSAND, events, times), policy));
  return Math.max(current, selectPolicy === "Min" ? Math.min(...allowed) : Math.max(...allowed));
};

const grown = (start: number, { type, valueMilli }: NativePolicy): number => {
  switch (type) {
    case "Pods":
      return start + valueMilli / THOUSAND;
    case "Percent":
      return Math.ceil(start * (1 + valueMilli / PERCENT));
    case "Factor":
      return Math.ceil((start * valueMilli) / THOUSAND);
  }
};

/** The smallest count that is allowed, never above the current one; "Min" takes the policy that removes least. Percentages are cut off, factors rounded up. */
export const downLimit = (current: number, { selectPolicy, policies }: NativeRules, events: Events, times: DecisionTimes): number => {
  const allowed = policies.map((policy) => shrunk(startForDown(current, policy.periodSeconds * THOUSAND, events, times), policy));
  return Math.min(current, Math.max(0, selectPolicy === "Min" ? Math.max(...allowed) : Math.min(...allowed)));
};

const shrunk = (start: number, { type, valueMilli }: NativePolicy): number => {
  switch (type) {
    case "Pods":
      return start - valueMilli / THOUSAND;
    case "Percent":
      return Math.trunc(start * (1 - valueMilli / PERCENT));
    case "Factor":
      return Math.ceil((start * THOUSAND) / valueMilli);
  }
};
