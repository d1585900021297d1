import { describe, expect, it } from "vitest";
import { admit } from "../../lib/rules/manifest/admit.ts";
import { convertedForm } from "../../lib/rules/manifest/native/convert.ts";
import { faults, hpa } from "../policy/multi-threshold/world.ts";
import { specOf } from "../policy/spec-of.ts";

const MARKS = { highWatermark: "10", lowWatermark: "5" };
const FIELDS = {
  tolerance: 0,
  scaleUpLimitFactor: 30,
  scaleDownLimitFactor: 0,
  upscaleForbiddenWindowSeconds: 0,
  downscaleForbiddenWindowSeconds: 60,
};
const LOAD = { type: "External", external: { metric: { name: "load" }, ...MARKS } };
const PER_POD = {
  type: "External",
  external: { metric: { name: "queue" }, target: { type: "AverageValue", averageValue: "10" } },
};
const admitted = (manifest: unknown) => {
  const admission = admit(manifest);
  if (!admission.ok) throw new Error(JSON.stringify(admission.problems));
  return admission;
};
const warnings = (manifest: unknown) =>
  admit(manifest).warnings.map(({ field, message }) => `${field}: ${message}`);
const DEFAULTS = "spec: absent fields take the defaults of the multi-threshold form: ";

describe("an HPA with fields of both proposals", () => {
  it.each([
    ["marks with behavior", { metrics: [LOAD], behavior: {} }],
    [
      "marks with constraints",
      { metrics: [LOAD], constraints: { scaleUp: { pods: 2, percent: 0 } } },
    ],
    ["marks beside a metric with a target", { metrics: [LOAD, PER_POD] }],
    ["an ordinary target with its fields", { metrics: [PER_POD] }],
    ["its fields without any metric, which is CPU at 80 percent", {}],
    [
      "marks on every type of metric",
      {
        algorithm: "average",
        metrics: [
          {
            type: "Pods",
            pods: { metric: { name: "jobs", selector: { matchLabels: { a: "b" } } }, ...MARKS },
          },
          {
            type: "Object",
            object: {
              describedObject: { kind: "Service", name: "s" },
              metric: { name: "hits" },
              ...MARKS,
            },
          },
          { type: "Resource", resource: { name: "cpu", ...MARKS } },
          {
            type: "Resource",
            resource: {
              name: "memory",
              metricSelector: { matchLabels: { app: "x" } },
              lowWatermark: "1Gi",
            },
          },
          {
            type: "ContainerResource",
            containerResource: { name: "cpu", container: "app", ...MARKS },
          },
        ],
      },
    ],
    ["a dry run", { metrics: [PER_POD], dryRun: true }],
  ])(
    "is stored as what is admitted again as the same, and converts to what decides the same: %s",
    (_, spec) => {
      const admission = admitted(hpa({ ...FIELDS, ...spec }));
      expect(admission.warnings).toEqual([]);
      expect(admission.spec).toMatchObject({
        dialect: "multi-threshold",
        thresholds: { tolerance: 0, upscaleForbiddenWindowSeconds: 0 },
      });
      expect(admit(admission.stored, { old: admission.stored })).toMatchObject({
        ok: true,
        changed: false,
        warnings: [],
        spec: admission.spec,
      });
      const conversion = convertedForm(admission);
      expect(conversion.kind === "converted" && specOf(conversion.document)).toEqual(
        admission.spec,
      );
    },
  );

  it("takes the defaults of the watermark rules for what is not written, and says so", () => {
    const manifest = hpa({ metrics: [PER_POD], tolerance: 0.05 });
    expect(specOf(manifest)).toMatchObject({
      thresholds: {
        tolerance: 0.05,
        scaleUpLimit: { whole: 50n },
        scaleDownLimit: { whole: 20n },
        upscaleForbiddenWindowSeconds: 60,
        downscaleForbiddenWindowSeconds: 300,
      },
    });
    expect(warnings(manifest)).toEqual([
      `${DEFAULTS}scaleUpLimitFactor 50, scaleDownLimitFactor 20, upscaleForbiddenWindowSeconds 60, downscaleForbiddenWindowSeconds 300`,
    ]);
    const alone = hpa({
      ...FIELDS,
      tolerance: undefined,
      metrics: [{ type: "External", external: { metricName: "load", ...MARKS } }],
    });
    expect([specOf(alone).dialect, ...warnings(alone)]).toEqual([
      "watermark",
      `${DEFAULTS}tolerance 100m`,
    ]);
  });

  it.each([
    [
      "extensions/v1beta1",
      { scaleRef: { kind: "Deployment", name: "web" }, scaleTargetRef: undefined },
    ],
    ["autoscaling/v1", { targetCPUUtilizationPercentage: 70 }],
  ])("may be an HPA of %s", (apiVersion, spec) => {
    const read = specOf(hpa({ ...FIELDS, ...spec }, apiVersion));
    expect(read).toMatchObject({
      dialect: "multi-threshold",
      metrics: [{ name: "cpu" }],
      thresholds: {},
    });
    expect("rules" in read).toBe(false);
  });

  const mixed = (at: string, target: string, mark: string) => [
    `spec.metrics[0].${at}.${target}: may not be set together with spec.metrics[0].${at}.${mark}`,
  ];
  it.each([
    [
      "a mark beside a target of v2 on one metric",
      {
        metrics: [
          {
            type: "Pods",
            pods: {
              metric: { name: "jobs" },
              target: { type: "AverageValue", averageValue: "3" },
              lowWatermark: "4",
            },
          },
        ],
      },
      mixed("pods", "target", "lowWatermark"),
    ],
    [
      "a mark beside a target of v2beta1 on one metric",
      {
        metrics: [
          {
            type: "Pods",
            pods: { metricName: "jobs", targetAverageValue: "3", highWatermark: "4" },
          },
        ],
      },
      mixed("pods", "targetAverageValue", "highWatermark"),
    ],
    [
      "crossed marks",
      {
        metrics: [
          {
            type: "Pods",
            pods: { metric: { name: "jobs" }, highWatermark: "4", lowWatermark: "5" },
          },
        ],
      },
      ["spec.metrics[0].pods.lowWatermark: must be less than or equal to `highWatermark`"],
    ],
    [
      "a mark of nothing",
      {
        metrics: [{ ...LOAD, external: { metric: { name: "load" }, highWatermark: 0 } }],
        behavior: {},
      },
      ["spec.metrics[0].external.highWatermark: must be positive"],
    ],
    [
      "a metric without a name",
      { metrics: [{ type: "Pods", pods: { ...MARKS } }] },
      ["spec.metrics[0].pods.metric.name: must specify a metric name"],
    ],
    [
      "a selector beside a target",
      {
        metrics: [
          {
            type: "Resource",
            resource: {
              name: "cpu",
              metricSelector: {},
              target: { type: "Utilization", averageUtilization: 50 },
            },
          },
        ],
      },
      ["spec.metrics[0].resource.metricSelector: may not be set together with a target"],
    ],
    [
      "a minimum of 0 beside marks",
      { metrics: [LOAD, PER_POD], minReplicas: 0 },
      [
        "spec.minReplicas: may not be 0 together with watermarks, because a count of 0 times any value stays 0",
      ],
    ],
    [
      "a mark whose thousandths wrap in 64 bits",
      { metrics: [{ type: "Resource", resource: { name: "cpu", highWatermark: "10Ei" } }] },
      ["spec.metrics[0].resource.highWatermark: must be at most 9223372036854775807 thousandths"],
    ],
    [
      "a tolerance whose thousandths wrap in 64 bits",
      { tolerance: "100Ei" },
      ["spec.tolerance: must be a share from 0 to 1"],
    ],
    [
      "a factor whose thousandths wrap in 64 bits",
      { scaleDownLimitFactor: "1e70" },
      ["spec.scaleDownLimitFactor: must be a whole percentage from 0 to 100"],
    ],
    [
      "a fraction of a percent",
      { scaleUpLimitFactor: "30500m" },
      ["spec.scaleUpLimitFactor: must be a whole percentage from 0 to 100"],
    ],
    ["a tolerance above 1", { tolerance: 1.5 }, ["spec.tolerance: must be a share from 0 to 1"]],
    [
      "a negative window",
      { upscaleForbiddenWindowSeconds: -1 },
      ["spec.upscaleForbiddenWindowSeconds: must be greater than or equal to 0"],
    ],
    [
      "an algorithm that is none",
      { algorithm: "median" },
      ['spec.algorithm: supported values: "absolute", "average"'],
    ],
    [
      "constraints beside behavior",
      { metrics: [LOAD], behavior: {}, constraints: {} },
      ["spec.constraints: may not be set together with spec.behavior"],
    ],
  ])("refuses %s", (_, spec, expected) =>
    expect(faults(hpa({ ...FIELDS, ...spec }))).toEqual(expected),
  );

  it("says that an algorithm has no effect without marks, and that dryRun of an ordinary HPA is unknown", () => {
    expect(warnings(hpa({ ...FIELDS, metrics: [PER_POD], algorithm: "average" }))).toEqual([
      "spec.algorithm: algorithm has no effect without watermarks; the type of a target decides",
    ]);
    expect(warnings(hpa({ metrics: [PER_POD], dryRun: true }))).toEqual([
      'spec.dryRun: unknown field "spec.dryRun" is ignored',
    ]);
  });
});
