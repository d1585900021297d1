import { expect, it } from "vitest";
import type { Evaluation, Sample } from "../../lib/rules/model/scale-records.ts";
import { joinedSample, sampleOf } from "../../lib/stack/projections/sample.ts";

const sample = (atMs: number, reason: string, held?: Sample["held"]): Sample => ({
  atMs,
  metrics: [],
  reason,
  ...(held && { held }),
});

it("Of several evaluations the reason is of the one that was held by most, and else of the latest", () => {
  const limited = sample(1, "ScaleUpLimit", "policy");
  const stabilized = sample(2, "ScaleDownStabilized", "stabilization");
  const steady = sample(3, "WithinTarget");
  const refused = sample(4, "ScaleRefused", "refused");
  expect(joinedSample(limited, steady)).toEqual({ ...limited, atMs: 3 });
  expect(joinedSample(limited, stabilized)).toEqual({ ...limited, atMs: 2 });
  expect(joinedSample(stabilized, refused)).toEqual(refused);
  expect(joinedSample(steady, sample(5, "MetricAboveTarget"))).toEqual(
    sample(5, "MetricAboveTarget"),
  );
});

it.each([
  ["resource", { name: "cpu", current: { averageUtilization: 62, averageValue: "311m" } }, "311m"],
  ["containerResource", { name: "cpu", container: "app", current: { averageValue: "4" } }, "4"],
  ["external", { metric: { name: "cpu" }, current: { averageValue: "4" } }, undefined],
])(
  "A sample of a percentage has the mean of a pod that the status of a %s has",
  (source, of, average) => {
    const evaluation = {
      ...{ kind: "hold", failed: false, from: 3, because: { reason: "WithinTarget", message: "" } },
      steps: [],
      metrics: [
        { name: "a", type: "External", kind: "failed", reason: "None", message: "" },
        {
          name: "cpu",
          type: "Resource",
          kind: "measured",
          value: "62%",
          target: "50%",
          proposal: 3,
        },
      ],
      status: { currentMetrics: [{ type: "" }, { type: "Any", [source]: of }] },
    };
    const { metrics } = sampleOf(1, evaluation as unknown as Evaluation);
    expect(metrics.map((metric) => metric.average)).toEqual([undefined, average]);
  },
);

it("A sample has the most pods without a usable sample of all metrics, and of several evaluations", () => {
  const sampleWith = (...missing: readonly (number | undefined)[]): Sample =>
    sampleOf(1, {
      ...{ kind: "hold", failed: false, from: 3, because: { reason: "WithinTarget", message: "" } },
      ...{ steps: [], status: {} },
      metrics: missing.map((pods) => ({
        ...{ name: "cpu", type: "Resource", kind: "measured", value: "62%", target: "50%" },
        ...{ proposal: 3, ...(pods !== undefined && { pods: { matched: 9, missing: pods } }) },
      })),
    } as unknown as Evaluation);
  expect(sampleWith(2, undefined, 4)).toMatchObject({ missing: 4 });
  expect(sampleWith(undefined)).not.toHaveProperty("missing");
  expect(joinedSample(sampleWith(2), sampleWith(undefined))).toMatchObject({ missing: 2 });
  expect(joinedSample(sampleWith(undefined), sampleWith(undefined))).not.toHaveProperty("missing");
});
