import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isTurn, placeOf, roundOf } from "../../../lib/stack/sync/specs/turns.ts";

const MINUTE_MS = 60_000;

describe("the turn of an object to have its values written", () => {
  it("always comes in exactly one sync of a minute, whatever its uid, and so without a stored time", () => {
    fc.assert(
      fc.property(
        fc.uuid(),
        fc.constantFrom(5_000, 10_000, 15_000, 30_000, 60_000),
        fc.nat(1_000_000),
        (uid, periodMs, minute) => {
          const dues = Array.from(
            { length: MINUTE_MS / periodMs },
            (_, at) => minute * MINUTE_MS + at * periodMs,
          );
          expect(dues.filter((dueMs) => isTurn(uid, { dueMs, periodMs }))).toHaveLength(1);
        },
      ),
    );
  });

  it("is another sync for other objects, so that the writes of a minute are spread", () => {
    const uids = Array.from({ length: 100 }, (_, at) => `object-${at}`);
    const counts = [0, 15_000, 30_000, 45_000].map(
      (dueMs) => uids.filter((uid) => isTurn(uid, { dueMs, periodMs: 15_000 })).length,
    );
    expect(Math.min(...counts)).toBeGreaterThan(10);
  });
});

describe("the place of an object among those that wait for the same", () => {
  it("is always among the first share within a few rounds, whatever the uid, the share and the round to begin with", () => {
    fc.assert(
      fc.property(
        fc.uuid(),
        fc.double({ min: 0.02, max: 1, noNaN: true }),
        fc.nat(200_000_000),
        (uid, share, from) => {
          const rounds = Math.ceil(2.7 / share);
          expect(
            Array.from({ length: rounds }, (_, at) => placeOf(uid, from + at)).some(
              (place) => place < share,
            ),
          ).toBe(true);
        },
      ),
    );
  });

  it("moves with each sync, and for values with each minute", () => {
    const rounds = (of: "values" | "others") =>
      new Set([0, 15_000, 30_000, 60_000].map((dueMs) => roundOf(of, { dueMs, periodMs: 15_000 })));
    expect([rounds("others").size, rounds("values").size]).toEqual([4, 2]);
  });
});
