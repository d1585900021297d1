import { describe, expect, it } from "vitest";
import { projectionText, usesOf } from "./fleet-projection.ts";

describe("the projection of a played fleet", () => {
  it("names the limit of AWS that is used most first", () => {
    const [first] = usesOf({ clusters: 500, autoscalers: 200, syncCpuMs: 60 });
    expect(first?.limit).toBe("maximumConcurrency");
    // 33.3 syncs a second of 60 ms of CPU at the share of 512 MB, and 90 ms of waiting.
    expect(first?.used).toBeCloseTo((500 / 15) * (0.06 * (1_769 / 512) + 0.09), 3);
  });

  it("says units and dollars", () => {
    expect(projectionText({ clusters: 10, autoscalers: 100, syncCpuMs: 31 })).toMatch(
      /write units and .* read units; the fleet costs \$14 in the first month/,
    );
  });
});
