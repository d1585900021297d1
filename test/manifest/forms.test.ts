import { describe, expect, it } from "vitest";
import { FORMS } from "../../lib/rules/manifest/other-kinds.ts";
import { readManifests } from "../../lib/rules/manifest/documents.ts";
import { admitted, faults, faultsOf, manifest, refused, v2 } from "./manifests.ts";

const cpu = (averageUtilization: number) => ({
  type: "Resource",
  name: "cpu",
  target: { type: "Utilization", averageUtilization },
});
const warningsOf = (document: unknown) =>
  admitted(document).warnings.map(({ field, message }) => `${field}: ${message}`);

describe("extensions/v1beta1, the original design (proposals.md §1)", () => {
  const original = (spec: Readonly<Record<string, unknown>> = {}, metadata = {}) =>
    manifest(
      "extensions/v1beta1",
      {
        scaleRef: { kind: "ReplicationController", name: "web", apiVersion: "v1" },
        maxReplicas: 10,
        ...spec,
      },
      metadata,
    );

  it("is decided by its own rules, on CPU at 80 percent, from 1 replica on", () =>
    expect(admitted(original()).spec).toEqual({
      dialect: "original",
      target: { apiVersion: "v1", kind: "ReplicationController", name: "web" },
      minReplicas: 1,
      maxReplicas: 10,
      metrics: [cpu(80)],
    }));

  it("takes every field of the document", () => {
    const scaleRef = {
      kind: "Deployment",
      name: "web",
      namespace: "shop",
      apiVersion: "apps/v1",
      subresource: "scale",
    };
    const { spec, stored, warnings } = admitted(
      original({ scaleRef, minReplicas: 2, cpuUtilization: { targetPercentage: 50 } }),
    );
    expect(spec).toMatchObject({
      target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 2,
      metrics: [cpu(50)],
    });
    expect(stored).toEqual({
      apiVersion: "extensions/v1beta1",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "web", namespace: "shop", generation: 1 },
      spec: {
        scaleRef: { kind: "Deployment", name: "web", apiVersion: "apps/v1" },
        minReplicas: 2,
        maxReplicas: 10,
        cpuUtilization: { targetPercentage: 50 },
      },
    });
    expect(warnings).toEqual([]);
  });

  it.each([
    ["Deployment", "", "apps/v1"],
    ["ReplicaSet", "", "apps/v1"],
    ["ReplicationController", "", "v1"],
  ])("asks a %s without apiVersion (%j) for its scale at %s", (kind, apiVersion, wanted) => {
    expect(
      admitted(original({ scaleRef: { kind, name: "web", apiVersion } })).spec.target.apiVersion,
    ).toBe(wanted);
    expect(warningsOf(original({ scaleRef: { kind, name: "web" } }))).toEqual([]);
  });

  it("asks today's API where the document's is gone, and says so", () => {
    const document = original({
      scaleRef: { kind: "Deployment", name: "web", apiVersion: "extensions/v1beta1" },
    });
    expect(admitted(document).spec.target.apiVersion).toBe("apps/v1");
    expect(warningsOf(document)).toEqual([
      'spec.scaleRef.apiVersion: "extensions/v1beta1" is not served since Kubernetes 1.16; Tidemark uses apps/v1 instead',
    ]);
  });

  it("refuses a target in another namespace, another subresource, and a kind of unknown group, all at once, with the places in its own fields", () => {
    const document = original({
      scaleRef: { kind: "Rollout", name: "web", namespace: "other", subresource: "status" },
      cpuUtilization: { targetPercentage: 0 },
    });
    expect(faults(document)).toEqual([
      "spec.metrics[0].resource.target.averageUtilization Invalid must be greater than 0",
      'spec.scaleRef.namespace Invalid must be the autoscaler\'s own namespace "shop"',
      'spec.scaleRef.subresource NotSupported supported values: "scale"',
      "spec.scaleTargetRef.apiVersion Invalid apiVersion must specify API group",
    ]);
    expect(refused(document).problems.map(({ source }) => source)).toEqual([
      "spec.scaleRef.apiVersion",
      "spec.cpuUtilization.targetPercentage",
      undefined,
      undefined,
    ]);
  });

  it("takes the default namespace for its own", () =>
    expect(
      faultsOf(
        original(
          { scaleRef: { kind: "Deployment", name: "web", namespace: "default" } },
          { namespace: undefined },
        ),
      ),
    ).toEqual([]));

  it("comes in a HorizontalPodAutoscalerList and in several documents of one file", () => {
    const item =
      "{metadata: {name: web}, spec: {scaleRef: {kind: Deployment, name: web}, maxReplicas: 3}}";
    const list = `apiVersion: extensions/v1beta1\nkind: HorizontalPodAutoscalerList\nitems: [${item}, ${item}]\n`;
    const specs = readManifests(`${list}---\n${list}`, "hpa.yaml").map(
      ({ document }) => admitted(document).spec,
    );
    expect(specs.map((spec) => spec.dialect)).toEqual([
      "original",
      "original",
      "original",
      "original",
    ]);
  });
});

