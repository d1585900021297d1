import { describe, expect, it } from "vitest";
import { printSelector } from "../../../../lib/rules/sources/metric-identifier.ts";

describe("printSelector()", () => {
  it("prints no selector as nil, and an empty one as empty parts", () => {
    expect(printSelector(undefined)).toBe("nil");
    expect(printSelector({})).toBe(
      "&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{},}",
    );
  });

  it("sorts labels by key, and keeps expressions and values in the manifest's order", () => {
    const selector = {
      matchLabels: { verb: "GET", code: "200", app: "web" },
      matchExpressions: [
        { key: "tier", operator: "In", values: ["b", "a"] },
        { key: "a", operator: "Exists" },
      ],
    };
    expect(printSelector(selector)).toBe(
      "&LabelSelector{MatchLabels:map[string]string{app: web,code: 200,verb: GET,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:tier,Operator:In,Values:[b a],},LabelSelectorRequirement{Key:a,Operator:Exists,Values:[],},},}",
    );
  });
});
