import type { Behavior } from "../../../model/spec-hpa.ts";
import { longestPeriodSeconds, type NativeSpec } from "../../../model/spec-native.ts";
import type { Windows } from "../../../model/windows.ts";
import { setCondition } from "../../shared/steps.ts";
import {
  afterRescale,
  type AnsweredWrite,
  type Change,
  lastScaledAt,
  type OutsideChange,
  withScaleEvent,
  type Written,
} from "../../shared/recorded-scales.ts";
import { ableToScale } from "./sentences.ts";

export const afterNativeWrite = (spec: NativeSpec, write: AnsweredWrite): Written =>
  afterRescale(
    write,
    (error) =>
      ableToScale(
        "False",
        "FailedUpdateScale",
        `the scale of the target could not be written: ${error}`,
      ),
    (windows, change) => withNativeScale(spec, windows, change),
  );

const keptFor = (spec: NativeSpec): Behavior => {
  const kept = {
    selectPolicy: "Max",
    policies: [{ type: "Pods", value: 1, periodSeconds: longestPeriodSeconds(spec) }],
  } as const;
  return { scaleUp: kept, scaleDown: kept };
};

/**
 * The windows with a change by another controller or by a person: it counts against policies,
 * forbidden windows and the flap budget (docs/pod-autoscaler.md).
 */
export const withOutsideNativeChange = (
  spec: NativeSpec,
  windows: Windows,
  { beside: _who, ...change }: OutsideChange,
): Windows => ({
  memory: withScaleEvent(windows.memory, keptFor(spec), change),
  status: lastScaledAt(windows.status, change.atMs),
});

/**
 * The windows with a scale that was, or may have been, made. Events of both directions are kept for
 * the longest period of the spec: every policy and the flap budget look at both.
 */
export const withNativeScale = (spec: NativeSpec, windows: Windows, change: Change): Windows => {
  const { to, atMs } = change;
  const report = ableToScale(
    "True",
    "SucceededRescale",
    `the scale of the target was set to ${to}`,
  );
  return {
    memory: withScaleEvent(windows.memory, keptFor(spec), change),
    status: {
      ...windows.status,
      conditions: setCondition(windows.status.conditions, report, atMs),
      desiredReplicas: to,
      // Settled late, a scale never moves the forbidden windows back.
      lastScaleMs: Math.max(windows.status.lastScaleMs ?? Number.NEGATIVE_INFINITY, atMs),
    },
  };
};
