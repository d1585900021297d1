import type { ControllerEvent, Limit, StepOutcome } from "../../model/decision.ts";
import type { Condition, Windows } from "../../model/windows.ts";

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
export const runSteps = <State extends { readonly ending: unknown }>(
  steps: readonly ((state: State) => State)[],
  from: State,
): State => {
  let state = from;
  for (const step of steps) {
    if (state.ending) break;
    state = step(state);
  }
  return state;
};

/** The conditions after one report, at the time of the sync. */
export const withCondition = (
  {
    conditions,
    input,
  }: { readonly conditions: readonly Condition[]; readonly input: { readonly nowMs: number } },
  report: ConditionReport,
): readonly Condition[] => setCondition(conditions, report, input.nowMs);

type Step = Omit<StepOutcome, "limit"> & { readonly limit?: Limit | undefined };

/** The state with one more line in the explanation, with the limit where one changed the count. */
export const explained = <State extends { readonly steps: readonly StepOutcome[] }>(
  state: State,
  step: Step,
): State => ({ ...state, steps: withLine(state.steps, step) });

/** Every decision has a dozen lines, so that nothing is copied more often than once. */
const withLine = (
  steps: readonly StepOutcome[],
  { step, before, after, limit }: Step,
): readonly StepOutcome[] => [
  ...steps,
  limit ? { step, before, after, limit } : { step, before, after },
];

/**
 * The state after a step that decides about the count: the new count, and its line in the
 * explanation.
 */
export const stepped = <
  State extends { readonly count: number; readonly steps: readonly StepOutcome[] },
>(
  state: State,
  step: string,
  after: number,
  limit?: Limit,
): State => ({
  ...state,
  steps: withLine(state.steps, { step, before: state.count, after, limit }),
  count: after,
});

export const warningEvent = (reason: string, message: string): ControllerEvent => ({
  type: "Warning",
  reason,
  message,
});

export type ConditionReport = Omit<Condition, "transitionMs">;

/** Makes the reports of one type of condition. */
export const conditionOf =
  (type: string) =>
  (status: ConditionReport["status"], reason: string, message: string): ConditionReport => ({
    type,
    status,
    reason,
    message,
  });

/**
 * Reports one condition: in place, or at the end when its type is new. The transition moves with
 * the status only; reason and message are overwritten every time (hpa.md 2.7).
 */
export const setCondition = (
  conditions: readonly Condition[],
  report: ConditionReport,
  nowMs: number,
): readonly Condition[] => {
  const known = conditions.findIndex(({ type }) => type === report.type);
  if (known < 0) return [...conditions, { ...report, transitionMs: nowMs }];
  const before = conditions[known];
  // At rest nothing changes, and the list stays the one that was stored.
  if (
    before?.status === report.status &&
    before.reason === report.reason &&
    before.message === report.message
  )
    return conditions;
  const transitionMs = before?.status === report.status ? before.transitionMs : nowMs;
  return conditions.with(known, { ...report, transitionMs });
};

/** True when the condition is there and has status True. */
export const isTrue = (conditions: readonly Condition[], type: string): boolean =>
  conditions.some((condition) => condition.type === type && condition.status === "True");

/**
 * Whether the autoscaler itself put the workload to zero: rules that remember it wake no other zero
 * (hpa.md 2.4 step 4).
 */
export const scaledToZero = (zero: boolean): ConditionReport =>
  zero
    ? {
        type: "ScaledToZero",
        status: "True",
        reason: "ScaledToZero",
        message: "the HPA controller scaled the workload to zero",
      }
    : {
        type: "ScaledToZero",
        status: "False",
        reason: "NotScaledToZero",
        message: "the HPA controller did not scale the workload to zero",
      };

/** Since when a condition has been true, and the first instant at which that is long enough. */
export interface Lasting {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** What must last `seconds` before it counts; `undefined` while the condition is not true. */
export const lastingOf = (
  conditions: readonly Condition[],
  type: string,
  seconds: number,
): Lasting | undefined => {
  const sinceMs = conditions.find(
    (condition) => condition.type === type && condition.status === "True",
  )?.transitionMs;
  return sinceMs === undefined ? undefined : { sinceMs, untilMs: sinceMs + seconds * 1000 };
};
