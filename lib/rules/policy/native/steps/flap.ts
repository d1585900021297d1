import { group, integer } from "../../../fields/field-types.ts";
import type { FlapBudget } from "../../../model/spec-native.ts";
import type { Memory } from "../../../model/windows.ts";
import { stepped } from "../../shared/steps.ts";
import type { FlapState } from "../../shared/window-states.ts";
import type { NativeStep, StepWindow } from "./sync.ts";

const REVERSALS_MAX = 100;
const PERIOD_SECONDS_MAX = 3_600;

export const FLAP_FIELDS = {
  flapBudget: group(
    "How often the count may change its direction. It may always grow, and shrinks only while a reversal is left for growing again.",
    {
      reversals: integer("Most scales against the direction of the scale before.", {
        required: true,
        least: 1,
        most: REVERSALS_MAX,
      }),
      periodSeconds: integer("In how long.", {
        required: true,
        least: 1,
        most: PERIOD_SECONDS_MAX,
      }),
    },
  ),
};

/**
 * At most so many reversals per period. A scale up is never refused, so each scale down must leave
 * one for the way up again: without it the workload stays at the larger count, the safer one. A
 * reversal is a scale against the direction of the one before it, both inside the period.
 */
export const flap: NativeStep = (sync) => {
  const { input, current, count } = sync;
  const { flapBudget } = input.spec;
  if (!flapBudget || count >= current) return stepped(sync, "flap", count);
  const { made, untilMs } = flapOf(flapBudget, input.windows.memory, input.nowMs);
  if (untilMs === undefined) return stepped(sync, "flap", count);
  const { reversals, periodSeconds } = flapBudget;
  const message = `${made} of ${reversals} reversals within ${periodSeconds} s are made, and the last one is kept for the way up`;
  return stepped(sync, "flap", current, {
    reason: "FlapBudget",
    value: reversals,
    message,
    untilMs,
  });
};

/** The budget at an instant. */
export const flapOf = (
  budget: FlapBudget,
  memory: Pick<Memory, "scaleUps" | "scaleDowns">,
  nowMs: number,
): Omit<FlapState, keyof FlapBudget> => {
  const scales = scalesWithin(memory, budget, nowMs);
  const made = reversalsOf(waysOf(scales));
  if (leavesTheWayUp(scales, budget)) return { made };
  // A budget has one reversal at least, so there is room when all of these have left.
  const last = scales.find((_, index) => leavesTheWayUp(scales.slice(index + 1), budget));
  return { made, ...(last && { untilMs: last.atMs + budget.periodSeconds * 1000 }) };
};

interface Scaled {
  readonly atMs: number;
  readonly up: boolean;
}

/**
 * The scales inside the period, oldest first; one exactly as old as the period has left. Of two at
 * one instant the one up comes first.
 */
const scalesWithin = (
  { scaleUps, scaleDowns }: Pick<Memory, "scaleUps" | "scaleDowns">,
  { periodSeconds }: FlapBudget,
  nowMs: number,
): readonly Scaled[] =>
  [
    ...scaleUps.map(({ atMs }) => ({ atMs, up: true })),
    ...scaleDowns.map(({ atMs }) => ({ atMs, up: false })),
  ]
    .filter(({ atMs }) => atMs > nowMs - periodSeconds * 1000)
    .toSorted((one, other) => one.atMs - other.atMs);

/** Which way each scale went: true for up. */
const waysOf = (scales: readonly Scaled[]): readonly boolean[] => scales.map(({ up }) => up);

export const reversalsOf = (ways: readonly boolean[]): number =>
  ways.filter((up, index) => index > 0 && ways[index - 1] !== up).length;

/** A scale down now, and one up after it, would still be within the budget. */
const leavesTheWayUp = (scales: readonly Scaled[], { reversals }: FlapBudget): boolean =>
  reversalsOf([...waysOf(scales), false, true]) <= reversals;

export const FLAP_WINDOW: StepWindow = {
  states: ({ flapBudget }, { memory }, { nowMs }) =>
    flapBudget ? { flap: { ...flapBudget, ...flapOf(flapBudget, memory, nowMs) } } : {},
};