describe("autoscaling/v2alpha1, hpa-v2 (proposals.md §2)", () => {
  const example = `
apiVersion: autoscaling/v2alpha1
kind: HorizontalPodAutoscaler
metadata:
  name: web-frontend
spec:
  scaleTargetRef:
    kind: ReplicationController
    name: WebFrontend
  minReplicas: 2
  maxReplicas: 10
  metrics:
  - type: Resource
    resource:
      name: cpu
      targetAverageUtilization: 80
  - type: Object
    object:
      target:
        kind: Service
        name: Frontend
      metricName: hits-per-second
      targetValue: 1k
`;

  it("reads the document's example, with upper-case names kept as they are", () => {
    const [document] = readManifests(example, "hpa.yaml");
    expect(admitted(document?.document).spec).toEqual({
      dialect: "hpa",
      target: { apiVersion: "", kind: "ReplicationController", name: "WebFrontend" },
      minReplicas: 2,
      maxReplicas: 10,
      metrics: [
        cpu(80),
        {
          type: "Object",
          describedObject: { kind: "Service", name: "Frontend" },
          metric: { name: "hits-per-second" },
          target: { type: "Value", valueMilli: 1_000_000n },
        },
      ],
    });
  });

  it("means CPU at 80 percent without any metric", () => {
    const spec = { scaleTargetRef: { kind: "ReplicationController", name: "web" }, maxReplicas: 3 };
    expect(admitted(manifest("autoscaling/v2alpha1", spec)).spec.metrics).toEqual([cpu(80)]);
  });

  it("says of a missing value where it belongs in this form", () => {
    const metrics = [{ type: "Pods", pods: { metricName: "rps" } }];
    const { problems } = refused(
      manifest("autoscaling/v2alpha1", {
        scaleTargetRef: { kind: "ReplicationController", name: "web" },
        maxReplicas: 3,
        metrics,
      }),
    );
    expect(problems).toEqual([
      {
        field: "spec.metrics[0].pods.target.averageValue",
        source: "spec.metrics[0].pods.targetAverageValue",
        type: "FieldValueInvalid",
        detail: "must be positive",
        fix: "write a quantity above 0, such as 500m",
      },
    ]);
  });
});

describe("autoscaling/v2beta1 and v2beta2", () => {
  const target = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
  const selector = { matchLabels: { queue: "a" } };

  it("say in other fields what autoscaling/v2 says", () => {
    const beta = manifest("autoscaling/v2beta1", {
      scaleTargetRef: target,
      maxReplicas: 10,
      metrics: [
        { type: "Resource", resource: { name: "memory", targetAverageValue: "64Mi" } },
        {
          type: "ContainerResource",
          containerResource: { name: "cpu", container: "app", targetAverageUtilization: 60 },
        },
        { type: "Pods", pods: { metricName: "rps", targetAverageValue: "10", selector } },
        {
          type: "Object",
          object: {
            target: { kind: "Service", name: "web" },
            metricName: "hits",
            targetValue: "1k",
          },
        },
        {
          type: "Object",
          object: {
            target: { kind: "Service", name: "web" },
            metricName: "hits",
            targetValue: "0",
            averageValue: "5",
          },
        },
        {
          type: "External",
          external: { metricName: "lag", metricSelector: selector, targetValue: "7" },
        },
        { type: "External", external: { metricName: "lag", targetAverageValue: "8" } },
      ],
    });
    const described = { kind: "Service", name: "web" };
    const today = v2({
      metrics: [
        {
          type: "Resource",
          resource: { name: "memory", target: { type: "AverageValue", averageValue: "64Mi" } },
        },
        {
          type: "ContainerResource",
          containerResource: {
            name: "cpu",
            container: "app",
            target: { type: "Utilization", averageUtilization: 60 },
          },
        },
        {
          type: "Pods",
          pods: {
            metric: { name: "rps", selector },
            target: { type: "AverageValue", averageValue: "10" },
          },
        },
        {
          type: "Object",
          object: {
            describedObject: described,
            metric: { name: "hits" },
            target: { type: "Value", value: "1k" },
          },
        },
        {
          type: "Object",
          object: {
            describedObject: described,
            metric: { name: "hits" },
            target: { type: "AverageValue", averageValue: "5" },
          },
        },
        {
          type: "External",
          external: { metric: { name: "lag", selector }, target: { type: "Value", value: "7" } },
        },
        {
          type: "External",
          external: {
            metric: { name: "lag" },
            target: { type: "AverageValue", averageValue: "8" },
          },
        },
      ],
    });
    expect(admitted(beta).spec).toEqual(admitted(today).spec);
    expect(admitted({ ...today, apiVersion: "autoscaling/v2beta2" }).spec).toEqual(
      admitted(today).spec,
    );
    expect(admitted(beta).stored).toEqual(admitted(today).stored);
  });

  it("name the fields of their own form when a target is missing", () => {
    const metrics = [
      { type: "Resource", resource: { name: "cpu" } },
      { type: "Object", object: {} },
      { type: "External", external: { targetValue: "1", targetAverageValue: "1" } },
      {
        type: "ContainerResource",
        containerResource: {
          name: "cpu",
          container: "app",
          targetAverageValue: "1",
          targetAverageUtilization: 1,
        },
      },
    ];
    const { problems } = refused(
      manifest("autoscaling/v2beta1", { scaleTargetRef: target, maxReplicas: 10, metrics }),
    );
    expect(problems.map(({ field, source }) => `${field} <- ${source}`)).toEqual([
      "spec.metrics[0].resource.target.averageUtilization <- spec.metrics[0].resource.targetAverageUtilization",
      "spec.metrics[1].object.describedObject.kind <- spec.metrics[1].object.target.kind",
      "spec.metrics[1].object.describedObject.name <- spec.metrics[1].object.target.name",
      "spec.metrics[1].object.metric.name <- spec.metrics[1].object.metricName",
      "spec.metrics[1].object.target.value <- spec.metrics[1].object.targetValue",
      "spec.metrics[2].external.metric.name <- spec.metrics[2].external.metricName",
      "spec.metrics[2].external.target.value <- spec.metrics[2].external.targetValue",
      "spec.metrics[3].containerResource.target.averageValue <- spec.metrics[3].containerResource.targetAverageValue",
    ]);
  });

  it("have a behavior in the annotation only", () => {
    const behavior = { ScaleDown: { Policies: [{ Type: "Pods", Value: 1, PeriodSeconds: 60 }] } };
    const annotations = {
      "autoscaling.alpha.kubernetes.io/behavior": JSON.stringify(behavior),
      "autoscaling.alpha.kubernetes.io/metrics": "[]",
    };
    const { spec, stored } = admitted(
      manifest("autoscaling/v2beta1", { scaleTargetRef: target, maxReplicas: 10 }, { annotations }),
    );
    expect(spec.behavior?.scaleDown).toEqual({
      selectPolicy: "Max",
      policies: [{ type: "Pods", value: 1, periodSeconds: 60 }],
    });
    expect(stored).toMatchObject({ metadata: { name: "web", namespace: "shop", generation: 1 } });
    expect(JSON.stringify(stored)).not.toContain("annotations");
  });
});

