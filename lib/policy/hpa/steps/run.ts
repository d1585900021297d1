import type { Decision, GaugeWrite } from "../../../model/decision.ts";
import { conclude } from "./conclude.ts";
import { type HpaInput, type HpaStep, type HpaSync, started } from "./sync.ts";

/** Runs the steps until one of them ends the sync, and says what follows. `series`: what the rules publish of a sync. */
export const runSteps = (steps: readonly HpaStep[], input: HpaInput, series?: (sync: HpaSync) => readonly GaugeWrite[] | undefined): Decision => {
  let sync: HpaSync = started(input);
  for (const step of steps) {
    sync = step(sync);
    if (sync.ending) break;
  }
  return conclude(sync, series?.(sync));
};
