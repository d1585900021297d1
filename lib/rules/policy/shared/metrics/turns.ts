import type { Asks, Turns } from "../../../model/decision.ts";
import { milliOfText } from "../../../model/quantity.ts";
import { ceilDivided, type Curve, floorDivided } from "./curve.ts";

/**
 * Where the count that a metric asks for turns: the next larger and the next smaller value at which
 * it asks for more than there are, for as many, or for fewer, where it did otherwise. Both are
 * found by asking the rules.
 */
export const turnsOf = (
  curve: Curve,
  { from, proposal }: { readonly from: number; readonly proposal: number },
  target: string,
): Turns | undefined => {
  const asks = asksOf(proposal, from);
  const at: AsksAt = (step) => {
    const value = curve.at(step);
    return value && asksOf(value.replicas, from);
  };
  const steps = probes(curve);
  const below = lowerTurn(curve, steps, at, asks);
  const above = upperTurn(curve, steps, at, asks);
  return inWords({ curve, below, above, at }, unitOf(target));
};

type AsksAt = (step: bigint) => Asks | undefined;

/** The step from which on, or below which, the rules ask for something else. */
interface StepTurn {
  readonly step: bigint;
  readonly asks: Asks;
}

const asksOf = (proposal: number, from: number): Asks => {
  if (proposal === from) return "same";
  return proposal > from ? "more" : "fewer";
};

/** Beyond the last bend the search doubles: a value of a million targets says nothing to people. */
const DOUBLINGS = 20;

const upperTurn = (
  { ceil: start }: Curve,
  steps: readonly bigint[],
  at: AsksAt,
  asks: Asks,
): StepTurn | undefined => {
  const bends = steps.filter((step) => step >= start);
  let last = bends.at(-1) ?? start;
  if (last < 1n) last = 1n;
  const beyond = Array.from({ length: DOUBLINGS }, (_, nth) => last << BigInt(nth + 1));
  return firstTurn([start, ...bends, ...beyond], at, asks);
};

const lowerTurn = (
  { floor: start }: Curve,
  steps: readonly bigint[],
  at: AsksAt,
  asks: Asks,
): StepTurn | undefined => {
  if (start < 0n) return undefined;
  const bends = steps.filter((step) => step >= 0n && step <= start);
  const found = firstTurn([start, ...bends.toReversed(), 1n, 0n], at, asks);
  // The value above which nothing changes is the next step.
  return found && { ...found, step: found.step + 1n };
};

/**
 * The bends with the values beside each, in their order. Most bends are there several times, and
 * this is most of what a sync that stores every evaluation costs: so each is looked at once.
 */
const probes = ({ bends, grain = 1n }: Curve): readonly bigint[] => {
  const beside = grain === 1n ? [1n] : [1n, grain, grain + 1n];
  const steps = new Set(bends());
  for (const bend of [...steps]) for (const by of beside) steps.add(bend - by).add(bend + by);
  return [...steps].sort((one, other) => (one < other ? -1 : 1));
};

/**
 * The first step, from the present value outwards, at which the rules ask for something else: at
 * one of the steps that are looked at, or between it and the one before. Nothing is said past a
 * value that the rules could not use.
 */
const firstTurn = (steps: readonly bigint[], at: AsksAt, asks: Asks): StepTurn | undefined => {
  let before: bigint | undefined;
  for (const step of steps) {
    const there = at(step);
    if (there === undefined) return undefined;
    if (there === asks) {
      before = step;
      continue;
    }
    return before === undefined
      ? { step, asks: there }
      : between(before, { step, asks: there }, at, asks);
  }
  return undefined;
};

/** Halves the way from a step that asks the same to one that does not. */
const between = (same: bigint, other: StepTurn, at: AsksAt, asks: Asks): StepTurn | undefined => {
  let [near, far] = [same, other];
  while (near - far.step > 1n || far.step - near > 1n) {
    const middle = (near + far.step) / 2n;
    const there = at(middle);
    if (there === undefined) return undefined;
    if (there === asks) near = middle;
    else far = { step: middle, asks: there };
  }
  return far;
};

/** The unit in which people read a target, and the digits with which they read it first. */
interface Unit {
  readonly suffix: string;
  readonly steps: bigint;
  readonly digits: number;
}

const SUFFIX = /^-?\d+(?:\.\d+)?(%|[A-Za-z]*)$/;
const PERCENT: Unit = { suffix: "%", steps: 1000n, digits: 1 };

/** Of two marks the higher one says the unit. */
const unitOf = (target: string): Unit => {
  const suffix = SUFFIX.exec(target.split("..").at(-1) ?? "")?.[1] ?? "";
  if (suffix === "%") return PERCENT;
  const steps = milliOfText(`1${suffix}`);
  return steps !== undefined && steps > 0n
    ? { suffix, steps, digits: 2 }
    : { suffix: "", steps: 1000n, digits: 2 };
};

/** What is put in words: the turns that were found, and what the rules say of any value. */
interface Found {
  readonly curve: Curve;
  readonly below: StepTurn | undefined;
  readonly above: StepTurn | undefined;
  readonly at: AsksAt;
}

/**
 * The turns as people read them, with as few digits as keep the present value on its own side of
 * both, and leave each turn true. What no digits keep apart is not said.
 */
const inWords = (found: Found, unit: Unit): Turns | undefined => {
  if (!found.below && !found.above) return undefined;
  // Finer than a step nothing was looked at.
  const most = unit.steps.toString().length - 1;
  for (let digits = Math.min(unit.digits, most); digits <= most; digits++) {
    const turns = inDigits(found, unit, digits);
    if (turns) return turns;
  }
  return undefined;
};

/**
 * Each turn is rounded up: at the number that is read the rules ask for the one, and a unit of its
 * last digit below it for the other.
 */
const inDigits = (
  { curve: { floor, ceil }, below, above, at }: Found,
  { steps, suffix }: Unit,
  digits: number,
): Turns | undefined => {
  const tens = 10n ** BigInt(digits);
  const up = (step: bigint): bigint => ceilDivided(step * tens, steps);
  const [low, high] = [below && up(below.step), above && up(above.step)];
  const shown = [floorDivided(floor * tens, steps), up(ceil)].find(
    (number) => (low === undefined || low <= number) && (high === undefined || number < high),
  );
  const justBelow = low && at(floorDivided((low - 1n) * steps, tens));
  const from = high && at(ceilDivided(high * steps, tens));
  if (shown === undefined || justBelow !== below?.asks || from !== above?.asks) return undefined;
  const text = (number: bigint): string => decimal(number, digits) + suffix;
  return {
    value: text(shown),
    ...(low !== undefined && below && { below: { value: text(low), asks: below.asks } }),
    ...(high !== undefined && above && { above: { value: text(high), asks: above.asks } }),
  };
};

/** A number of 10^-digits without the zeros at its end. */
const decimal = (number: bigint, digits: number): string => {
  const all = (number < 0n ? -number : number).toString().padStart(digits + 1, "0");
  const point = all.length - digits;
  const [whole, rest] = [all.slice(0, point), all.slice(point).replace(/0+$/, "")];
  return `${number < 0n ? "-" : ""}${whole}${rest === "" ? "" : `.${rest}`}`;
};