describe("autoscaling/v1 (hpa.md 1.2)", () => {
  const PREFIX = "autoscaling.alpha.kubernetes.io/";
  const v1 = (annotations: Readonly<Record<string, string>>, percent?: number) =>
    manifest(
      "autoscaling/v1",
      {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        maxReplicas: 10,
        targetCPUUtilizationPercentage: percent,
      },
      { annotations },
    );

  it("says which annotation is ignored, and why", () => {
    expect(warningsOf(v1({ [`${PREFIX}metrics`]: "[{" }))).toEqual([
      `metadata.annotations["${PREFIX}metrics"]: the annotation is ignored: metadata.annotations["${PREFIX}metrics"] is not JSON`,
    ]);
    expect(warningsOf(v1({ [`${PREFIX}behavior`]: '{"scaleUp": 5}' }))).toEqual([
      `metadata.annotations["${PREFIX}behavior"]: the annotation is ignored: metadata.annotations["${PREFIX}behavior"].scaleUp must be an object, not 5`,
    ]);
  });

  it("names the place of a fault: the annotation, the percentage, the behavior", () => {
    const annotations = {
      [`${PREFIX}metrics`]:
        '[{"TYPE": "Pods", "pods": {"MetricName": "", "targetaveragevalue": "1"}}]',
      [`${PREFIX}behavior`]: '{"ScaleUp": {}}',
    };
    expect(refused(v1(annotations, 0)).problems.map(({ source }) => source)).toEqual([
      `metadata.annotations["${PREFIX}metrics"][0].pods.metricName`,
      "spec.targetCPUUtilizationPercentage",
      `metadata.annotations["${PREFIX}behavior"].scaleUp.policies`,
    ]);
  });
});

describe("forms", () => {
  it("are each found by apiVersion and kind", () => {
    expect(FORMS.map(({ apiVersion, kind }) => `${kind} ${apiVersion}`)).toEqual([
      ...new Set(FORMS.map(({ apiVersion, kind }) => `${kind} ${apiVersion}`)),
    ]);
    expect(FORMS.length).toBeGreaterThanOrEqual(6);
  });

  it("always read back what they store as the same autoscaler", () => {
    const target = { kind: "ReplicationController", name: "web", apiVersion: "v1" };
    const documents = FORMS.filter(({ kind }) => kind === "HorizontalPodAutoscaler").flatMap(
      ({ apiVersion }) =>
        [undefined, {}, { scaleUp: { pods: 3 }, scaleDown: { percent: 0, pods: 0 } }].map(
          (constraints) =>
            manifest(apiVersion, {
              scaleTargetRef: target,
              scaleRef: target,
              maxReplicas: 5,
              constraints,
            }),
        ),
    );
    for (const document of documents) {
      const first = admitted(document);
      const second = admitted(first.stored, { old: document });
      expect([second.spec, second.stored, second.changed]).toEqual([
        first.spec,
        first.stored,
        false,
      ]);
    }
  });
});
