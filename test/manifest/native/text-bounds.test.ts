import { describe, expect, it } from "vitest";
import { specOf } from "../../../lib/rules/manifest/admit.ts";
import { readExpression } from "../../../lib/rules/sources/read-expression.ts";
import { TEXT_LIMITS } from "../../../lib/rules/manifest/native/spec-rules.ts";

const manifestWith = (formulas: number): string =>
  JSON.stringify({
    apiVersion: "tidemark.dev/v1",
    kind: "PodAutoscaler",
    metadata: { namespace: "shop", name: "web" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      ...{ minReplicas: 1, maxReplicas: 10 },
      metrics: [
        { name: "queue", input: true, external: { metric: "queue" } },
        ...Array.from({ length: formulas }, (_, at) => ({
          name: `f${at}`,
          formula: { expression: `queue + ${at}`.padStart(500, " ") },
          ...{ measure: "Total", target: 10 },
        })),
      ],
    },
  });

describe("the formulas of a manifest", () => {
  it("have a bound of characters together, which its refusal names with the number", () => {
    expect(() => specOf(manifestWith(49))).toThrow(
      `must have formulas of at most ${TEXT_LIMITS.formulas} characters together, and has 24500`,
    );
    expect(() => specOf(manifestWith(16))).not.toThrow();
  });

  it("are each parsed once, however often the manifest is looked at", () => {
    expect(readExpression("queue + 1")).toBe(readExpression("queue + 1"));
    expect(readExpression("queue + 1")).not.toBe(readExpression("queue + 2"));
  });
});
