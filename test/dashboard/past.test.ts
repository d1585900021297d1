import { describe, expect, it } from "vitest";
import { heldStretches, silenceOf, unbroken } from "../../lib/dashboard/page/charts/stretches.ts";
import {
  addressInstant,
  firstPartSinceMs,
  parametersOf,
  rangeOf,
  stepSecondsOf,
  stretchOf,
} from "../../lib/dashboard/page/autoscaler/range.ts";
import {
  countReading,
  nearestPoint,
  pressedMs,
} from "../../lib/dashboard/page/autoscaler/reading.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../lib/rules/model/time-text.ts";

const NOW = Date.parse("2026-01-05T12:00:00Z");

describe("the stretch that the charts show", () => {
  it("is the last hour, unless the address says otherwise", () => {
    expect(stretchOf(rangeOf({ parameters: {} }), NOW)).toEqual({
      sinceMs: NOW - HOUR_MS,
      untilMs: NOW,
    });
    expect(stretchOf(rangeOf({ parameters: { range: "7d" } }), NOW).sinceMs).toBe(NOW - 7 * DAY_MS);
    expect(rangeOf({ parameters: { range: "nonsense" } })).toEqual(rangeOf({ parameters: {} }));
  });

  it("is read back from a link as it was", () => {
    const [sinceMs, untilMs] = [NOW - 90_000, NOW];
    expect(rangeOf({ parameters: { range: "6h", ...parametersOf(sinceMs, untilMs) } })).toEqual({
      sinceMs,
      untilMs,
    });
  });

  it.each([
    { since: "2026-01-05T12:00:00Z", until: "2026-01-05T11:00:00Z" },
    { since: "2026-01-05T12:00:00Z" },
    { since: "soon", until: "later" },
  ])("is the default where a link says nothing that can be: %j", (parameters) => {
    expect(rangeOf({ parameters })).toEqual(rangeOf({ parameters: {} }));
  });

  it("has steps of a few pixels, and of a sample from six hours on", () => {
    expect(stepSecondsOf(HOUR_MS)).toBe(10);
    expect(stepSecondsOf(6 * HOUR_MS)).toBe(60);
    expect(stepSecondsOf(6 * HOUR_MS + 1)).toBe(300);
    expect(stepSecondsOf(396 * DAY_MS)).toBe(95_040);
  });

  it.each([
    { lengthMs: HOUR_MS, stepMs: 10_000, firstMs: 15 * MINUTE_MS },
    { lengthMs: 6 * HOUR_MS, stepMs: 60_000, firstMs: 15 * MINUTE_MS },
    // A whole number of steps after the beginning: the next multiple of the step is further back.
    { lengthMs: HOUR_MS, stepMs: 7_000, firstMs: 15 * MINUTE_MS + 5_000 },
  ])("of $lengthMs ms is read from its last quarter of an hour on, and then the rest", (row) => {
    const { lengthMs, stepMs, firstMs } = row;
    const stretch = { sinceMs: NOW - lengthMs, untilMs: NOW };
    const firstSinceMs = firstPartSinceMs(stretch, stepMs) ?? Number.NaN;
    expect(NOW - firstSinceMs).toBe(firstMs);
    expect((firstSinceMs - stretch.sinceMs) % stepMs).toBe(0);
  });

  it.each([
    { words: "of half an hour", lengthMs: 30 * MINUTE_MS },
    { words: "of samples", lengthMs: 6 * HOUR_MS + 1 },
  ])("$words is read at once", ({ lengthMs }) => {
    const stretch = { sinceMs: NOW - lengthMs, untilMs: NOW };
    expect(firstPartSinceMs(stretch, 1_000 * stepSecondsOf(lengthMs))).toBeUndefined();
  });

  it("begins its first part at a whole second, as its instants in a question are", () => {
    const stretch = { sinceMs: NOW - HOUR_MS + 400, untilMs: NOW + 400 };
    expect((firstPartSinceMs(stretch, 10_000) ?? 0) % 10_000).toBe(0);
  });

  it("names instants to the second", () => {
    expect(addressInstant(NOW + 499)).toBe("2026-01-05T12:00:00Z");
  });
});

describe("the lines of a chart", () => {
  const dots = [0, 1, 2, 10, 11].map((minute) => ({ atMs: minute * MINUTE_MS }));

  it("end where nothing was evaluated for longer than a silence", () => {
    const parts = unbroken(dots, silenceOf(MINUTE_MS));
    expect(parts.map((part) => part.length)).toEqual([3, 2]);
    expect(unbroken(dots, silenceOf(4 * MINUTE_MS))).toHaveLength(1);
  });

  it("show a hold from its first point to the first without it, and not over a silence", () => {
    const kinds = ["policy", "policy", undefined, "policy", "bounds"] as const;
    const parts = unbroken(
      dots.map(({ atMs }, at) => ({ atMs, kind: kinds[at] })),
      silenceOf(MINUTE_MS),
    );
    expect(heldStretches(parts, MINUTE_MS)).toEqual([
      { kind: "policy", sinceMs: 0, untilMs: 2 * MINUTE_MS },
      { kind: "policy", sinceMs: 10 * MINUTE_MS, untilMs: 11 * MINUTE_MS },
      { kind: "bounds", sinceMs: 11 * MINUTE_MS, untilMs: 12 * MINUTE_MS },
    ]);
  });
});

describe("what a chart reads at an instant", () => {
  const points = [
    {
      at: "2026-01-05T12:00:00Z",
      metrics: [],
      reason: "A",
      current: 7,
      wanted: 9,
      min: 2,
      max: 20,
    },
    { at: "2026-01-05T12:01:00Z", metrics: [], reason: "B", held: "policy" as const },
  ];

  it("is of the evaluation that was in force", () => {
    expect(nearestPoint({ points }, NOW + 59_999)?.reason).toBe("A");
    expect(nearestPoint({ points }, NOW + 60_000)?.reason).toBe("B");
    expect(nearestPoint({ points }, NOW - 1)?.reason).toBe("A");
    expect(nearestPoint({ points: [] }, NOW)).toBeUndefined();
  });

  it("is the scale whose mark is pressed, and between marks the evaluation in force", () => {
    const events = [{ at: "2026-01-05T12:00:10.300Z" }, { at: "2026-01-05T12:00:40Z" }];
    const pressed = (second: number) => pressedMs({ points, events }, NOW + second * 1_000, 8_000);
    expect([3, 17, 33, 47].map(pressed)).toEqual([11, 11, 40, 40].map((at) => NOW + at * 1_000));
    expect([25, 70].map(pressed)).toEqual([0, 60].map((at) => NOW + at * 1_000));
    expect(pressedMs({ points: [], events: [] }, NOW, 8_000)).toBeUndefined();
  });

  it("says what is unknown", () => {
    expect(points.map(countReading)).toEqual([
      "7, wanted 9, bounds 2 to 20",
      "count unknown, held by a rate or step policy",
    ]);
  });
});
