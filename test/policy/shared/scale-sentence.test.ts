import { describe, expect, it } from "vitest";
import type { MetricOutcome } from "../../../lib/rules/model/decision.ts";
import {
  shortMetricName,
  withReadableSelectors,
  scaleBecause,
  scaleSentence,
} from "../../../lib/rules/policy/shared/scale-sentence.ts";

const metric = (name: string, proposal: number): MetricOutcome => ({
  name,
  type: "Resource",
  kind: "measured",
  value: "13%",
  target: "60%",
  proposal,
});
const CPU = "cpu resource utilization (percentage of request)";
const STABILIZED = {
  reason: "ScaleDownStabilized",
  value: 15,
  message: "recent recommendations were higher",
};

describe("the reason of a scale", () => {
  it("says why it scaled, and what limited its size comes after", () => {
    const steps = [
      { step: "propose", before: 17, after: 3 },
      { step: "stabilize", before: 3, after: 15, limit: STABILIZED },
      { step: "limit", before: 15, after: 15 },
    ];
    expect(
      scaleBecause(
        { from: 17, to: 15, metrics: [metric(CPU, 3)], steps, trigger: "All metrics below target" },
        "AllMetricsBelowTarget",
      ),
    ).toEqual({
      reason: "AllMetricsBelowTarget",
      message: "cpu 13% of 60% asks for 3; stabilization allowed 15",
    });
  });

  it("names of several limits the one that left the count first", () => {
    const steps = [
      { step: "propose", before: 17, after: 3 },
      { step: "stabilize", before: 3, after: 12, limit: STABILIZED },
      {
        step: "limit",
        before: 12,
        after: 15,
        limit: { reason: "ScaleDownLimit", value: 15, message: "the rate is used up" },
      },
    ];
    expect(scaleSentence({ metrics: [metric(CPU, 3)], steps, wanted: 3, trigger: "" })).toBe(
      "the rate limit allowed 15; cpu 13% of 60% asks for 3; stabilization allowed 12",
    );
  });

  it("is the limit where the metrics do not ask for that direction", () => {
    const steps = [
      { step: "propose", before: 4, after: 4 },
      { step: "stabilize", before: 4, after: 6, limit: STABILIZED },
    ];
    expect(
      scaleBecause(
        { from: 4, to: 6, metrics: [metric(CPU, 4)], steps, trigger: "" },
        "AllMetricsBelowTarget",
      ).reason,
    ).toBe("WantedBefore");
  });

  it("names every metric of a mean, and the trigger where a fallback decided", () => {
    expect(
      scaleSentence({
        metrics: [metric("a", 3), metric("b", 6)],
        steps: [],
        wanted: 5,
        trigger: "",
      }),
    ).toBe("a 13% of 60% asks for 3, b 13% of 60% asks for 6: together 5");
    const failed: MetricOutcome = {
      name: "b",
      type: "External",
      kind: "failed",
      reason: "FailedGetExternalMetric",
      message: "gone",
    };
    expect(
      scaleSentence({
        metrics: [metric("a", 3), failed],
        steps: [],
        wanted: 8,
        trigger: "the fallback of b above target",
      }),
    ).toBe("the fallback of b above target");
  });
});

const GO =
  "&LabelSelector{MatchLabels:map[string]string{queue: orders,region: eu,},MatchExpressions:[]LabelSelectorRequirement{},}";
const EXPRESSIONS =
  "&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:tier,Operator:In,Values:[a b],},LabelSelectorRequirement{Key:old,Operator:DoesNotExist,Values:[],},},}";

describe("a selector of a metric reads as people write it", () => {
  it.each([
    [
      `external metric sqs_messages_visible(${GO})`,
      "external metric sqs_messages_visible{queue=orders,region=eu}",
    ],
    [`external metric load(${EXPRESSIONS})`, "external metric load{tier in (a,b),!old}"],
    ["external metric load(nil) above target", "external metric load above target"],
    [
      `unable to get external metric shop/load/${GO}: no metrics`,
      "unable to get external metric shop/load{queue=orders,region=eu}: no metrics",
    ],
    [
      "unable to get external metric shop/load/nil: no metrics",
      "unable to get external metric shop/load: no metrics",
    ],
    ["lag{map[team:a tier:b]} above target", "lag{team=a,tier=b} above target"],
    ["lag{map[]} above target", "lag above target"],
    ["nothing of the kind", "nothing of the kind"],
  ])("%s", (text, readable) => expect(withReadableSelectors(text)).toBe(readable));

  it("is short in a sentence", () => {
    expect(
      [
        CPU,
        "memory resource",
        "cpu resource of container app",
        `external metric q(${GO})`,
        "pods metric http_requests",
      ].map(shortMetricName),
    ).toEqual([
      "cpu",
      "memory",
      "cpu of container app",
      "q{queue=orders,region=eu}",
      "http_requests",
    ]);
  });
});
