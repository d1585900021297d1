import { integer } from "../../../fields/field-types.ts";
import type { NativeSpec } from "../../../model/spec-native.ts";
import { type ForbiddenWindows, forbiddenWindows } from "../../shared/forbidden.ts";
import { stepped } from "../../shared/steps.ts";
import { forbiddenStates } from "../../shared/window-states.ts";
import { moveOf, type NativeStep, type StepWindow } from "./sync.ts";
import { DAY_SECONDS } from "../../../model/time-text.ts";

declare module "../../../model/spec-native.ts" {
  interface NativeRules {
    /** Seconds after a scale in either direction. */
    readonly forbiddenAfterEventSeconds: number;
  }
}

export const COOL_DOWN_FIELDS = {
  forbiddenAfterEventSeconds: integer(
    "No scale in this direction for this time after a scale of either direction.",
    {
      default: 0,
      least: 0,
      most: DAY_SECONDS,
    },
  ),
};

/** The forbidden window after the last scale of either direction; its end itself is allowed. */
export const coolDown: NativeStep = (sync) => {
  const { input, current, count } = sync;
  const move = moveOf(sync);
  if (!move) return stepped(sync, "cool down", count);
  const { up, down } = forbiddenOf(input.spec, input.windows.status.lastScaleMs, input.nowMs);
  const { windowMs, untilMs } = move.up ? up : down;
  if (untilMs === undefined) return stepped(sync, "cool down", count);
  const seconds = windowMs / 1000;
  const message = `scaling ${move.up ? "up" : "down"} is forbidden for ${seconds} s after any scale`;
  return stepped(sync, "cool down", current, {
    reason: "ForbiddenWindow",
    value: seconds,
    message,
    untilMs,
  });
};

const forbiddenOf = (
  { scaleUp, scaleDown }: NativeSpec,
  lastScaleMs: number | undefined,
  nowMs: number,
): ForbiddenWindows =>
  forbiddenWindows(
    {
      upMs: scaleUp.forbiddenAfterEventSeconds * 1000,
      downMs: scaleDown.forbiddenAfterEventSeconds * 1000,
    },
    lastScaleMs,
    nowMs,
  );

export const COOL_DOWN_WINDOW: StepWindow = {
  states: (spec, { status }, { nowMs }) => ({
    forbidden: forbiddenStates(forbiddenOf(spec, status.lastScaleMs, nowMs)),
  }),
};
