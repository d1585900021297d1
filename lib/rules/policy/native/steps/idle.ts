import { group, integer } from "../../../fields/field-types.ts";
import { below, type Rule, isSet, some } from "../../../fields/rule.ts";
import { MOST_REPLICAS } from "../../../model/spec-native.ts";
import {
  conditionOf,
  type ConditionReport,
  lastingOf,
  stepped,
  withCondition,
} from "../../shared/steps.ts";
import { timerState } from "../../shared/window-states.ts";
import { wholeMilli } from "../metrics/measure.ts";
import { scalingActive } from "./sentences.ts";
import { isFallbackDue } from "./measure.ts";
import { contextOf, type NativeStep, type NativeSync, type StepWindow } from "./sync.ts";
import { DAY_SECONDS } from "../../../model/time-text.ts";

declare module "../../../model/spec-native.ts" {
  interface NativeSpec {
    readonly idle?: { readonly replicas: number; readonly afterSeconds: number };
  }
}

export const IDLE_FIELDS = {
  idle: group(
    "Scale to zero, or to another count below minReplicas, while no metric is above its activation threshold.",
    {
      replicas: integer("The count of an idle workload.", {
        default: 0,
        least: 0,
        most: MOST_REPLICAS,
      }),
      afterSeconds: integer(
        "How long no metric may be above its activation threshold before the count falls.",
        {
          default: 300,
          least: 0,
          most: DAY_SECONDS,
        },
      ),
    },
  ),
};

/** Rules of the spec. */
export const IDLE_RULES: readonly Rule[] = [
  {
    needs: below("idle.replicas", "minReplicas"),
    detail: "must be less than minReplicas",
    fix: "write 0, or raise minReplicas",
  },
  {
    when: isSet("idle"),
    needs: some("metrics", isSet("activation")),
    type: "FieldValueRequired",
    says: "idle needs a metric with an activation threshold: write activation on an object, external or namespace metric",
    detail: "idle needs a metric with an activation threshold",
    fix: "write activation on an object, external or namespace metric",
  },
];

/** The condition that says whether a workload with an idle count is in use. */
export const REST = "Idle";
const seenAs = conditionOf(REST);

type Use = "used" | "idle" | "unknown";

const REPORTS: Readonly<Record<Use, ConditionReport>> = {
  idle: seenAs(
    "True",
    "BelowActivation",
    "every metric with an activation threshold is at or below it",
  ),
  used: seenAs("False", "InUse", "a metric is above its activation threshold"),
  unknown: seenAs("Unknown", "NotMeasured", "a metric with an activation threshold is missing"),
};

/** What wakes a workload, and to how many pods at least. */
interface Alarm {
  readonly reason: "Activated" | "WokenByFallback";
  readonly message: string;
  readonly replicas: number;
}

const IN_USE: Alarm = {
  reason: "Activated",
  message: "a metric is above its activation threshold",
  replicas: 0,
};

/**
 * Scale to zero, or to another idle count: while every value with an activation threshold is at or
 * below it. One value above wakes the workload straight to minReplicas, past every window. A value
 * that is missing does not put it to rest, and wakes it only by its fallback.
 */
export const idle: NativeStep = (sync) => {
  const { spec, nowMs } = sync.input;
  // Rest that was seen before idle was taken out of the spec, or put back, is no rest.
  if (!spec.idle) return withoutRest(sync);
  const use = useOf(sync);
  const seen = { ...sync, conditions: withCondition(sync, REPORTS[use]) };
  if (sync.current < spec.minReplicas) {
    const alarm = use === "used" ? IN_USE : fallbackDue(seen, use);
    if (!alarm) return asleep(seen, use);
    return spec.scaleUp.selectPolicy === "Disabled" ? kept(seen, alarm) : awake(seen, alarm);
  }
  const lasting = lastingOf(seen.conditions, REST, spec.idle.afterSeconds);
  if (!lasting || nowMs < lasting.untilMs) return seen;
  const trigger = `no metric was above its activation threshold for ${spec.idle.afterSeconds} s`;
  const conditions = withCondition(seen, scalingActive("True", "ValidMetricFound", trigger));
  return { ...stepped(seen, "idle", spec.idle.replicas), conditions, trigger, resting: true };
};

