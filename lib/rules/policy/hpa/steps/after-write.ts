import type { HpaSpec } from "../../../model/spec-hpa.ts";
import type { Windows } from "../../../model/windows.ts";
import { scaledToZero, setCondition } from "../../shared/steps.ts";
import {
  afterRescale,
  type AnsweredWrite,
  type Change,
  lastScaledAt,
  type OutsideChange,
  withScaleEvent,
  type Written,
} from "../../shared/recorded-scales.ts";
import { mayWake } from "./branch.ts";
import { failedUpdateScale, succeededRescale } from "./sentences.ts";

/** hpa.md 2.4 step 6. */
export const afterHpaWrite = (spec: HpaSpec, write: AnsweredWrite): Written =>
  afterRescale(write, failedUpdateScale, (windows, change) =>
    scaled(windows, spec, change, change.to === 0 && spec.minReplicas === 0 && mayWake(spec)),
  );

/**
 * The windows with a scale that a later sync settles. To zero it was made under a spec that allowed
 * that, and that is all that counts: the spec may be another one by now, and without the condition
 * nothing would ever wake the workload.
 */
export const withHpaScale = (spec: HpaSpec, windows: Windows, change: Change): Windows =>
  scaled(windows, spec, change, change.to === 0);

/**
 * A change by another controller counts as this one's own. The HPA controller records its own
 * scales only (hpa.md 3.9), so a person's change counts nowhere.
 */
export const withOutsideHpaChange = (
  spec: HpaSpec,
  windows: Windows,
  { beside, ...change }: OutsideChange,
): Windows =>
  beside
    ? {
        memory: withScaleEvent(windows.memory, spec.behavior, change),
        status: lastScaledAt(windows.status, change.atMs),
      }
    : windows;

const scaled = (windows: Windows, spec: HpaSpec, change: Change, zero: boolean): Windows => {
  const { to, atMs } = change;
  const able = setCondition(windows.status.conditions, succeededRescale(to), atMs);
  return {
    memory: withScaleEvent(windows.memory, spec.behavior, change),
    status: {
      ...windows.status,
      conditions: setCondition(able, scaledToZero(zero), atMs),
      desiredReplicas: to,
      lastScaleMs: atMs,
    },
  };
};
