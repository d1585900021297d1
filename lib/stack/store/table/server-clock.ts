import type { DatedAnswer } from "../../aws/bounded-requests.ts";
import { TidemarkError } from "../../../rules/model/errors.ts";

/**
 * How far the own clock is ahead of the clock of the service, at least and at most. A negative
 * number means behind.
 */
export interface ClockDifference {
  readonly leastMs: number;
  readonly mostMs: number;
}

/** The part of `Tables` that knows the clock of the service. */
interface WithServerClock {
  readonly serverClock?: (() => ClockDifference | undefined) | undefined;
}

/** A `Date` header holds the whole second of the answer. */
const RESOLUTION_MS = 1_000;

/*
 *  own clock   sent ├──────────────────────────┤ received
 *  service              date ├────────┤ date + 1 s
 *         the answer was made in this second, between the two readings
 */
export const clockDifference = ({
  date,
  sentMs,
  receivedMs,
}: DatedAnswer): ClockDifference | undefined => {
  const dateMs = Date.parse(date);
  return Number.isNaN(dateMs)
    ? undefined
    : { leastMs: sentMs - dateMs - RESOLUTION_MS, mostMs: receivedMs - dateMs };
};

/** The clock of the service by its answers. */
export interface ServerClock {
  readonly onAnswer: (answer: DatedAnswer) => void;
  /** How far the own clock is ahead now; `undefined` before the first answer. */
  readonly difference: () => ClockDifference | undefined;
}

/**
 * Remembers the difference of the last answer. `steadyMs` counts time and never steps, so that a
 * step of the own clock since that answer is known without waiting for the next one. When the
 * machine stood still and `steadyMs` with it, this looks like a step until the next answer, which a
 * claim requests.
 */
export const serverClockOf = (clock: () => number, steadyMs: () => number): ServerClock => {
  const aheadMs = (): number => clock() - steadyMs();
  let last: (ClockDifference & { readonly aheadMs: number }) | undefined;
  return {
    onAnswer: (answer) => {
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

/**
 * A clock may be wrong by at most this. Then two clocks differ by at most twice as much, and the
 * deadline of an intent allows for that.
 */
export const CLOCK_WRONG_MAX_MS = 2_000;

/**
 * By how much the own clock is wrong, by the last answer; `undefined` where the error is too small
 * to be certain, or there is no service to compare with. An error above two seconds and the time of
 * a call is always certain; one below a second never is.
 */
export const clockWrongBy = ({ serverClock }: WithServerClock): number | undefined => {
  const difference = serverClock?.();
  if (!difference) return undefined;
  const { leastMs, mostMs } = difference;
  const sureMs = CLOCK_WRONG_MAX_MS - RESOLUTION_MS;
  if (leastMs > sureMs) return leastMs;
  return mostMs < -sureMs ? mostMs : undefined;
};

/**
 * Throws `store.clock-wrong` when the own clock has stepped since the claim. Then nothing may be
 * stored with its time, or written to a cluster.
 */
export const mustHaveRightClock = (tables: WithServerClock, action: string): void => {
  const wrongByMs = clockWrongBy(tables);
  if (wrongByMs === undefined) return;
  throw new TidemarkError(
    "store.clock-wrong",
    `Cannot ${action}: the clock of this machine is ${clockWords(wrongByMs)} the service's`,
    {
      wrongByMs,
    },
  );
};

/** "3.2 s ahead of", "61.0 s behind". */
export const clockWords = (wrongByMs: number): string =>
  `${(Math.abs(wrongByMs) / 1_000).toFixed(1)} s ${wrongByMs > 0 ? "ahead of" : "behind"}`;
