import { describe, expect, it } from "vitest";
import { admit } from "../../../lib/rules/manifest/admit.ts";
import type { WatermarkSpec } from "../../../lib/rules/model/spec-watermark.ts";

const METRIC = {
  type: "External",
  external: {
    metricName: "lag",
    metricSelector: { matchLabels: { app: "web" } },
    highWatermark: "400m",
    lowWatermark: "150m",
  },
};

const wpa = (
  spec: Readonly<Record<string, unknown>> = {},
  annotations: Readonly<Record<string, string>> = {},
) => ({
  apiVersion: "datadoghq.com/v1alpha1",
  kind: "WatermarkPodAutoscaler",
  metadata: { name: "web", namespace: "shop", annotations },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    maxReplicas: 9,
    metrics: [METRIC],
    ...spec,
  },
});

const specOf = (document: unknown): WatermarkSpec => {
  const admission = admit(document);
  if (!admission.ok) throw new Error(JSON.stringify(admission.problems));
  if (admission.spec.dialect !== "watermark") throw new Error(admission.spec.dialect);
  return admission.spec;
};
const faults = (document: unknown): readonly string[] => {
  const admission = admit(document);
  return admission.ok ? [] : admission.problems.map(({ field, detail }) => `${field}: ${detail}`);
};
const warnings = (document: unknown): readonly string[] =>
  admit(document).warnings.map(({ field, message }) => `${field}: ${message}`);

describe("admit() of a WatermarkPodAutoscaler", () => {
  it("fills in the defaults of watermark.md 1.2", () =>
    expect(specOf(wpa())).toMatchObject({
      minReplicas: 1,
      average: false,
      toleranceMilli: 100n,
      scaleUpLimit: { milli: 50_000n, whole: 50n },
      scaleDownLimit: { milli: 20_000n, whole: 20n },
      upscaleForbiddenWindowSeconds: 60,
      downscaleForbiddenWindowSeconds: 300,
      replicaScalingAbsoluteModulo: 1,
      converge: "off",
    }));

  it.each(["0.01", 0.01, "10m"])("takes the tolerance %j for one percent", (tolerance) =>
    expect(specOf(wpa({ tolerance })).toleranceMilli).toBe(10n),
  );

  it("cannot say a tolerance of 0, nor a window of 0", () =>
    expect(specOf(wpa({ tolerance: 0, upscaleForbiddenWindowSeconds: 0 }))).toMatchObject({
      toleranceMilli: 100n,
      upscaleForbiddenWindowSeconds: 60,
    }));

  it.each(["highWatermark", "lowWatermark"])("takes a single %s for both marks", (mark) => {
    const external = { metricName: "lag", metricSelector: {}, [mark]: "3" };
    expect(specOf(wpa({ metrics: [{ type: "External", external }] })).metrics).toMatchObject([
      { highMilli: 3_000n, lowMilli: 3_000n },
    ]);
  });

  it.each([
    [
      "the skip annotation",
      { "wpa.datadoghq.com/skip-owner-check": "true" },
      { skipOwnerCheck: true },
    ],
    [
      "another word in it",
      { "wpa.datadoghq.com/skip-owner-check": "yes" },
      { skipOwnerCheck: false },
    ],
    [
      "life-cycle control",
      { "wpa.datadoghq.com/lifecycle-control.enabled": "T" },
      { lifecycleControl: { kind: "on" } },
    ],
    [
      "life-cycle control that is no word for yes or no",
      { "wpa.datadoghq.com/lifecycle-control.enabled": "si" },
      { lifecycleControl: { kind: "unreadable", text: "si" } },
    ],
  ])("reads %s", (_, annotations, expected) =>
    expect(specOf(wpa({}, annotations))).toMatchObject(expected),
  );

  it.each([
    [
      "bounds that cross",
      { minReplicas: 10 },
      [
        "spec.maxReplicas: watermark pod autoscaler requires the minimum number of replicas to be configured and inferior to the maximum",
      ],
    ],
    [
      "no maximum",
      { maxReplicas: undefined },
      ["spec.maxReplicas: must be greater than or equal to 1"],
    ],
    [
      "a minimum of 0",
      { minReplicas: 0 },
      ["spec.minReplicas: must be greater than or equal to 1"],
    ],
    [
      "a tolerance above 1",
      { tolerance: "1001m" },
      [
        "spec.tolerance: tolerance should be set as a quantity between 0 and 1, currently set to : 1001m, which is 100%",
      ],
    ],
    [
      "a factor down of 100",
      { scaleDownLimitFactor: 100 },
      [
        "spec.scaleDownLimitFactor: scaledownlimitfactor should be set as a quantity between 0 and 100 (exc.), currently set to : 100, which could yield a 100% decrease",
      ],
    ],
    [
      "a metric without a selector, in the words of the original, before its marks are compared",
      {
        metrics: [
          {
            type: "External",
            external: { metricName: "lag", highWatermark: "1", lowWatermark: "2" },
          },
        ],
      },
      ["spec.metrics[0].external.metricSelector: missing Labels for the External metric lag"],
    ],
    [
      "a modulo of 0",
      { replicaScalingAbsoluteModulo: 0 },
      ["spec.replicaScalingAbsoluteModulo: must be greater than or equal to 1"],
    ],
    [
      "an address that is none",
      { metrics: [], recommender: { url: "ftp://x", highWatermark: 2, lowWatermark: 1 } },
      ["spec.recommender.url: must be an http or https address"],
    ],
    [
      "two sources",
      { recommender: { url: "https://x", highWatermark: 2, lowWatermark: 1 } },
      [
        "spec.recommender: recommender and metrics can't be set at the same time, please choose one",
      ],
    ],
  ])("refuses %s", (_, spec, expected) => expect(faults(wpa(spec))).toEqual(expected));

  it("names every problem at once", () =>
    expect(
      faults(
        wpa({ tolerance: "2", scaleUpLimitFactor: "-1", minAvailableReplicaPercentage: 101 }),
      ).map((text) => text.slice(0, text.indexOf(":"))),
    ).toEqual(["spec.minAvailableReplicaPercentage", "spec.tolerance", "spec.scaleUpLimitFactor"]));

  it("warns of what the original passes over", () => {
    expect(warnings(wpa({ algorithm: "Average" }))).toEqual([
      'spec.algorithm: "Average" is read as absolute',
    ]);
    expect(warnings(wpa({ metrics: [] }))).toEqual([
      "spec.metrics: without metrics or a recommender only the bounds have an effect",
    ]);
    expect(warnings(wpa({ tolerence: "0.1" }))).toEqual([
      'spec.tolerence: unknown field "spec.tolerence" is ignored',
    ]);
  });

  it("warns of marks whose thousandths 64 bits do not hold", () => {
    const metric = {
      type: "External",
      external: {
        metricName: "q",
        metricSelector: { matchLabels: { a: "b" } },
        highWatermark: "4E",
        lowWatermark: "3",
      },
    };
    expect(warnings(wpa({ metrics: [metric] }))).toEqual([
      "spec.metrics[0].external.highWatermark: 4E has more thousandths than 64 bits hold, so that it is read as 0",
    ]);
  });

  it("stores what is admitted again as the same", () => {
    const first = admit(
      wpa({ tolerance: 0.05, dryRun: true, convergeTowardsWatermark: "highwatermark" }),
    );
    expect(first.ok && admit({ ...first.stored }, { old: first.stored })).toMatchObject({
      ok: true,
      changed: false,
      warnings: [],
    });
  });
});
