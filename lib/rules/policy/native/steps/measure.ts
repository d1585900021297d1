import type { NativeMetric } from "../../../model/spec-native.ts";
import type { Condition } from "../../../model/windows.ts";
import { lastingOf, setCondition, warningEvent } from "../../shared/steps.ts";
import { timerState } from "../../shared/window-states.ts";
import { inputReadings, measureNative, type CountReading } from "../metrics/measure.ts";
import { isMissingType, missing, missingType } from "./sentences.ts";
import { contextOf, type NativeStep, type NativeSync, type StepWindow } from "./sync.ts";

/**
 * Every metric on its own, in order, but for the inputs of formulas; since when one is missing is
 * remembered under its name, and forgotten with it.
 */
export const measure: NativeStep = (sync) => {
  const { spec, nowMs } = sync.input;
  const context = contextOf(sync);
  // Only an idle workload gets here without replicas: no pod can be measured, and only activation
  // wakes it. Else it would be warned of at every sync.
  const measuring = spec.metrics.filter(
    ({ input, activationMilli }) => !input && (sync.current > 0 || activationMilli !== undefined),
  );
  const readings = measuring.map((metric): CountReading => {
    const inputs = inputReadings(metric, spec.metrics, context);
    return { ...measureNative(metric, context), ...(inputs && { inputs }) };
  });
  const absent = readings.filter((reading) => reading.kind === "missing");
  return {
    ...sync,
    readings,
    conditions: withMissing(sync.conditions, absent, nowMs),
    events: absent.length === 0 ? sync.events : [...sync.events, ...absent.map(warningOf)],
  };
};

type Absent = Extract<CountReading, { kind: "missing" }>;

const warningOf = ({ reason, message }: Absent) => warningEvent(reason, message);

const withMissing = (
  conditions: readonly Condition[],
  absent: readonly Absent[],
  nowMs: number,
): readonly Condition[] => {
  if (absent.length === 0 && !conditions.some(({ type }) => isMissingType(type))) return conditions;
  const names = new Set(absent.map(({ metric }) => missingType(metric.name)));
  const kept = conditions.filter(({ type }) => !isMissingType(type) || names.has(type));
  return absent.reduce<readonly Condition[]>(
    (all, { metric, reason, message }) =>
      setCondition(all, missing(metric.name, reason, message), nowMs),
    kept,
  );
};

/** True for a metric with a fallback that has been missing for its time. */
export const isFallbackDue = (
  { name, onMissing }: NativeMetric,
  { conditions, input }: Pick<NativeSync, "conditions" | "input">,
): boolean => {
  if (onMissing.action !== "fallback") return false;
  const lasting = lastingOf(conditions, missingType(name), onMissing.afterSeconds);
  return lasting !== undefined && input.nowMs >= lasting.untilMs;
};

/** How long a metric with a fallback has been missing. */
export const MISSING_WINDOW: StepWindow = {
  states: ({ metrics }, { status }) => ({
    timers: metrics.flatMap(({ name, onMissing }) => {
      if (onMissing.action !== "fallback") return [];
      const { afterSeconds } = onMissing;
      return timerState(
        `Fallback of ${name}`,
        afterSeconds,
        lastingOf(status.conditions, missingType(name), afterSeconds),
      );
    }),
  }),
  timesBy: isMissingType,
};
