import type { FlapBudget } from "../../../model/spec-native.ts";
import type { Memory } from "../../../model/windows.ts";
import { type NativeStep, stepped } from "./sync.ts";

/**
 * At most so many reversals per period. A scale up is never refused, so each scale down must leave one for the way up again: without it the workload stays at the larger
 * count, the safer one. A reversal is a scale against the direction of the one before it, both inside the period.
 */
export const flap: NativeStep = (sync) => {
  const { input, current, count } = sync;
  const { flapBudget } = input.spec;
  if (!flapBudget || count >= current) return stepped(sync, "flap", count);
  const { made, isOpen, untilMs } = flapOf(flapBudget, input.windows.memory, input.nowMs);
  if (isOpen) return stepped(sync, "flap", count);
  const { reversals, periodSeconds } = flapBudget;
  const message = `${made} of ${reversals} reversals within ${periodSeconds} s are made, and the last one is kept for the way up`;
  const limit = { reason: "FlapBudget", value: reversals, message };
  return stepped(sync, "flap", current, untilMs === undefined ? limit : { ...limit, untilMs });
};

/** The budget at an instant. */
interface FlapNow {
  /** Reversals inside the period. */
  readonly made: number;
  /** A scale down, and one up after it, still fit. */
  readonly isOpen: boolean;
  /** Earliest time at which a scale down fits, if none is made before; absent while one fits, and where none ever will. */
  readonly untilMs?: number;
}

export const flapOf = (budget: FlapBudget, memory: Pick<Memory, "scaleUps" | "scaleDowns">, nowMs: number): FlapNow => {
  const scales = scalesWithin(memory, budget, nowMs);
  const made = reversalsOf(scales);
  if (leavesTheWayUp(scales, budget)) return { made, isOpen: true };
  const untilMs = roomMs(scales, budget);
  return { made, isOpen: false, ...(untilMs !== undefined && { untilMs }) };
};

interface Scaled {
  readonly atMs: number;
  readonly up: boolean;
}

/** The scales inside the period, oldest first; one exactly as old as the period has left. Of two at one instant the one up comes first. */
const scalesWithin = (
  { scaleUps, scaleDowns }: Pick<Memory, "scaleUps" | "scaleDowns">,
  { periodSeconds }: FlapBudget,
  nowMs: number,
): readonly Scaled[] =>
  [...scaleUps.map(({ atMs }) => ({ atMs, up: true })), ...scaleDowns.map(({ atMs }) => ({ atMs, up: false }))]
    .filter(({ atMs }) => atMs > nowMs - periodSeconds * 1000)
    .toSorted((one, other) => one.atMs - other.atMs);

export const reversalsOf = (scales: readonly Pick<Scaled, "up">[]): number =>
  scales.filter(({ up }, index) => index > 0 && scales[index - 1]?.up !== up).length;

/** A scale down now, and one up after it, would still be within the budget. */
const leavesTheWayUp = (scales: readonly Scaled[], { reversals }: FlapBudget): boolean =>
  reversalsOf([...scales, { up: false }, { up: true }]) <= reversals;

/** Earliest time at which a scale down fits the budget, if none is made before. */
const roomMs = (scales: readonly Scaled[], budget: FlapBudget): number | undefined => {
  const last = scales.find((_, index) => leavesTheWayUp(scales.slice(index + 1), budget));
  return last && last.atMs + budget.periodSeconds * 1000;
};
