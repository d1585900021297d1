import type { ControllerEvent, Limit, StepOutcome } from "../../model/decision.ts";
import type { Condition, Windows } from "../../model/windows.ts";
import { type ConditionReport, setCondition } from "./conditions.ts";

/** What every set of rules carries through its steps. Each step returns the next state. */
export interface StepState<Input, Ending> {
  readonly input: Input;
  readonly conditions: readonly Condition[];
  readonly events: readonly ControllerEvent[];
  readonly steps: readonly StepOutcome[];
  /** Why the remaining steps are left out. */
  readonly ending: Ending | undefined;
}

/** The state before the first step: the stored conditions, and nothing reported yet. */
export const startedWith = <Input extends { readonly windows: Windows }>(input: Input) => ({
  input,
  conditions: input.windows.status.conditions,
  events: [],
  steps: [],
  ending: undefined,
});

/** Runs the steps in their order until one of them ends the sync. */
export const runSteps = <State extends { readonly ending: unknown }>(steps: readonly ((state: State) => State)[], from: State): State => {
  let state = from;
  for (const step of steps) {
    if (state.ending) break;
    state = step(state);
  }
  return state;
};

/** The conditions after one report, at the time of the sync. */
export const withCondition = (
  { conditions, input }: { readonly conditions: readonly Condition[]; readonly input: { readonly nowMs: number } },
  report: ConditionReport,
): readonly Condition[] => setCondition(conditions, report, input.nowMs);

type Step = Omit<StepOutcome, "limit"> & { readonly limit?: Limit | undefined };

/** The state with one more line in the explanation, with the limit where one changed the count. */
export const explained = <State extends { readonly steps: readonly StepOutcome[] }>(state: State, { limit, ...step }: Step): State => ({
  ...state,
  steps: [...state.steps, { ...step, ...(limit && { limit }) }],
});

/** The state after a step that decides about the count: the new count, and its line in the explanation. */
export const stepped = <State extends { readonly count: number; readonly steps: readonly StepOutcome[] }>(
  state: State,
  step: string,
  after: number,
  limit?: Limit,
): State => ({ ...explained(state, { step, before: state.count, after, limit }), count: after });

/** An Event of type Warning. */
export const warning = (reason: string, message: string): ControllerEvent => ({ type: "Warning", reason, message });
