import { describe, expect, it } from "vitest";
import { type Behavior, type HpaMetric, isStabilized } from "../../lib/rules/model/spec-hpa.ts";

const target: HpaMetric = {
  type: "External",
  metric: { name: "load" },
  target: { type: "Value", valueMilli: 1_000n },
};
const marked: HpaMetric = { ...target, marks: { highMilli: 2_000n, lowMilli: 1_000n } };
const behavior: Behavior = {
  scaleUp: { selectPolicy: "Max", policies: [] },
  scaleDown: { selectPolicy: "Max", policies: [] },
};

describe("isStabilized()", () => {
  it.each<[string, boolean, Parameters<typeof isStabilized>[0]]>([
    ["a target", true, { metrics: [target] }],
    ["a target and behavior", true, { metrics: [target], behavior }],
    ["watermarks alone, whose forbidden windows replace it", false, { metrics: [marked] }],
    ["several metrics, all with watermarks", false, { metrics: [marked, marked] }],
    ["watermarks beside a target", true, { metrics: [marked, target] }],
    ["watermarks and behavior", true, { metrics: [marked], behavior }],
    ["no metric", true, { metrics: [] }],
  ])("of a spec with %s is %s", (_, stabilized, spec) =>
    expect(isStabilized(spec)).toBe(stabilized),
  );
});
