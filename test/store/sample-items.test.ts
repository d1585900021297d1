import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AutoscalerUid,
  autoscalerName,
  clusterName,
  namespace,
  partitionName,
} from "../../lib/rules/model/ids.ts";
import type { Sample } from "../../lib/rules/model/scale-records.ts";
import { SIX_HOURS_MS } from "../../lib/stack/projections/journal-slots.ts";
import { BIN_MS, SAMPLE_BYTES_MAX, sampleItem } from "../../lib/stack/projections/samples.ts";

describe("sampleItem()", () => {
  it("takes one write unit for six hours of an autoscaler, whatever it does", () => {
    const count = fc.option(fc.integer({ min: 0, max: 100_000 }), { nil: undefined });
    const sample = fc.record({
      current: count,
      wanted: count,
      desired: count,
      ready: count,
      min: count,
      max: count,
      generation: count,
      load: fc.option(fc.double({ min: 0, max: 20, noNaN: true }), { nil: undefined }),
      metrics: fc.array(
        fc.record({
          name: fc.string({ maxLength: 60 }),
          value: fc.string({ maxLength: 20 }),
          target: fc.string({ maxLength: 20 }),
        }),
        { maxLength: 4 },
      ),
      reason: fc.constantFrom("ScaleDownStabilized", "DesiredWithinRange", "ScaleUpLimit"),
      held: fc.option(fc.constantFrom("stabilization", "policy"), { nil: undefined }),
    });
    const uid = "0d2f6f3e-9a1c-4c36-8f3a-6b1f2f9e5a10" as AutoscalerUid;
    const of = {
      cluster: clusterName("production-eu-central-1"),
      namespace: namespace("checkout"),
      name: autoscalerName("payment-gateway"),
      uid,
    };
    const source = {
      partition: { cluster: of.cluster, partition: partitionName("default") },
      page: 12,
      slot: { fromMs: 0, endMs: SIX_HOURS_MS },
    };
    fc.assert(
      fc.property(
        fc.array(sample, { minLength: SIX_HOURS_MS / BIN_MS, maxLength: SIX_HOURS_MS / BIN_MS }),
        (samples) => {
          const timed = samples.map((one, at) => ({
            ...one,
            atMs: at * BIN_MS,
          })) as unknown as readonly Sample[];
          expect(sampleItem(source, of, timed).body.length).toBeLessThanOrEqual(SAMPLE_BYTES_MAX);
        },
      ),
    );
  });
});
