import { describe, expect, it } from "vitest";
import { syncsOf } from "../../lib/replay/syncs.ts";

const times = (periodMs: number, untilMs: number, recordedMs?: readonly number[]) => [
  ...syncsOf({
    ...{ fromMs: 0, untilMs, periodMs },
    ...(recordedMs && { recordedMs: Float64Array.from(recordedMs) }),
  }),
];

describe("syncsOf()", () => {
  it("gives syncs a period apart where none is recorded", () => {
    expect(times(15, 60)).toEqual([0, 15, 30, 45]);
  });

  it("follows recorded syncs that are early or late by less than half a period", () => {
    expect(times(300, 1_500, [0, 290, 610, 905, 1_205])).toEqual([0, 290, 610, 905, 1_205]);
  });

  it("fills the time between records, which are a minute apart, with syncs", () => {
    expect(times(15, 120, [0, 61, 120])).toEqual([0, 15, 30, 45, 61, 76, 91, 106]);
  });

  it("takes the nearest of several records, so that a longer period stays one", () => {
    expect(times(60, 240, [0, 15, 30, 45, 62, 75, 118, 123])).toEqual([0, 62, 123, 183]);
  });

  it("goes on through a silence, and follows what comes after it", () => {
    expect(times(300, 2_400, [0, 300, 1_640, 1_940])).toEqual([
      0, 300, 600, 900, 1_200, 1_640, 1_940, 2_240,
    ]);
  });
});