const withoutRest = (sync: NativeSync): NativeSync =>
  sync.conditions.some(({ type }) => type === REST)
    ? { ...sync, conditions: sync.conditions.filter(({ type }) => type !== REST) }
    : sync;

const useOf = (sync: NativeSync): Use => {
  const context = contextOf(sync);
  const values = sync.input.spec.metrics.flatMap((metric): Use | readonly Use[] => {
    if (metric.activationMilli === undefined) return [];
    const value = wholeMilli(metric, context);
    return value === undefined ? "unknown" : value > metric.activationMilli ? "used" : "idle";
  });
  if (values.includes("used")) return "used";
  return values.length > 0 && values.every((value) => value === "idle") ? "idle" : "unknown";
};

/**
 * The fallback of a metric with an activation threshold that has been missing for its time. It
 * stands for its own metric, so that another one which says "not in use" does not overrule it: on
 * doubt there are pods, as the author of the fallback asked for.
 */
const fallbackDue = (sync: NativeSync, use: Use): Alarm | undefined => {
  if (use !== "unknown") return undefined;
  const due = sync.readings.flatMap(({ kind, metric }) => {
    const { onMissing, name, activationMilli } = metric;
    const isOfUse = kind === "missing" && activationMilli !== undefined;
    return isOfUse && onMissing.action === "fallback" && isFallbackDue(metric, sync)
      ? [{ name, replicas: onMissing.replicas }]
      : [];
  });
  const [first, ...more] = due;
  if (!first) return undefined;
  const { name, replicas } = more.reduce(
    (most, one) => (one.replicas > most.replicas ? one : most),
    first,
  );
  const message = `the fallback of ${name}: whether the workload is in use is not known for so long`;
  return { reason: "WokenByFallback", message, replicas };
};

const awake = (sync: NativeSync, { reason, message, replicas }: Alarm): NativeSync => {
  const { minReplicas, maxReplicas } = sync.input.spec;
  const count = Math.min(maxReplicas, Math.max(minReplicas, replicas));
  const after = stepped(sync, "idle", count, { reason, value: count, message });
  const conditions = withCondition(sync, scalingActive("True", reason, message));
  return {
    ...after,
    conditions,
    trigger: message,
    ending: { kind: "settled", because: { reason, message } },
  };
};

/** On doubt, rest: whoever disables the way up wants no more pods, from zero neither. */
const kept = (sync: NativeSync, alarm: Alarm): NativeSync => {
  const reason = "DirectionDisabled";
  const message = `${alarm.message}, and spec.scaleUp is Disabled`;
  return {
    ...sync,
    conditions: withCondition(sync, scalingActive("True", reason, message)),
    ending: { kind: "settled", because: { reason, message } },
  };
};

const asleep = (sync: NativeSync, use: Use): NativeSync => {
  const unknown = use === "unknown";
  const reason = unknown ? "ActivationUnknown" : "Idle";
  const message = unknown
    ? "whether the workload is in use is not known: a metric is missing"
    : "no metric is above its activation threshold";
  const conditions = withCondition(
    sync,
    scalingActive(unknown ? "False" : "True", reason, message),
  );
  return {
    ...sync,
    conditions,
    ending: { kind: unknown ? "failed" : "settled", because: { reason, message } },
  };
};

export const IDLE_WINDOW: StepWindow = {
  states: ({ idle: rest }, { status }) =>
    rest
      ? {
          timers: timerState(
            "Out of use",
            rest.afterSeconds,
            lastingOf(status.conditions, REST, rest.afterSeconds),
          ),
        }
      : {},
  timesBy: (type) => type === REST,
};
