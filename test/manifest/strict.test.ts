import { describe, expect, it } from "vitest";
import { admit, specOf } from "../../lib/rules/manifest/admit.ts";
import { validationOf } from "../../lib/rules/model/spec.ts";
import { manifest, v2 } from "./manifests.ts";

const strictly = (document: unknown): readonly string[] => {
  const admission = admit(document, { validation: "strict" });
  return admission.ok
    ? []
    : admission.problems.map(({ field, detail, fix }) => `${field}: ${detail}; ${fix}`);
};

const TARGET = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const RESOURCE = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
};
const WPA_METRIC = {
  type: "External",
  external: { metricName: "lag", metricSelector: {}, highWatermark: 9 },
};
const wpa = (spec: object) => ({
  ...manifest("datadoghq.com/v1alpha1", { scaleTargetRef: TARGET, maxReplicas: 9, ...spec }),
  kind: "WatermarkPodAutoscaler",
});
const native = (spec: object) => ({
  ...manifest("tidemark.dev/v1", { scaleTargetRef: TARGET, maxReplicas: 9, ...spec }),
  kind: "PodAutoscaler",
});
const NATIVE_METRIC = { external: { metric: "lag" }, target: 1 };

/** One mistyped name in every form, at every depth. */
const MISTYPED: readonly (readonly [field: string, nearest: string, document: unknown])[] = [
  ["spec.behaviour", "behavior", v2({ behaviour: {} })],
  ["spec.behaviour", "behavior", v2({ behaviour: null })],
  ["spec.metric", "metrics", v2({ metric: [RESOURCE] })],
  ["spec.minReplica", "minReplicas", v2({ minReplica: 3 })],
  ["spec.MinReplicas", "minReplicas", v2({ MinReplicas: 3 })],
  [
    "spec.behavior.scaleDown.stabilisationWindowSeconds",
    "stabilizationWindowSeconds",
    v2({ behavior: { scaleDown: { stabilisationWindowSeconds: 60 } } }),
  ],
  [
    "spec.behavior.scaleUp.policies[0].periodSecond",
    "periodSeconds",
    v2({
      behavior: {
        scaleUp: { policies: [{ type: "Pods", value: 1, periodSeconds: 60, periodSecond: 9 }] },
      },
    }),
  ],
  [
    "spec.metrics[0].resource.target.averageUtilisation",
    "averageUtilization",
    v2({
      metrics: [
        {
          type: "Resource",
          resource: {
            name: "cpu",
            target: { type: "Utilization", averageUtilization: 60, averageUtilisation: 70 },
          },
        },
      ],
    }),
  ],
  ["spec.scaleTargetRef.kinds", "kind", v2({ scaleTargetRef: { ...TARGET, kinds: "x" } })],
  ["metadata.label", "labels", v2({}, { label: {} })],
  ["specs", "spec", { ...v2(), specs: {} }],
  [
    "spec.constraints.scaleUp.rate.percentage",
    "percent",
    v2({ constraints: { scaleUp: { rate: { percentage: 1 } } } }),
  ],
  ["spec.constraints.scaleDown.pod", "pods", v2({ constraints: { scaleDown: { pod: 1 } } })],
  [
    "spec.targetCPUUtilisationPercentage",
    "targetCPUUtilizationPercentage",
    manifest("autoscaling/v1", {
      scaleTargetRef: TARGET,
      maxReplicas: 3,
      targetCPUUtilisationPercentage: 50,
    }),
  ],
  [
    "spec.metrics[0].resource.targetAverageUtilisation",
    "targetAverageUtilization",
    manifest("autoscaling/v2beta1", {
      scaleTargetRef: TARGET,
      maxReplicas: 3,
      metrics: [
        {
          type: "Resource",
          resource: { name: "cpu", targetAverageUtilization: 60, targetAverageUtilisation: 60 },
        },
      ],
    }),
  ],
  [
    "spec.cpuUtilization.targetPercentages",
    "targetPercentage",
    manifest("extensions/v1beta1", {
      scaleRef: { kind: "Deployment", name: "web" },
      maxReplicas: 3,
      cpuUtilization: { targetPercentages: 3 },
    }),
  ],
  [
    "spec.metrics[0].external.highWatermarks",
    "highWatermark",
    wpa({
      metrics: [{ type: "External", external: { ...WPA_METRIC.external, highWatermarks: 1 } }],
    }),
  ],
  [
    "spec.upscaleForbiddenWindowsSeconds",
    "upscaleForbiddenWindowSeconds",
    wpa({ metrics: [WPA_METRIC], upscaleForbiddenWindowsSeconds: 1 }),
  ],
  [
    "spec.upscaleForbiddenWindowsSeconds",
    "upscaleForbiddenWindowSeconds",
    v2({
      metrics: [{ type: "External", external: { metricName: "lag", highWatermark: 9 } }],
      upscaleForbiddenWindowsSeconds: 1,
    }),
  ],
  [
    "spec.metrics[0].external.highWatermarks",
    "highWatermark",
    v2({
      metrics: [
        { type: "External", external: { metricName: "lag", highWatermark: 9, highWatermarks: 9 } },
      ],
    }),
  ],
  [
    "spec.scaleUp.sustainSecond",
    "sustainSeconds",
    native({ metrics: [NATIVE_METRIC], scaleUp: { sustainSecond: 9 } }),
  ],
  [
    "spec.hpa.behaviour",
    "behavior",
    native({ rules: "hpa", hpa: { metrics: [RESOURCE], behaviour: {} } }),
  ],
  [
    "spec.watermark.metrics[0].external.lowWatermarks",
    "lowWatermark",
    native({
      rules: "watermark",
      watermark: {
        metrics: [{ type: "External", external: { ...WPA_METRIC.external, lowWatermarks: 1 } }],
      },
    }),
  ],
];

