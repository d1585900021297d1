import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isTurn } from "../../../lib/sync/objects/turns.ts";

const MINUTE_MS = 60_000;

describe("the turn of an object to have its values written", () => {
  it("always comes in exactly one sync of a minute, whatever its uid, and so without a stored time", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.constantFrom(5_000, 10_000, 15_000, 30_000, 60_000), fc.nat(1_000_000), (uid, periodMs, minute) => {
        const dues = Array.from({ length: MINUTE_MS / periodMs }, (_, at) => minute * MINUTE_MS + at * periodMs);
        expect(dues.filter((dueMs) => isTurn(uid, { dueMs, periodMs }))).toHaveLength(1);
      }),
    );
  });

  it("is another sync for other objects, so that the writes of a minute are spread", () => {
    const uids = Array.from({ length: 100 }, (_, at) => `object-${at}`);
    const counts = [0, 15_000, 30_000, 45_000].map((dueMs) => uids.filter((uid) => isTurn(uid, { dueMs, periodMs: 15_000 })).length);
    expect(Math.min(...counts)).toBeGreaterThan(10);
  });
});
