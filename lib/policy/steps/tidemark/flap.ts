import type { Memory } from "../../../model/windows.ts";
import { type NativeStep, stepped } from "./sync.ts";

/** Once so many reversals lie inside the period, the workload stays at the larger count: a scale down waits, a scale up never does. */
export const flap: NativeStep = (sync) => {
  const { input, current, count } = sync;
  const { flapBudget } = input.spec;
  if (!flapBudget || count >= current) return stepped(sync, "flap", count);
  const turns = turnsOf(input.windows.memory).filter(({ atMs }) => atMs > input.nowMs - flapBudget.periodSeconds * 1000);
  if (turns.length < flapBudget.reversals) return stepped(sync, "flap", count);
  // Room comes when so many have left that fewer than the budget remain.
  const leaving = turns.at(-flapBudget.reversals);
  const message = `${turns.length} reversals within ${flapBudget.periodSeconds} s use up the budget of ${flapBudget.reversals}`;
  const limit = { reason: "FlapBudget", value: flapBudget.reversals, message };
  return stepped(sync, "flap", current, leaving ? { ...limit, untilMs: leaving.atMs + flapBudget.periodSeconds * 1000 } : limit);
};

/** The scales, oldest first, that went the other way than the one before. Of two at one instant the one up comes first. */
export const turnsOf = ({ scaleUps, scaleDowns }: Pick<Memory, "scaleUps" | "scaleDowns">): readonly { readonly atMs: number }[] =>
  [...scaleUps.map(({ atMs }) => ({ atMs, up: true })), ...scaleDowns.map(({ atMs }) => ({ atMs, up: false }))]
    .toSorted((one, other) => one.atMs - other.atMs)
    .filter(({ up }, index, all) => index > 0 && all[index - 1]?.up !== up);
