import { TidemarkError } from "../../model/errors.ts";

/** How far the own clock is ahead of the service's: at least and at most. Below zero it is behind. */
export interface ClockDifference {
  readonly leastMs: number;
  readonly mostMs: number;
}

/** One answer of the service: its `Date` header, and the own clock before and after the call. */
export interface DatedAnswer {
  readonly date: string;
  readonly sentMs: number;
  readonly receivedMs: number;
}

/** What tables tell of the service's clock, where there is one. */
interface WithServerClock {
  readonly serverClock?: (() => ClockDifference | undefined) | undefined;
}

/** A `Date` header names the whole second in which the answer was made. */
const RESOLUTION_MS = 1_000;

/*
 *  own clock   sent ├──────────────────────────┤ received
 *  service              date ├────────┤ date + 1 s      the answer was made in this second, and between the two readings
 */
export const clockDifference = ({ date, sentMs, receivedMs }: DatedAnswer): ClockDifference | undefined => {
  const dateMs = Date.parse(date);
  return Number.isNaN(dateMs) ? undefined : { leastMs: sentMs - dateMs - RESOLUTION_MS, mostMs: receivedMs - dateMs };
};

/** What the answers of the service have told of its clock. */
export interface HeardClock {
  readonly heard: (answer: DatedAnswer) => void;
  /** How far the own clock is ahead now; `undefined` before the first answer. */
  readonly difference: () => ClockDifference | undefined;
}

/**
 * Remembers what the last answer told. `steadyMs` counts time and never steps: by it a step of the own clock since that answer is known at once, and the next answer need not be waited for.
 * Where the machine stood still and `steadyMs` with it, this looks like a step until the next answer, which a claim asks for.
 */
export const heardClock = (clock: () => number, steadyMs: () => number): HeardClock => {
  const aheadMs = (): number => clock() - steadyMs();
  let last: (ClockDifference & { readonly aheadMs: number }) | undefined;
  return {
    heard: (answer) => {
      const difference = clockDifference(answer);
      if (difference) last = { ...difference, aheadMs: aheadMs() };
    },
    difference: () => {
      if (!last) return undefined;
      const steppedMs = aheadMs() - last.aheadMs;
      return { leastMs: last.leastMs + steppedMs, mostMs: last.mostMs + steppedMs };
    },
  };
};

/** No clock may be wrong by more than this: two of them then differ by twice as much at most, on which the deadline of an intent rests. */
export const CLOCK_WRONG_MAX_MS = 2_000;

/**
 * By how much the own clock is wrong, as the last answer told; `undefined` while that is too little to be sure of, or there is no service to compare with. It is sure of every error above
 * two seconds and the time of a call, and never of one below a second.
 */
export const clockWrongBy = ({ serverClock }: WithServerClock): number | undefined => {
  const difference = serverClock?.();
  if (!difference) return undefined;
  const { leastMs, mostMs } = difference;
  const sureMs = CLOCK_WRONG_MAX_MS - RESOLUTION_MS;
  if (leastMs > sureMs) return leastMs;
  return mostMs < -sureMs ? mostMs : undefined;
};

/** Throws `store.clock-wrong` where the clock has stepped since the claim: nothing that it says may be stored or acted on. */
export const mustTellTime = (tables: WithServerClock, action: string): void => {
  const wrongByMs = clockWrongBy(tables);
  if (wrongByMs === undefined) return;
  throw new TidemarkError("store.clock-wrong", `Cannot ${action}: the clock of this machine is ${clockWords(wrongByMs)} the service's`, {
    wrongByMs,
  });
};

/** "3.2 s ahead of", "61.0 s behind". */
export const clockWords = (wrongByMs: number): string => `${(Math.abs(wrongByMs) / 1_000).toFixed(1)} s ${wrongByMs > 0 ? "ahead of" : "behind"}`;
