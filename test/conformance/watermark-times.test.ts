import { describe, expect, it } from "vitest";
import { timeOf } from "./watermark/raw.ts";
import { shouldScaleKind } from "./watermark/steps.ts";

/** A last scale whose upscale window of 60 s ends so long after the decision. */
const vector = (lastScaleTime: string, ableToScale: object | null, scale: boolean) => ({
  id: lastScaleTime,
  input: {
    wallClock: "2024-01-01T00:01:00Z",
    decisionTime: "2024-01-01T00:01:00.000000Z",
    spec: { upscaleForbiddenWindowSeconds: 60, downscaleForbiddenWindowSeconds: 300 },
    status: { conditions: [], lastScaleTime },
    currentReplicas: 4,
    desiredReplicas: 6,
    stableRegime: false,
  },
  expect: { scale, ableToScale },
});

describe("times of the watermark vectors", () => {
  it("keep their microseconds", () =>
    expect(timeOf("2024-01-01T00:00:00.000500Z") - timeOf("2024-01-01T00:00:00Z")).toBe(0.5));

  it.each([
    ["2024-01-01T00:00:00.000010Z", { reason: "BackoffBoth", status: "False" }, false],
    ["2024-01-01T00:00:00.000000Z", { reason: "BackoffDownscale", status: "False" }, true],
  ])(
    "hold both windows while a microsecond of each is left: last scale at %s",
    (lastScaleTime, ableToScale, scale) =>
      expect(
        shouldScaleKind(vector(lastScaleTime, ableToScale, scale), {
          format: "wpa-vectors/1",
          kind: "should-scale",
        }),
      ).toEqual([]),
  );
});
