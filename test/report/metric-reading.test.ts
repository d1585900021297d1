import { describe, expect, it } from "vitest";
import { loadOfTexts, metricText } from "../../lib/stack/report/metric-reading.ts";
import { marksText } from "../../lib/rules/policy/shared/metrics/measurement.ts";

const measured = (value: string, target: string, average?: string): string =>
  metricText({
    ...{ kind: "measured", type: "Resource", name: "cpu", value, target, proposal: 3 },
    ...(average !== undefined && { average }),
  });

describe("loadOfTexts()", () => {
  it("is the value of a text by its target, in whatever units both are", () => {
    expect(loadOfTexts([measured("30%", "60%", "151m")])).toBe(0.5);
    expect(loadOfTexts([measured("750m", "1500m")])).toBe(0.5);
    expect(loadOfTexts([measured("2k", "500")])).toBe(4);
    expect(loadOfTexts([measured("1Gi", "512Mi")])).toBe(2);
    expect(loadOfTexts([measured("0", "60")])).toBe(0);
  });

  it("counts the high one of two watermarks", () => {
    const marks = marksText({ lowMilli: 150n, highMilli: 400n });
    expect(loadOfTexts([measured("200m", marks)])).toBe(0.5);
  });

  it("is the highest of several, and of none that is missing", () => {
    const failed = metricText({
      ...{ kind: "failed", name: "lag", type: "External", target: "30" },
      ...{ reason: "FailedGetMetric", message: "no metrics returned" },
    });
    expect(loadOfTexts([failed, measured("12", "24"), measured("9", "12")])).toBe(0.75);
    expect(loadOfTexts([failed])).toBeUndefined();
    expect(loadOfTexts([])).toBeUndefined();
    expect(loadOfTexts([measured("5", "0")])).toBeUndefined();
  });
});
