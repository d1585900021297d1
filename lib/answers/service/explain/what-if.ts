import type { StepOutcome } from "../../../rules/model/decision.ts";
import { decimalText } from "../../../rules/model/quantity.ts";
import { askDialect } from "../../../rules/policy/dialects.ts";
import type { StoppingMetric } from "../../../rules/policy/explanations.ts";
import { withReadableSelectors } from "../../../rules/policy/shared/scale-sentence.ts";
import { isHeld } from "../../../stack/report/evaluation-state.ts";
import type { DirectionView, WindowsView } from "../../views/windows.ts";
import { rfc3339 } from "../times.ts";
import { SECOND_MS } from "../../../rules/model/time-text.ts";
import { leadingMetric, type Measurements } from "./leading-metric.ts";
import type { Evaluation, WithoutHold } from "../../../rules/model/scale-records.ts";

export interface WhatIfInput extends Measurements {
  readonly windows: WindowsView;
}

/**
 * What would change the outcome: first the metrics, then each limit that applied, in the order of
 * the steps. One sentence each.
 */
export const whatIf = (seen: WhatIfInput): readonly string[] => {
  const sentences = [
    ...holds(seen.evaluation),
    ...failures(seen),
    ...inactive(seen),
    ...leadingMetric(seen),
    ...seen.evaluation.steps.flatMap((step) => limitSentence(step, seen.windows, boundsOf(seen))),
  ];
  return sentences.length > 0
    ? sentences.map(withReadableSelectors)
    : ["No metric was measured, and no limit applied"];
};

/** A hold that prevented another count comes first, because nothing else matters until it ends. */
const holds = (evaluation: Evaluation): readonly string[] => {
  const { because, from, steps, withoutHold } = evaluation;
  if (withoutHold)
    return [`Held because ${because.message}; without this hold ${outcomeText(withoutHold)}`];
  if (isHeld(evaluation))
    return [
      `Held because ${because.message}; without this hold the count would be ${steps.at(-1)?.after}`,
    ];
  return from === undefined ? [`No decision is possible: ${because.message}`] : [];
};

const outcomeText = ({ to, because }: WithoutHold): string =>
  to === undefined
    ? `the rules would hold as well: ${because.message}`
    : `the count would be ${to}`;

const fallbackText = ({ fallback }: StoppingMetric): string =>
  fallback
    ? `, or was missing for ${fallback.afterSeconds} s: then its fallback of ${fallback.replicas} counts`
    : "";

/** A count that no metric moves: 0 by hand, or at rest by `idle`. */
const inactive = ({ evaluation, spec }: WhatIfInput): readonly string[] => {
  const { because, from } = evaluation;
  if (because.reason === "ScalingDisabled")
    return [
      "The count of 0 was written by hand, so scaling is off; set the count to 1 or more by hand to turn it on",
    ];
  if (!spec || from === undefined || because.reason === "Activated") return [];
  const rest = askDialect(spec, ({ explains }, own) => explains.rest(own, from));
  if (!rest || rest.levels.length === 0) return [];
  const levels = rest.levels.map(
    ({ name, aboveMilli }) => `${name} above ${decimalText(aboveMilli)}`,
  );
  return [`It rests: ${levels.join(" or ")} would wake it straight to ${rest.wakesTo}`];
};

/** An unreadable metric never shrinks a workload (hpa.md 2.5). */
const failures = ({ evaluation: { metrics, because }, spec }: WhatIfInput): readonly string[] => {
  const failed = metrics.filter((metric) => metric.kind === "failed");
  if (failed.length === 0) return [];
  const stopping =
    spec && askDialect(spec, ({ explains }, own) => explains.stoppedBy(own, because));
  if (stopping)
    return [`Nothing is decided until ${stopping.name} can be read${fallbackText(stopping)}`];
  const names = failed.map(({ name }) => name).join(", ");
  return failed.length === metrics.length
    ? [`No decision is possible until a metric can be read: ${names}`]
    : [`The count cannot fall while a metric cannot be read: ${names}`];
};

/**
 * The bounds that the rules had, which are never narrower than the manifest's, and those that held.
 */
interface WhatIfBounds {
  readonly rules: { readonly min: number; readonly max: number };
  readonly held: { readonly min: number; readonly max: number };
}

/** A scale event has no bounds: the manifest's held. */
const boundsOf = ({ evaluation: { bounds }, spec }: WhatIfInput): WhatIfBounds | undefined => {
  const own = spec && { min: spec.minReplicas, max: spec.maxReplicas };
  const held = bounds ?? own;
  if (!held) return undefined;
  return {
    held,
    rules: own ? { min: Math.min(own.min, held.min), max: Math.max(own.max, held.max) } : held,
  };
};

