import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { admitOrThrow } from "../../lib/rules/manifest/admit.ts";
import { levelsOf } from "../../lib/rules/policy/dialects.ts";
import { hpa, podAutoscaler } from "../replay/world.ts";

const levels = (document: unknown) =>
  levelsOf(admitOrThrow({ where: "test", document }).spec).map(({ name, measure, milli }) => [
    name,
    measure,
    milli,
  ]);
const example = (name: string): unknown =>
  parse(readFileSync(new URL(`../../examples/${name}.yaml`, import.meta.url), "utf8"));

describe("levelsOf()", () => {
  it("has each target of an HPA in the order of its manifest, whatever it is compared with", () => {
    const external = (name: string, target: object) => ({
      type: "External",
      external: { metric: { name }, target },
    });
    const metrics = [
      external("lag", { type: "AverageValue", averageValue: "30" }),
      external("load", { type: "Value", value: "500m" }),
      {
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
      },
    ];
    expect(levels(hpa({ metrics }))).toEqual([
      ["lag", "Average", 30_000n],
      ["load", "Total", 500n],
      ["cpu", "Percent", 60_000n],
    ]);
  });

  it("has the high watermark of two, and nothing for the input of a formula", () => {
    const metrics = [
      { name: "queue", external: { metric: "queue" }, input: true },
      { name: "work", formula: { expression: "queue / 2" }, target: 7 },
      { name: "cpu", resource: { name: "cpu" }, watermarks: { low: 40, high: 80 } },
    ];
    expect(levels(podAutoscaler({ metrics }))).toEqual([
      ["queue", "Total", undefined],
      ["work", "Total", 7_000n],
      ["cpu", "Percent", 80_000n],
    ]);
  });

  it.each(["watermark", "multi-threshold", "original"])(
    "knows the metrics of examples/%s.yaml",
    (name) => {
      const found = levels(example(name));
      expect(found.length).toBeGreaterThan(0);
      for (const [, , milli] of found) expect(Number(milli)).toBeGreaterThan(0);
    },
  );
});
