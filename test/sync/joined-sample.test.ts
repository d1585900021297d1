import { expect, it } from "vitest";
import type { Sample } from "../../lib/rules/model/scale-records.ts";
import { joinedSample } from "../../lib/stack/projections/sample.ts";

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