const limitSentence = (
  step: StepOutcome,
  windows: WindowsView,
  bounds: WhatIfBounds | undefined,
): readonly string[] => {
  const { before, after, limit } = step;
  // Reported above when it stopped everything without moving the count.
  if (!limit || before === after) return [];
  const until = limit.untilMs === undefined ? "" : ` until ${rfc3339(limit.untilMs)}`;
  switch (reasonOf(step, bounds)) {
    case "TooManyReplicas":
      return [
        `maxReplicas is ${bounds?.rules.max ?? limit.value}, ${before} was wanted: a higher maxReplicas would allow more`,
      ];
    case "TooFewReplicas":
      return [
        `minReplicas is ${bounds?.rules.min ?? limit.value}, ${before} was wanted: a lower minReplicas would allow fewer`,
      ];
    case "ScaleUpLimit":
      return [
        `Scaling up is limited to ${after} in this sync, ${before} was wanted${nextRoom("scaleUp", windows)}`,
        ...beyondBounds(before, bounds),
      ];
    case "ScaleDownLimit":
      return [
        `Scaling down is limited to ${after} in this sync, ${before} was wanted${nextRoom("scaleDown", windows)}`,
        ...beyondBounds(before, bounds),
      ];
    case "ScaleUpStabilized":
    case "ScaleDownStabilized": {
      const untilText = until || heldUntil(limit.reason, windows);
      return [
        `Stabilization holds ${after}${untilText}: then it allows ${thenText(step, untilText, windows)}, if the recommendations stay as they are`,
      ];
    }
    default:
      return [
        `${step.step}: ${limit.message}${until}; without it the count would be ${before} instead of ${after}`,
      ];
  }
};

/**
 * The limit that really was in the way: some rules report their rate also where it allows all that
 * the bound does.
 */
const reasonOf = ({ after, limit }: StepOutcome, bounds: WhatIfBounds | undefined): string => {
  if (limit?.reason === "ScaleUpLimit" && bounds && after >= bounds.rules.max)
    return "TooManyReplicas";
  return limit?.reason === "ScaleDownLimit" && bounds && after <= bounds.rules.min
    ? "TooFewReplicas"
    : (limit?.reason ?? "");
};

/** Where the wait for the rate ends: at the bounds that held, of a schedule or an override too. */
const beyondBounds = (wanted: number, bounds: WhatIfBounds | undefined): readonly string[] => {
  if (!bounds) return [];
  const { min, max } = bounds.held;
  if (wanted > max) return [`The count can grow to ${max} at most: maxReplicas is ${max}`];
  return wanted < min ? [`The count can fall to ${min} at least: minReplicas is ${min}`] : [];
};

const nextRoom = (direction: DirectionView, { rates }: WindowsView): string => {
  const leaving = rates
    .filter((rate) => rate.direction === direction)
    .flatMap(({ events }) => events.map(({ leaves }) => leaves))
    .sort()[0];
  return leaving === undefined ? "" : `: the next scale event leaves its period at ${leaving}`;
};

const directionOf = (reason: string): DirectionView =>
  reason === "ScaleUpStabilized" ? "scaleUp" : "scaleDown";

/**
 * What is held when the recommendation that holds now has left the window: another one that is
 * younger, and what is wanted once no such one is left.
 */
const thenText = (
  { before, limit }: StepOutcome,
  untilText: string,
  { recommendations, stabilization }: WindowsView,
): string => {
  const direction = directionOf(limit?.reason ?? "");
  const window = stabilization.find((one) => one.direction === direction);
  const untilMs = Date.parse(untilText.replace(" until ", ""));
  if (!window || Number.isNaN(untilMs)) return String(before);
  const left = recommendations
    .map(({ replicas, last }) => ({
      replicas,
      endMs: Date.parse(last) + window.windowSeconds * SECOND_MS,
    }))
    .filter(
      ({ replicas, endMs }) =>
        endMs > untilMs && (direction === "scaleDown" ? replicas > before : replicas < before),
    );
  if (left.length === 0) return String(before);
  const counts = left.map(({ replicas }) => replicas);
  const next = direction === "scaleDown" ? Math.max(...counts) : Math.min(...counts);
  const lastMs = Math.max(...left.map(({ endMs }) => endMs));
  return `${next}, and ${before} from ${rfc3339(lastMs)} on`;
};

const heldUntil = (reason: string, { stabilization }: WindowsView): string => {
  const direction = directionOf(reason);
  const held = stabilization.find((window) => window.direction === direction)?.held;
  return held ? ` until ${held.until}` : "";
};
