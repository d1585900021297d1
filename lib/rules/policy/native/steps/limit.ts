import { amount, choice, group, integer, listField } from "../../../fields/field-types.ts";
import { above, is, length, multipleOf, not, type Rule } from "../../../fields/rule.ts";
import type { NativePolicy, NativeRules, NativeSpec } from "../../../model/spec-native.ts";
import {
  countedEvents,
  type DecisionTimes,
  type Events,
  startForDown,
  startForUp,
} from "../../shared/recorded-scales.ts";
import { stepped } from "../../shared/steps.ts";
import { rateStates } from "../../shared/window-states.ts";
import { type Move, moveOf, type NativeStep, type StepWindow } from "./sync.ts";
import { DAY_SECONDS } from "../../../model/time-text.ts";

const LEAST_POLICY = 0.001;
/** A limit for policies, so that windows stay bounded. */
const MOST_POLICY = 1_000_000;

const POLICY = group("One policy.", {
  type: choice(
    "Pods: a number of pods. Percent: of the count at the start of the period. Factor: the count at the start of the period times the factor, or divided by it.",
    ["Pods", "Percent", "Factor"],
    { required: true },
  ),
  value: amount("The amount; whole for Pods, above 1 for Factor.", {
    required: true,
    least: LEAST_POLICY,
    most: MOST_POLICY,
  }),
  periodSeconds: integer("In how long.", { required: true, least: 1, most: DAY_SECONDS }),
});

const DOUBLED = { type: "Percent", value: 100, periodSeconds: 15 };
/** As in autoscaling/v2. */
const DEFAULT_POLICIES = {
  up: [DOUBLED, { type: "Pods", value: 4, periodSeconds: 15 }],
  down: [DOUBLED],
} as const;

export const limitFields = (way: "up" | "down") => ({
  selectPolicy: choice(
    "Max takes the policy that allows most, Min the one that allows least; Disabled forbids the direction.",
    ["Max", "Min", "Disabled"],
    { default: "Max" },
  ),
  policies: listField(
    "How much the count may change per period.",
    POLICY,
    {},
    { default: DEFAULT_POLICIES[way] },
  ),
  countedChanges: choice(
    "Which changes the policies count. Both: changes of the other direction inside the period give room, as in autoscaling/v2. SameDirection: they do not count.",
    ["Both", "SameDirection"],
    { default: "Both" },
  ),
});

/** Rules of a direction. */
export const LIMIT_RULES: readonly Rule[] = [
  {
    when: not(is("selectPolicy", "Disabled")),
    needs: length("policies", 1),
    type: "FieldValueRequired",
    detail: "must hold at least one policy",
    fix: "add a policy, or leave policies out for the defaults",
  },
];

export const POLICY_RULES: readonly Rule[] = [
  {
    when: is("type", "Pods"),
    needs: multipleOf("value", 1),
    detail: "must be a whole number of pods",
    fix: "write 1 or more",
  },
  {
    when: is("type", "Factor"),
    needs: above("value", 1),
    detail: "must be greater than 1: times 1 changes nothing",
    fix: 'write a factor such as "1.5"',
  },
];

/**
 * How fast: what the policies of the direction allow within their periods, cut to the modulo
 * towards the current count.
 */
export const limit: NativeStep = (sync) => {
  const { input, current, count } = sync;
  const move = moveOf(sync);
  if (!move) return stepped(sync, "limit", count);
  const { direction, up, rules } = move;
  if (rules.selectPolicy === "Disabled") {
    const message = `scaling ${up ? "up" : "down"} is disabled`;
    return stepped(sync, "limit", current, {
      reason: "DirectionDisabled",
      value: current,
      message,
    });
  }
  const events = countedEvents(direction, rules.countedChanges, input.windows.memory);
  const fastest = up
    ? upLimit(current, rules, events, input)
    : downLimit(current, rules, events, input);
  if (up ? count <= fastest : count >= fastest) return stepped(sync, "limit", count);
  const after = onModulo(fastest, current, move);
  // The bound comes first: the next step says so, and the rate would be blamed for what no rate
  // could change.
  if (reachesBound(after, up, input.spec)) return stepped(sync, "limit", count);
  const message = `the policies allow ${after} for now`;
  return stepped(sync, "limit", after, {
    reason: up ? "ScaleUpLimit" : "ScaleDownLimit",
    value: after,
    message,
  });
};

const reachesBound = (
  count: number,
  up: boolean,
  { minReplicas, maxReplicas }: Pick<NativeSpec, "minReplicas" | "maxReplicas">,
): boolean => (up ? count >= maxReplicas : count <= minReplicas);

/**
 * The last multiple on the way to the limit; the current count when the limit comes before the
 * first.
 */
const onModulo = (
  fastest: number,
  current: number,
  { up, rules: { replicaModulo } }: Move,
): number =>
  up
    ? Math.max(current, Math.floor(fastest / replicaModulo) * replicaModulo)
    : Math.min(current, Math.ceil(fastest / replicaModulo) * replicaModulo);

const THOUSAND = 1000;
const PERCENT = 100 * THOUSAND;

/**
 * The largest count that is allowed, never below the current one; "Min" takes the slowest policy.
 * Percentages and factors are rounded up.
 */
export const upLimit = (
  current: number,
  { selectPolicy, policies }: NativeRules,
  events: Events,
  times: DecisionTimes,
): number => {
  const allowed = policies.map((policy) =>
    grown(startForUp(current, policy.periodSeconds * THOUSAND, events, times), policy),
  );
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

/**
 * The smallest count that is allowed, never above the current one; "Min" takes the policy that
 * removes least. Percentages are cut off, factors rounded up.
 */
export const downLimit = (
  current: number,
  { selectPolicy, policies }: NativeRules,
  events: Events,
  times: DecisionTimes,
): number => {
  const allowed = policies.map((policy) =>
    shrunk(startForDown(current, policy.periodSeconds * THOUSAND, events, times), policy),
  );
  return Math.min(
    current,
    Math.max(0, selectPolicy === "Min" ? Math.max(...allowed) : Math.min(...allowed)),
  );
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

const withValues = (rules: NativeRules) => ({
  ...rules,
  policies: rules.policies.map(({ valueMilli, ...policy }) => ({
    ...policy,
    value: valueMilli / THOUSAND,
  })),
});

export const LIMIT_WINDOW: StepWindow = {
  states: ({ scaleUp, scaleDown }, { memory }, { nowMs }) => ({
    rates: [
      ...rateStates("scaleUp", withValues(scaleUp), memory, nowMs),
      ...rateStates("scaleDown", withValues(scaleDown), memory, nowMs),
    ],
  }),
};
