import fc from "fast-check";
import type { MeasuredOutcome } from "../../lib/rules/doctor/measured.ts";
import type { Turns } from "../../lib/rules/model/decision.ts";
import type { DialectName } from "../../lib/rules/model/spec.ts";
import { decide, metricsInDetail } from "../../lib/rules/policy/decide.ts";
import { asksFor, drawnOf, inputAt, isKnown, presentSteps, readText } from "./turns-world.ts";

/*
 * The property: of each drawn evaluation the stated threshold is true. At the value that is named
 * the rules ask for another count, one unit of its last digit below it they ask as they do now, and
 * so does every value that is looked at between the two thresholds.
 */

export const TURN_DIALECTS: readonly DialectName[] = [
  "hpa",
  "original",
  "multi-threshold",
  "watermark",
  "native",
];

type Drawn = Parameters<typeof inputAt>[0];

/** What production decides for a metric where its value is another one. */
const asksAt = (drawn: Drawn, steps: bigint): string => {
  const input = inputAt(drawn, steps);
  const asks = input ? asksFor(decide(input).metrics[0], drawn.current) : "nothing";
  // A metric that may only scale up has no say where it asks for fewer.
  return asks === "fewer" && drawn.dialect === "native" && drawn.scaleUpOnly ? "same" : asks;
};

/** The steps of a text, and of the number one unit of the last digit below it. */
const stepsOf = (
  text: string,
  digits: number,
): { readonly at: bigint; readonly justBelow: bigint } => {
  const read = readText(text);
  const number = read.number * 10n ** BigInt(digits - read.digits);
  const tens = 10n ** BigInt(digits);
  const steps = number * read.unit;
  return {
    at: steps % tens === 0n ? steps / tens : steps / tens + 1n,
    justBelow: ((number - 1n) * read.unit) / tens,
  };
};

/** The digits with which all texts of one metric are printed; zeros at the end are left out. */
const digitsOf = ({ value, below, above }: Turns): number => {
  const texts = [value, below?.value, above?.value].filter((text) => text !== undefined);
  const read = texts.map(readText);
  const most = (read[0]?.unit ?? 1n).toString().length - 1;
  const first = value.endsWith("%") ? 1 : 2;
  return Math.max(Math.min(first, most), ...read.map(({ digits }) => digits));
};

type Steps = ReturnType<typeof stepsOf>;

/** The turns of a metric in steps, and what it asks for now. */
interface Told {
  readonly drawn: Drawn;
  readonly asks: string;
  readonly value: Steps;
  readonly below: Steps | undefined;
  readonly above: Steps | undefined;
}

const lowerFault = ({ drawn, asks, value, below }: Told, says: string): string | undefined => {
  if (!below) return undefined;
  if (value.at < below.at) return "the value is below its lower turn";
  if (asksAt(drawn, below.at) !== asks) return "at the lower turn it asks for something else";
  return asksAt(drawn, below.justBelow) === says ? undefined : "below the lower turn";
};

const upperFault = ({ drawn, asks, value, below, above }: Told, says: string) => {
  if (!above) return undefined;
  if (value.at >= above.at) return "the value is at or above its upper turn";
  if (asksAt(drawn, above.at) !== says) return "at the upper turn";
  const isBelowBoth = below && above.justBelow < below.at;
  return isBelowBoth || asksAt(drawn, above.justBelow) === asks
    ? undefined
    : "just below the upper turn it asks for something else";
};

/** No nearer value asks for something else. */
const betweenFault = ({ drawn, asks, value, below, above }: Told): string | undefined => {
  const [low, high] = [below?.at ?? value.at, above?.justBelow ?? value.at];
  const middle = (low + high) / 2n;
  if (low > high || asksAt(drawn, middle) === asks) return undefined;
  return "between the turns it asks for something else";
};

const faultOf = (drawn: Drawn, turns: Turns, asks: string): string | undefined => {
  const steps = (text: string): Steps => stepsOf(text, digitsOf(turns));
  const told: Told = {
    drawn,
    asks,
    value: steps(turns.value),
    below: turns.below && steps(turns.below.value),
    above: turns.above && steps(turns.above.value),
  };
  return (
    lowerFault(told, turns.below?.asks ?? "") ??
    upperFault(told, turns.above?.asks ?? "") ??
    betweenFault(told)
  );
};

/** What is told of a metric in place of what the rules tell; the identity but for planted mistakes. */
export type Telling = (turns: Turns, metric: MeasuredOutcome, drawn: Drawn) => Turns;

const AS_TOLD: Telling = (turns) => turns;

/**
 * Mistakes that explanations had before, each of which the property must find: a threshold of
 * target and tolerance alone, and one that takes every pod for ready.
 */
export const PLANTED_TELLINGS: Readonly<Record<string, Telling>> = {
  rounding: (turns, { target }) => {
    const read = /^(\d+(?:\.\d+)?)(\D*)$/.exec(target);
    return read && turns.above
      ? {
          ...turns,
          above: { ...turns.above, value: `${Math.ceil(Number(read[1]) * 1.1)}${read[2]}` },
        }
      : turns;
  },
  readiness: (turns, _metric, drawn) => {
    const ready = {
      ...drawn,
      pods: drawn.pods.map((pod) => ({ ...pod, state: "ready" as const })),
    };
    const input = inputAt(ready, presentSteps(ready));
    if (!input) return turns;
    const [metric] = metricsInDetail(decide(input), input);
    return metric?.kind === "measured" && metric.turns
      ? { ...metric.turns, value: turns.value }
      : turns;
  },
};

export interface TurnCounts {
  /** Evaluations that were drawn. */
  readonly drawn: number;
  /** Those whose metric has a value. */
  readonly measured: number;
  /** Those of which a threshold is told. */
  readonly told: number;
}

/** Draws so many evaluations of a dialect. Gives the counts, and the first one that is wrong. */
export const playTurns = (
  dialect: DialectName,
  { numRuns, seed }: { readonly numRuns: number; readonly seed?: number },
  telling: Telling = AS_TOLD,
): TurnCounts & { readonly fault?: string } => {
  let [drawnCount, measured, told] = [0, 0, 0];
  const result = fc.check(
    fc.property(drawnOf(dialect), (drawn) => {
      drawnCount++;
      if (!isKnown(drawn)) return;
      const input = inputAt(drawn, presentSteps(drawn));
      if (!input) return;
      const decision = decide(input);
      const [metric] = metricsInDetail(decision, input);
      if (metric?.kind !== "measured") return;
      measured++;
      if (!metric.turns) return;
      told++;
      const turns = telling(metric.turns, metric, drawn);
      const fault = faultOf(drawn, turns, asksFor(metric, drawn.current));
      if (fault !== undefined) throw new Error(`${fault}: ${JSON.stringify(turns)}`);
    }),
    { numRuns, ...(seed !== undefined && { seed }) },
  );
  const counts = { drawn: drawnCount, measured, told };
  return result.failed ? { ...counts, fault: fc.defaultReportMessage(result) ?? "" } : counts;
};