describe("strict validation", () => {
  it.each(MISTYPED)("refuses the field %s and names the nearest one", (field, nearest, document) =>
    expect(strictly(document)).toEqual([
      `${field}: unknown field; ${nearest === "" ? "remove it" : `write "${nearest}" if that is meant`}`,
    ]),
  );

  it("speaks of a required field once, where its name was mistyped", () => {
    const { maxReplicas, ...spec } = v2().spec;
    expect(strictly({ ...v2(), spec: { ...spec, maxReplica: maxReplicas } })).toEqual([
      'spec.maxReplica: unknown field; write "maxReplicas" if that is meant',
    ]);
    expect(strictly({ ...v2(), spec: { scaleTargetReff: TARGET, maxReplicas: 3 } })[0]).toBe(
      'spec.scaleTargetReff: unknown field; write "scaleTargetRef" if that is meant',
    );
  });

  it("refuses blanks around a quantity, which the API cuts off", () =>
    expect(
      strictly(
        v2({
          metrics: [
            {
              type: "Pods",
              pods: {
                metric: { name: "x" },
                target: { type: "AverageValue", averageValue: " 5 " },
              },
            },
          ],
        }),
      ),
    ).toEqual([
      'spec.metrics[0].pods.target.averageValue: may not have blanks around it; write "5"',
    ]));

  it("takes what a cluster adds to an object: status, managed fields, owners and the rest of its metadata", () => {
    const metadata = {
      uid: "a",
      resourceVersion: "5",
      generation: 3,
      creationTimestamp: "2026-01-01T00:00:00Z",
      selfLink: "/x",
      finalizers: ["a/b"],
      managedFields: [{ manager: "kubectl", fieldsV1: { "f:spec": { "f:maxReplicas": {} } } }],
      ownerReferences: [{ uid: "b", more: 1 }],
      annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}" },
    };
    expect(
      strictly({ ...v2({}, metadata), status: { currentReplicas: 3, anything: [1] } }),
    ).toEqual([]);
  });

  it("tells of an unknown field in an annotation, which the API reads without strictness", () => {
    const annotations = {
      "autoscaling.alpha.kubernetes.io/behavior": JSON.stringify({
        scaleUp: { policies: [{ type: "Pods", value: 1, periodSeconds: 60 }], windowSeconds: 3 },
      }),
    };
    const admission = admit(
      manifest("autoscaling/v1", { scaleTargetRef: TARGET, maxReplicas: 3 }, { annotations }),
      { validation: "strict" },
    );
    expect([admission.ok, admission.warnings.map(({ message }) => message)]).toEqual([
      true,
      [
        'unknown field "metadata.annotations["autoscaling.alpha.kubernetes.io/behavior"].scaleUp.windowSeconds" is ignored',
      ],
    ]);
  });

  it("refuses every unknown field of many, and looks for the nearest names of fifty", () => {
    const many = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, index) => [`maxReplicas${index}`, 1]),
    );
    expect(strictly(v2(many))).toHaveLength(50);
  });
});

describe("other validation", () => {
  it.each(MISTYPED)(
    "warns of the field %s under warn, says nothing of it under ignore, and admits it as if it were not there",
    (field, _, document) => {
      const [warned, ignored] = (["warn", "ignore"] as const).map((validation) =>
        admit(document, { validation }),
      );
      expect([
        warned?.ok,
        warned?.warnings.filter((warning) => warning.refusal).map((warning) => warning.field),
      ]).toEqual([true, [field]]);
      expect([ignored?.ok, ignored?.warnings.filter((warning) => warning.refusal)]).toEqual([
        true,
        [],
      ]);
    },
  );

  it.each(MISTYPED)(
    "leaves a stored manifest with the field %s what it was: it is decided as before",
    (_field, _nearest, document) =>
      expect(specOf(JSON.stringify(document))).toEqual(
        admit(document, { validation: "ignore" }).ok && (admit(document) as { spec: unknown }).spec,
      ),
  );

  it("has the words of kubectl", () =>
    expect(
      ["strict", "true", "warn", "ignore", "false", "none", "__proto__"].map(validationOf),
    ).toEqual(["strict", "strict", "warn", "ignore", "ignore", undefined, undefined]));
});
