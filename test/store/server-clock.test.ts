import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  CLOCK_WRONG_MAX_MS,
  clockDifference,
  clockWrongBy,
  serverClockOf,
} from "../../lib/stack/store/table/server-clock.ts";
import { NOON } from "../noon.ts";

/**
 * What a call tells that is answered by a service whose clock is right, to a machine whose clock is
 * ahead by so much.
 */
const called = (aheadMs: number, startMs: number, outMs: number, backMs: number) => {
  const answeredMs = startMs + outMs;
  const date = new Date(answeredMs).toUTCString();
  return clockDifference({
    date,
    sentMs: startMs + aheadMs,
    receivedMs: answeredMs + backMs + aheadMs,
  });
};
const wrongBy = (difference: ReturnType<typeof clockDifference>) =>
  clockWrongBy({ serverClock: () => difference });

const start = fc.integer({ min: NOON, max: NOON + 10_000 });
const travel = fc.integer({ min: 0, max: 2_000 });

describe("the clock of the service", () => {
  it("always names a clock that is wrong by more than two seconds and the time of the call", () => {
    const off = fc.integer({ min: 1, max: 7_200_000 });
    fc.assert(
      fc.property(
        start,
        travel,
        travel,
        off,
        fc.boolean(),
        (startMs, outMs, backMs, more, ahead) => {
          const byMs = (CLOCK_WRONG_MAX_MS + outMs + backMs + more) * (ahead ? 1 : -1);
          const found = wrongBy(called(byMs, startMs, outMs, backMs)) ?? 0;
          expect(Math.sign(found)).toBe(ahead ? 1 : -1);
          expect(Math.abs(found)).toBeLessThanOrEqual(Math.abs(byMs));
        },
      ),
    );
  });

  it("never names a clock that is wrong by no more than a second, however long the call took", () => {
    fc.assert(
      fc.property(
        start,
        travel,
        travel,
        fc.integer({ min: -1_000, max: 1_000 }),
        (startMs, outMs, backMs, byMs) => {
          expect(wrongBy(called(byMs, startMs, outMs, backMs))).toBeUndefined();
        },
      ),
    );
  });

  it("is compared with a clock that has stepped since its last answer, before there is another", () => {
    let [clockMs, steadyMs] = [NOON + 400, 0];
    const { onAnswer, difference } = serverClockOf(
      () => clockMs,
      () => steadyMs,
    );
    expect(difference()).toBeUndefined();
    onAnswer({ date: new Date(NOON).toUTCString(), sentMs: NOON + 350, receivedMs: NOON + 400 });
    expect(clockWrongBy({ serverClock: difference })).toBeUndefined();
    clockMs += 30_000;
    steadyMs += 30_000;
    expect(clockWrongBy({ serverClock: difference })).toBeUndefined();
    clockMs += 3_600_000;
    expect(clockWrongBy({ serverClock: difference })).toBeGreaterThan(3_598_000);
    clockMs -= 7_200_000;
    expect(clockWrongBy({ serverClock: difference })).toBeLessThan(-3_598_000);
  });

  it("says nothing without an answer, without a date that can be read, or without a service to compare with", () => {
    expect(wrongBy(undefined)).toBeUndefined();
    expect(clockDifference({ date: "soon", sentMs: 0, receivedMs: 0 })).toBeUndefined();
    expect(clockWrongBy({})).toBeUndefined();
  });
});
