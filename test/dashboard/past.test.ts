import { describe, expect, it } from "vitest";
import { heldStretches, silenceOf, unbroken } from "../../lib/dashboard/page/charts/stretches.ts";
import {
  addressInstant,
  parametersOf,
  rangeOf,
  stepSecondsOf,
  stretchOf,
} from "../../lib/dashboard/page/autoscaler/range.ts";
import { countReading, nearestPoint } from "../../lib/dashboard/page/autoscaler/reading.ts";
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

  it("says what is unknown", () => {
    expect(points.map(countReading)).toEqual([
      "7, wanted 9, bounds 2 to 20",
      "count unknown, held by a rate or step policy",
    ]);
  });
});
