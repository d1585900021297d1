import type { ControllerSettings } from "../../../model/spec-common.ts";
import type { Behavior, HpaSpec, ScalingRules } from "../../../model/spec-hpa.ts";
import { addI32, ceilI32, MAX_I32, MIN_I32, toI32 } from "../../shared/arithmetic.ts";
import {
  countedEvents,
  type DecisionTimes,
  type Events,
  startForDown,
  startForUp,
} from "../../shared/recorded-scales.ts";
import { stepped, withCondition } from "../../shared/steps.ts";
import { LIMIT_SENTENCES, type LimitReason, scalingLimited } from "./sentences.ts";
import type { HpaStep } from "./sync.ts";
import { SECOND_MS } from "../../../model/time-text.ts";

/** What a step of limiting gives: the count, and the bound that holds it. */
export interface Limited {
  readonly count: number;
  readonly reason: LimitReason;
}

/** Factor and floor of the growth in one sync where no behavior is given (hpa.md 2.1). */
const LEGACY_FACTOR = 2;
const LEGACY_FLOOR = 4;

/** hpa.md 2.6: rate and bounds, by behavior where there is one. */
export const limit: HpaStep = (sync) => {
  const { input, current, count: before } = sync;
  const { behavior, minReplicas, maxReplicas } = input.spec;
  const { count, reason } = behavior
    ? limitRate(
        { current, count: before },
        { minReplicas, maxReplicas, behavior },
        input.windows.memory,
        input,
      )
    : clamp(current, before, input.spec);
  const limited = count !== before;
  const bound = limited ? { reason, value: count, message: LIMIT_SENTENCES[reason] } : undefined;
  return {
    ...stepped(sync, "limit", count, bound),
    conditions: withCondition(sync, scalingLimited(limited, reason)),
  };
};

/** When, and by the rules of which release. */
interface LimitTimes extends DecisionTimes {
  readonly settings?: Pick<ControllerSettings, "hpaVersion">;
}

type Bounds = Pick<HpaSpec, "minReplicas" | "maxReplicas">;

/** hpa.md 3.8.2: min first, then the smaller of max and twice the current count. */
export const clamp = (
  current: number,
  count: number,
  { minReplicas, maxReplicas }: Bounds,
): Limited => {
  const fastest = toI32(Math.max(LEGACY_FACTOR * current, LEGACY_FLOOR));
  const ceiling: Limited =
    maxReplicas > fastest
      ? { count: fastest, reason: "ScaleUpLimit" }
      : { count: maxReplicas, reason: "TooManyReplicas" };
  if (count < minReplicas) return { count: minReplicas, reason: "TooFewReplicas" };
  return count > ceiling.count ? ceiling : { count, reason: "DesiredWithinRange" };
};

/** hpa.md 3.8.4: only the bound on the side of the movement is looked at. */
export const limitRate = (
  { current, count }: { readonly current: number; readonly count: number },
  { minReplicas, maxReplicas, behavior }: Bounds & { readonly behavior: Behavior },
  memory: Events,
  times: LimitTimes,
): Limited => {
  if (count > current) {
    const fastest = Math.max(current, upLimit(current, behavior.scaleUp, memory, times));
    const ceiling: Limited =
      maxReplicas > fastest
        ? { count: fastest, reason: "ScaleUpLimit" }
        : { count: maxReplicas, reason: "TooManyReplicas" };
    if (count > ceiling.count) return ceiling;
  }
  if (count < current) {
    const fastest = Math.min(current, downLimit(current, behavior.scaleDown, memory, times));
    const floor: Limited =
      minReplicas < fastest
        ? { count: fastest, reason: "ScaleDownLimit" }
        : { count: minReplicas, reason: "TooFewReplicas" };
    if (count < floor.count) return floor;
  }
  return { count, reason: "DesiredWithinRange" };
};

/**
 * The largest count that the policies allow; "Min" takes the slowest of them. Percentages round up,
 * in doubles: 100 + 10 % is 111 (hpa.md 3.8.4).
 */
export const upLimit = (
  current: number,
  { selectPolicy, policies, countedChanges }: ScalingRules,
  recorded: Events,
  times: LimitTimes,
): number => {
  if (selectPolicy === "Disabled") return current;
  const events = countedEvents("scaleUp", countedChanges, recorded);
  const allowed = policies.map(({ type, value, periodSeconds }) => {
    const start = startForUp(current, periodSeconds * SECOND_MS, events, times);
    return type === "Pods"
      ? addI32(start, value)
      : ceilI32(start * (1 + value / 100), times.settings ?? {});
  });
  return selectPolicy === "Min" ? Math.min(MAX_I32, ...allowed) : Math.max(MIN_I32, ...allowed);
};

/**
 * The smallest count that the policies allow; "Min" takes the one that removes least. Percentages
 * are cut off: 10 - 90 % is 0 (hpa.md 3.8.4).
 */
export const downLimit = (
  current: number,
  { selectPolicy, policies, countedChanges }: ScalingRules,
  recorded: Events,
  times: DecisionTimes,
): number => {
  if (selectPolicy === "Disabled") return current;
  const events = countedEvents("scaleDown", countedChanges, recorded);
  const allowed = policies.map(({ type, value, periodSeconds }) => {
    const start = startForDown(current, periodSeconds * SECOND_MS, events, times);
    return type === "Pods" ? addI32(start, -value) : toI32(start * (1 - value / 100));
  });
  return selectPolicy === "Min" ? Math.max(MIN_I32, ...allowed) : Math.min(MAX_I32, ...allowed);
};
