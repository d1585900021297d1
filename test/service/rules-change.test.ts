import { describe, expect, it } from "vitest";
import { rulesChange } from "../../lib/answers/service/apply/warnings.ts";
import { native } from "../policy/native/world.ts";

const hpa = native({ rules: "hpa" });
const governed = native({ rules: "hpa", hpa: { behavior: {} } });
const original = native({ rules: "hpa", hpa: { cpuUtilization: {} } });
const marks = {
  metrics: [
    { type: "External", external: { metricName: "load", metricSelector: {}, highWatermark: 4 } },
  ],
};
const watermark = native({ rules: "watermark", watermark: marks });
const LAST = "the time of the last scale";
const LASTING = "breaches and whatever else must last";

describe("rulesChange()", () => {
  it.each([
    ["native", native(), native({ minReplicas: 2 })],
    ["hpa", hpa, governed],
    [
      "watermark",
      watermark,
      native({ rules: "watermark", watermark: { ...marks, counts: "current" } }),
    ],
  ])("says nothing while the rules stay %s", (_, before, after) =>
    expect(rulesChange(before, after)).toBeUndefined(),
  );

  it.each([
    [
      governed,
      native(),
      `from hpa to native: kept: ${LAST}, recommendations, scale events of the policies; begins anew: ${LASTING}`,
    ],
    [
      hpa,
      native(),
      `from hpa to native: kept: ${LAST}, recommendations; begins anew: what counts against policies, ${LASTING}`,
    ],
    [
      native(),
      hpa,
      `from native to hpa: kept: ${LAST}, recommendations; begins anew: ${LASTING}; forgotten: scale events of the policies`,
    ],
    [
      native(),
      watermark,
      `from native to watermark: kept: ${LAST}; begins anew: ${LASTING}; forgotten: recommendations, scale events of the policies`,
    ],
    [
      watermark,
      governed,
      `from watermark to hpa: kept: ${LAST}; begins anew: stabilization, from the current count, what counts against policies, ${LASTING}`,
    ],
    [
      original,
      hpa,
      `from the first design to hpa: kept: ${LAST}; begins anew: stabilization, from the current count, ${LASTING}`,
    ],
    [
      watermark,
      original,
      `from watermark to the first design: kept: ${LAST}; begins anew: ${LASTING}`,
    ],
  ])("says what is kept and what is lost: change %#", (before, after, words) =>
    expect(rulesChange(before, after)).toBe(`the rules change ${words}`),
  );
});
