import { describe, expect, it } from "vitest";
import { bendsAround } from "../../../lib/rules/policy/shared/metrics/curve.ts";

describe("the values at which an explanation looks for a turn", () => {
  it("are both ends of the tolerance, each by its own share, and the target", () => {
    const bends = new Set(bendsAround(1_000, { up: 0.3, down: 0.2 }));
    expect([...bends].toSorted((one, other) => Number(one - other))).toEqual(
      // Where values are whole, a branch ends at the next one.
      [800n, 801n, 1_000n, 1_001n, 1_300n, 1_301n],
    );
  });
});
