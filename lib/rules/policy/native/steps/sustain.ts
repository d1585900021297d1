import { integer } from "../../../fields/field-types.ts";
import { newestRunAt } from "../../../model/windows.ts";
import { type ConditionReport, lastingOf, stepped, withCondition } from "../../shared/steps.ts";
import { timerState } from "../../shared/window-states.ts";
import { moveOf, type NativeStep, type NativeSync, type StepWindow } from "./sync.ts";

declare module "../../../model/spec-native.ts" {
  interface NativeRules {
    readonly sustainSeconds: number;
  }
}

const SUSTAIN_SECONDS_MAX = 3_600;

export const SUSTAIN_FIELDS = {
  sustainSeconds: integer("How long the metrics must ask for it without interruption.", {
    default: 0,
    least: 0,
    most: SUSTAIN_SECONDS_MAX,
  }),
};

const BREACH = { up: "BreachAbove", down: "BreachBelow" } as const;

export const breach = (
  direction: keyof typeof BREACH,
  status: ConditionReport["status"],
): ConditionReport => ({
  type: BREACH[direction],
  status,
  reason: status === "True" ? "Breached" : status === "False" ? "Within" : "NotMeasured",
  message:
    status === "Unknown"
      ? "the metrics were not looked at, so that a breach is not known to last"
      : `the metrics ${status === "True" ? "ask" : "do not ask"} for ${direction === "up" ? "more" : "fewer"} pods`,
});

/**
 * A breach must last: the count moves only when the metrics have asked for that direction for so
 * long without a break. The end itself is allowed.
 */
export const sustain: NativeStep = (sync) => {
  const { count, current, input } = sync;
  const seen = withBreaches(sync);
  const move = moveOf(sync);
  if (!move || move.rules.sustainSeconds === 0) return stepped(seen, "sustain", count);
  const { sustainSeconds } = move.rules;
  const untilMs =
    lastingOf(seen.conditions, move.up ? BREACH.up : BREACH.down, sustainSeconds)?.untilMs ??
    Number.POSITIVE_INFINITY;
  if (input.nowMs >= untilMs) return stepped(seen, "sustain", count);
  const message = `the breach has not lasted ${sustainSeconds} s`;
  return stepped(seen, "sustain", current, {
    reason: "NotSustained",
    value: sustainSeconds,
    message,
    untilMs,
  });
};

/** A sync or two may be lost; after more of them, it is not known whether the breach lasted. */
const LOST_SYNCS = 3;

/** A woken sync makes a short step, and the planned one after it is not late for that. */
const wasLeftAlone = ({ input, recommendations }: NativeSync): boolean => {
  const newest = recommendations[newestRunAt(recommendations)];
  if (newest?.stepMs === undefined) return false;
  const stepMs = Math.max(newest.stepMs, input.syncPeriodMs ?? 0);
  return input.nowMs - newest.lastMs > LOST_SYNCS * stepMs;
};

const withBreaches = (before: NativeSync): NativeSync => {
  const sync = wasLeftAlone(before) ? unseen(before) : before;
  const { count, current } = sync;
  const up = {
    ...sync,
    conditions: withCondition(sync, breach("up", count > current ? "True" : "False")),
  };
  return {
    ...up,
    conditions: withCondition(up, breach("down", count < current ? "True" : "False")),
  };
};

/** Where nothing was combined, a breach is not known to last: one that seemed to begins anew. */
export const unseen = (sync: NativeSync): NativeSync => {
  const up = { ...sync, conditions: withCondition(sync, breach("up", "Unknown")) };
  return { ...up, conditions: withCondition(up, breach("down", "Unknown")) };
};

export const SUSTAIN_WINDOW: StepWindow = {
  states: ({ scaleUp, scaleDown }, { status }) => {
    const timer = (name: string, seconds: number, type: string) =>
      timerState(name, seconds, lastingOf(status.conditions, type, seconds));
    return {
      timers: [
        ...timer("Scale up sustain", scaleUp.sustainSeconds, BREACH.up),
        ...timer("Scale down sustain", scaleDown.sustainSeconds, BREACH.down),
      ],
    };
  },
  timesBy: (type) => type === BREACH.up || type === BREACH.down,
};
