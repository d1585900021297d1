import { integer } from "../../../fields/field-types.ts";
import { newestRunAt } from "../../../model/windows.ts";
import {
  conditionOf,
  type ConditionReport,
  lastingOf,
  setCondition,
  stepped,
} from "../../shared/steps.ts";
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
): ConditionReport => BREACHES[direction][status];

const breachesOf = (
  direction: keyof typeof BREACH,
  wanted: string,
): Readonly<Record<ConditionReport["status"], ConditionReport>> => {
  const report = conditionOf(BREACH[direction]);
  return {
    True: report("True", "Breached", `the metrics ask for ${wanted} pods`),
    False: report("False", "Within", `the metrics do not ask for ${wanted} pods`),
    Unknown: report(
      "Unknown",
      "NotMeasured",
      "the metrics were not looked at, so that a breach is not known to last",
    ),
  };
};

const BREACHES = { up: breachesOf("up", "more"), down: breachesOf("down", "fewer") } as const;

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
  return withBoth(sync, {
    up: count > current ? "True" : "False",
    down: count < current ? "True" : "False",
  });
};

/** Where nothing was combined, a breach is not known to last: one that seemed to begins anew. */
export const unseen = (sync: NativeSync): NativeSync =>
  withBoth(sync, { up: "Unknown", down: "Unknown" });

const withBoth = (
  sync: NativeSync,
  { up, down }: Readonly<Record<keyof typeof BREACH, ConditionReport["status"]>>,
): NativeSync => {
  const { nowMs } = sync.input;
  const first = setCondition(sync.conditions, breach("up", up), nowMs);
  const conditions = setCondition(first, breach("down", down), nowMs);
  return conditions === sync.conditions ? sync : { ...sync, conditions };
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
