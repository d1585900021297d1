import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEFAULT_TIMING, deadlineOf, sendUntil } from "../../lib/stack/plan/message.ts";

const { lifeMs, putTimeoutMs, clockDifferenceMs, leaseMs, softDeadlineMs } = DEFAULT_TIMING;

describe("deadlineOf()", () => {
  it("is the longest life, the server's timeout and the clock difference after nowMs", () => {
    expect(deadlineOf(1_000, DEFAULT_TIMING)).toBe(1_000 + 30_000 + 5_000 + 4_000);
  });

  it("always lies after any PUT that may still take effect, on every clock, also for a worker that dies at the end of its life", () => {
    const skew = fc.integer({ min: 0, max: clockDifferenceMs });
    fc.assert(
      fc.property(
        fc.nat(1_000_000),
        skew,
        fc.integer({ min: 0, max: lifeMs }),
        fc.integer({ min: 0, max: putTimeoutMs }),
        (nowMs, ahead, aliveMs, serverMs) => {
          const deadlineMs = deadlineOf(nowMs, DEFAULT_TIMING);
          // The writer is asked just before each PUT; stalled after that, it dies with its life.
          const lastSendMs = Math.min(sendUntil(deadlineMs, DEFAULT_TIMING), nowMs + aliveMs);
          const landsOnTheirClock = lastSendMs + serverMs + ahead;
          expect(landsOnTheirClock).toBeLessThanOrEqual(deadlineMs);
        },
      ),
    );
  });
});

describe("the order of the times", () => {
  it("lets the soft deadline end a sync, the life end a stalled one, and the lease outlast both", () => {
    expect(softDeadlineMs + putTimeoutMs).toBeLessThan(lifeMs);
    expect(leaseMs).toBeGreaterThanOrEqual(lifeMs + clockDifferenceMs);
  });
});
