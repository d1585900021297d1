import { describe, expect, it } from "vitest";
import { autoscalerUid } from "../../lib/rules/model/ids.ts";
import { decodeUncounted, encodeUncounted } from "../../lib/stack/store/head/intent-codec.ts";
import type { UncountedScale } from "../../lib/rules/model/scale-records.ts";

const SCALE: UncountedScale = {
  id: "u1:7",
  uid: autoscalerUid("u1"),
  from: 3,
  to: 10,
  outcome: "applied",
  decidedMs: 1_000,
  settledMs: 1_250,
};

describe("an uncounted scale", () => {
  it("is read as it was stored, with the part of it that the rules wanted where a bound moved it", () => {
    for (const scale of [
      SCALE,
      { ...SCALE, recommendation: 5 },
      { ...SCALE, ruled: 5 },
      { ...SCALE, recommendation: 5, ruled: 3 },
    ])
      expect(decodeUncounted(scale.id, encodeUncounted(scale))).toEqual(scale);
  });
});
