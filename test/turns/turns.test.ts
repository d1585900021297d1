import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fairQueue, inFairTurns, isTurn, turnOf, roundOf } from "../../lib/stack/turns/turns.ts";

const MINUTE_MS = 60_000;
const PERIODS_MS = [5_000, 10_000, 15_000, 30_000, 60_000];

describe("isTurn()", () => {
  it("always comes in exactly one sync of a minute, whatever the key, and so without a stored time", () => {
    fc.assert(
      fc.property(
        fc.uuid(),
        fc.constantFrom(...PERIODS_MS),
        fc.nat(1_000_000),
        (key, periodMs, minute) => {
          const rounds = MINUTE_MS / periodMs;
          const due = Array.from({ length: rounds }, (_, at) =>
            roundOf({ dueMs: minute * MINUTE_MS + at * periodMs, periodMs }),
          );
          expect(due.filter((round) => isTurn(key, round, rounds))).toHaveLength(1);
        },
      ),
    );
  });

  it("is another sync for other objects, so that the writes of a minute are spread", () => {
    const keys = Array.from({ length: 100 }, (_, at) => `object-${at}`);
    const counts = [0, 1, 2, 3].map((round) => keys.filter((key) => isTurn(key, round, 4)).length);
    expect(Math.min(...counts)).toBeGreaterThan(10);
  });
});

describe("turnOf()", () => {
  it("is always among the first share within a few rounds, whatever the key, the share and the round to begin with", () => {
    fc.assert(
      fc.property(
        fc.uuid(),
        fc.double({ min: 0.02, max: 1, noNaN: true }),
        fc.nat(200_000_000),
        (key, share, from) => {
          const rounds = Math.ceil(2.7 / share);
          expect(
            Array.from({ length: rounds }, (_, at) => turnOf(key, from + at)).some(
              (place) => place < share,
            ),
          ).toBe(true);
        },
      ),
    );
  });
});

interface Item {
  readonly flow: string;
  readonly cost: number;
}

const items = fc.array(
  fc.record({ flow: fc.constantFrom("a", "b", "c", "d"), cost: fc.integer({ min: 1, max: 50 }) }),
  { maxLength: 60 },
);
const ORDER = { flowOf: ({ flow }: Item) => flow, costOf: ({ cost }: Item) => cost };

/** What has room within a limit, in this order. What does not fit takes nothing of it. */
const within = (ordered: readonly Item[], limit: number): readonly Item[] => {
  let left = limit;
  return ordered.filter(({ cost }) => {
    if (cost > left) return false;
    left -= cost;
    return true;
  });
};

describe("inFairTurns()", () => {
  it("always gives a flow all that it asks for, where that is no more than its share of a limit", () => {
    fc.assert(
      fc.property(items, fc.integer({ min: 4, max: 400 }), fc.nat(1_000), (all, limit, round) => {
        const flows = Map.groupBy(all, ({ flow }) => flow);
        const admitted = within(inFairTurns(all, { ...ORDER, round, by: "end" }), limit);
        for (const own of flows.values()) {
          const asked = own.reduce((sum, { cost }) => sum + cost, 0);
          if (asked <= limit / flows.size)
            expect(own.filter((one) => admitted.includes(one))).toHaveLength(own.length);
        }
      }),
    );
  });

  it("by its start, begins with one of each flow, however large it is", () => {
    fc.assert(
      fc.property(items, fc.nat(1_000), (all, round) => {
        const flows = new Set(all.map(({ flow }) => flow));
        const first = inFairTurns(all, { ...ORDER, round, by: "start" }).slice(0, flows.size);
        expect(new Set(first.map(({ flow }) => flow))).toEqual(flows);
      }),
    );
  });

  it("keeps the order within a flow, and loses nothing", () => {
    fc.assert(
      fc.property(items, fc.nat(1_000), fc.constantFrom("start", "end"), (all, round, by) => {
        const ordered = inFairTurns(all, { ...ORDER, round, by });
        for (const flow of ["a", "b", "c", "d"])
          expect(ordered.filter((one) => one.flow === flow)).toEqual(
            all.filter((one) => one.flow === flow),
          );
      }),
    );
  });
});

describe("fairQueue()", () => {
  /** Plays the queue in a virtual clock: so many at once, each as long as its flow takes. */
  const played = (
    asked: Readonly<Record<string, { readonly calls: number; readonly ms: number }>>,
    { places, ofFlow }: { readonly places: number; readonly ofFlow: number },
  ): Readonly<Record<string, number>> => {
    const queue = fairQueue<number>(ofFlow);
    const calls = Object.entries(asked).flatMap(([flow, one]) =>
      Array.from({ length: one.calls }, () => ({ flow, ms: one.ms })),
    );
    for (const { flow, ms } of calls) queue.add(flow, ms);
    const underWay: { readonly flow: string; readonly ms: number; readonly endMs: number }[] = [];
    const endedMs: Record<string, number> = {};
    const fill = (nowMs: number): void => {
      while (underWay.length < places) {
        const next = queue.next();
        if (!next) return;
        underWay.push({ flow: next.flow, ms: next.work, endMs: nowMs + next.work });
      }
    };
    fill(0);
    for (;;) {
      const [first] = underWay.toSorted((one, other) => one.endMs - other.endMs);
      if (!first) return endedMs;
      underWay.splice(underWay.indexOf(first), 1);
      endedMs[first.flow] = first.endMs;
      queue.end(first.flow, first.ms);
      fill(first.endMs);
    }
  };

  it("ends the work of every other flow as early as its share of the places allows, beside one with slow work", () => {
    const others = Object.fromEntries(
      Array.from({ length: 999 }, (_, at) => [`team-${at}`, { calls: 1, ms: 10 }]),
    );
    const alone = Math.max(...Object.values(played(others, { places: 8, ofFlow: 8 })));
    const beside = played(
      { hostile: { calls: 50, ms: 1_000 }, ...others },
      { places: 8, ofFlow: 8 },
    );
    const { hostile, ...rest } = beside;
    // One of eight places is taken for a second, which the gate gives back after a tenth of it.
    expect(Math.max(...Object.values(rest))).toBeLessThanOrEqual((alone * 8) / 7 + 10);
    expect(hostile).toBeGreaterThan(Math.max(...Object.values(rest)));
  });

  it("counts what was spent, so that a flow with slow work has its next turn after the others had as much", () => {
    const ended = played(
      { slow: { calls: 10, ms: 100 }, quick: { calls: 100, ms: 10 } },
      { places: 1, ofFlow: 1 },
    );
    expect(ended["quick"]).toBeLessThanOrEqual(2_000);
    expect(ended["quick"]).toBeGreaterThan(1_800);
  });

  it("lets a flow that was idle save nothing up", () => {
    const queue = fairQueue<string>(1);
    for (let at = 0; at < 20; at++) queue.add("busy", "busy");
    for (let at = 0; at < 10; at++) queue.end(queue.next()?.flow ?? "", 100);
    for (let at = 0; at < 5; at++) queue.add("late", "late");
    const turns = Array.from({ length: 6 }, () => {
      const flow = queue.next()?.flow ?? "";
      queue.end(flow, 100);
      return flow;
    });
    expect(turns.filter((flow) => flow === "late")).toHaveLength(3);
  });
});
