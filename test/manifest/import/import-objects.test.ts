import { describe, expect, it } from "vitest";
import { admit } from "../../../lib/rules/manifest/admit.ts";
import {
  importObjects,
  type ListedAutoscalers,
} from "../../../lib/rules/manifest/import/import-objects.ts";
import type { Json } from "../../../lib/rules/model/json.ts";

const NONE: ListedAutoscalers = { hpas: [], watermarks: [], scaledObjects: [] };
const TARGET = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const CPU = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
};
const KEDA_METRIC = {
  type: "External",
  external: {
    metric: {
      name: "s1-prometheus",
      selector: { matchLabels: { "scaledobject.keda.sh/name": "web" } },
    },
    target: { type: "AverageValue", averageValue: "10" },
  },
};

const served = (more: Json = {}) => ({
  name: "web",
  namespace: "shop",
  uid: "u-1",
  resourceVersion: "12",
  generation: 3,
  creationTimestamp: "2026-01-01T00:00:00Z",
  managedFields: [{ manager: "kubectl" }],
  ...more,
});

const hpa = (metadata: Json = {}, spec: Json = {}): Json => ({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: served(metadata),
  spec: { scaleTargetRef: TARGET, minReplicas: 2, maxReplicas: 10, metrics: [CPU], ...spec },
  status: { currentReplicas: 2, desiredReplicas: 2, conditions: [] },
});

const kedaHpa = (metrics: readonly unknown[]): Json =>
  hpa(
    {
      name: "keda-hpa-web",
      ownerReferences: [
        { apiVersion: "keda.sh/v1alpha1", kind: "ScaledObject", name: "web", uid: "u-9" },
      ],
    },
    { metrics },
  );

const scaledObject = (spec: Json = {}, metadata: Json = {}): Json => ({
  apiVersion: "keda.sh/v1alpha1",
  kind: "ScaledObject",
  metadata: served(metadata),
  spec: {
    scaleTargetRef: { name: "web" },
    minReplicaCount: 2,
    maxReplicaCount: 20,
    triggers: [{ type: "cpu", metricType: "Utilization", metadata: { value: "60" } }],
    ...spec,
  },
});

const PROMETHEUS = {
  type: "prometheus",
  metadata: {
    serverAddress: "http://prometheus",
    query: "sum(rate(requests[1m]))",
    threshold: "10",
  },
};
const linesOf = (listed: Partial<ListedAutoscalers>, as: "same" | "native" = "same") =>
  importObjects({ ...NONE, ...listed }, as).findings.map(
    ({ kind, name, of, severity, message }) => `${severity}: ${kind} ${name} ${of}: ${message}`,
  );

describe("importObjects()", () => {
  it("prints an HPA as a person would write it: without status, server fields and the annotations of tools", () => {
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}", team: "shop" };
    const { manifests, findings } = importObjects(
      { ...NONE, hpas: [hpa({ annotations, labels: { app: "web" } })] },
      "same",
    );
    expect(findings).toEqual([]);
    expect(manifests).toEqual([
      {
        apiVersion: "autoscaling/v2",
        kind: "HorizontalPodAutoscaler",
        metadata: {
          name: "web",
          namespace: "shop",
          labels: { app: "web" },
          annotations: { team: "shop" },
        },
        spec: { scaleTargetRef: TARGET, minReplicas: 2, maxReplicas: 10, metrics: [CPU] },
      },
    ]);
  });

  it("leaves out the labels that Flux and KEDA add", () => {
    const labels = {
      team: "shop",
      "kustomize.toolkit.fluxcd.io/name": "apps",
      "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
    };
    const [first] = importObjects({ ...NONE, hpas: [hpa({ labels })] }, "same").manifests;
    const [second] = importObjects(
      {
        ...NONE,
        scaledObjects: [scaledObject({}, { labels: { "scaledobject.keda.sh/name": "web" } })],
      },
      "same",
    ).manifests;
    expect([first?.["metadata"], second?.["metadata"]]).toEqual([
      { name: "web", namespace: "shop", labels: { team: "shop" } },
      { name: "web", namespace: "shop" },
    ]);
  });

  it("prints a PodAutoscaler that decides the same with --as native", () => {
    const { manifests } = importObjects({ ...NONE, hpas: [hpa()] }, "native");
    expect(manifests.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual([
      "tidemark.dev/v1 PodAutoscaler",
    ]);
    expect(admit(manifests[0], { validation: "strict" }).ok).toBe(true);
  });

  it("reads items of a list that do not say their kind", () => {
    const { apiVersion: _version, kind: _kind, ...item } = hpa();
    expect(importObjects({ ...NONE, hpas: [item] }, "same").manifests).toHaveLength(1);
  });

  it("prints a ScaledObject as one HPA with cpu, memory and the external metrics that KEDA serves, and its own HPA not again", () => {
    const triggers = [
      { type: "cpu", metadata: { value: "60", type: "Utilization" } },
      PROMETHEUS,
      {
        type: "memory",
        metricType: "AverageValue",
        metadata: { value: "500Mi", containerName: "app" },
      },
    ];
    const { manifests } = importObjects(
      { ...NONE, hpas: [kedaHpa([CPU, KEDA_METRIC])], scaledObjects: [scaledObject({ triggers })] },
      "same",
    );
    expect(manifests).toEqual([
      {
        apiVersion: "autoscaling/v2",
        kind: "HorizontalPodAutoscaler",
        metadata: { name: "web", namespace: "shop" },
        spec: {
          scaleTargetRef: TARGET,
          minReplicas: 2,
          maxReplicas: 20,
          metrics: [
            CPU,
            KEDA_METRIC,
            {
              type: "ContainerResource",
              containerResource: {
                name: "memory",
                container: "app",
                target: { type: "AverageValue", averageValue: "500Mi" },
              },
            },
          ],
        },
      },
    ]);
    expect(admit(manifests[0], { validation: "strict" }).ok).toBe(true);
    expect(
      linesOf({ hpas: [kedaHpa([CPU, KEDA_METRIC])], scaledObjects: [scaledObject({ triggers })] }),
    ).toEqual([
      'changed: ScaledObject web spec.triggers[1] (prometheus): it is the external metric "s1-prometheus", which KEDA serves while it runs and the ScaledObject exists: keep both, with the ScaledObject paused',
    ]);
  });

  it("prints no manifest of a ScaledObject whose external metric is not known: the others alone would shrink the workload", () => {
    const scaledObjects = [
      scaledObject({ triggers: [{ type: "cpu", metadata: { value: "60" } }, PROMETHEUS] }),
    ];
    expect(importObjects({ ...NONE, scaledObjects }, "same").manifests).toEqual([]);
    expect(linesOf({ scaledObjects })).toEqual([
      "lost: ScaledObject web spec.triggers[1] (prometheus): KEDA's HPA of this ScaledObject does not exist, so that name and target of its external metric are not known",
    ]);
    expect(linesOf({ scaledObjects, hpas: [kedaHpa([CPU])] })).toEqual([
      'lost: ScaledObject web spec.triggers[1] (prometheus): KEDA\'s HPA has no external metric of it: none begins with "s1-"',
    ]);
  });

  it("takes the calculated metric of scalingModifiers instead of those of the triggers", () => {
    const composite = {
      type: "External",
      external: {
        metric: { name: "composite-metric" },
        target: { type: "AverageValue", averageValue: "2" },
      },
    };
    const advanced = { scalingModifiers: { formula: "s1 / 2", target: "2" } };
    const scaledObjects = [
      scaledObject({
        advanced,
        triggers: [{ type: "cpu", metadata: { value: "60" } }, PROMETHEUS],
      }),
    ];
    const { manifests, findings } = importObjects(
      { ...NONE, scaledObjects, hpas: [kedaHpa([CPU, composite])] },
      "same",
    );
    expect(manifests.map(({ spec }) => (spec as Json)["metrics"])).toEqual([[CPU, composite]]);
    expect(findings.map(({ of, severity }) => `${severity} ${of}`)).toEqual([
      "changed spec.triggers[1] (prometheus)",
      "changed spec.advanced.scalingModifiers",
    ]);
  });

  it("names every field of a ScaledObject that works in another way or not at all", () => {
    const spec = {
      minReplicaCount: 0,
      idleReplicaCount: 0,
      cooldownPeriod: 300,
      pollingInterval: 30,
      fallback: { failureThreshold: 3, replicas: 6 },
      advanced: {
        restoreToOriginalReplicaCount: true,
        horizontalPodAutoscalerConfig: {
          name: "own",
          behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
        },
      },
    };
    const { manifests } = importObjects({ ...NONE, scaledObjects: [scaledObject(spec)] }, "same");
    expect(manifests.map((manifest) => manifest["spec"])).toMatchObject([
      {
        minReplicas: 1,
        maxReplicas: 20,
        behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
      },
    ]);
    expect(
      importObjects({ ...NONE, scaledObjects: [scaledObject(spec)] }, "same").findings.map(
        ({ of, severity }) => `${severity} ${of}`,
      ),
    ).toEqual([
      "changed spec.minReplicaCount",
      "changed spec.idleReplicaCount",
      "without effect spec.cooldownPeriod",
      "changed spec.pollingInterval",
      "changed spec.fallback",
      "changed spec.advanced.restoreToOriginalReplicaCount",
      "without effect spec.advanced.horizontalPodAutoscalerConfig.name",
    ]);
  });

  it("prints no manifest of a paused ScaledObject: it would scale what was meant to rest", () => {
    const scaledObjects = [
      scaledObject({}, { annotations: { "autoscaling.keda.sh/paused-replicas": "0" } }),
    ];
    expect(importObjects({ ...NONE, scaledObjects }, "same").manifests).toEqual([]);
    expect(linesOf({ scaledObjects })[0]).toContain(
      "it is paused by the annotation autoscaling.keda.sh/paused-replicas",
    );
  });

  it("reads the annotations of a pause as KEDA does: a text that Go reads as false is none, any other is one", () => {
    const annotated = (name: string, value: string) =>
      importObjects(
        {
          ...NONE,
          scaledObjects: [
            scaledObject({}, { annotations: { [`autoscaling.keda.sh/${name}`]: value } }),
          ],
        },
        "same",
      ).manifests;
    for (const value of ["false", "False", "F", "0"])
      expect(annotated("paused", value)).toHaveLength(1);
    for (const value of ["true", "1", "yes", ""]) expect(annotated("paused", value)).toEqual([]);
    expect(annotated("paused-scale-in", "False")[0]?.["spec"]).not.toHaveProperty("behavior");
  });

  it("carries over a direction that is paused, as KEDA writes it into its HPA", () => {
    const annotations = {
      "autoscaling.keda.sh/paused-scale-in": "true",
      "autoscaling.keda.sh/paused-scale-out": "on",
    };
    const behavior = { scaleDown: { stabilizationWindowSeconds: 60, selectPolicy: "Min" } };
    const scaledObjects = [
      scaledObject({ advanced: { horizontalPodAutoscalerConfig: { behavior } } }, { annotations }),
    ];
    const { manifests, findings } = importObjects({ ...NONE, scaledObjects }, "same");
    expect(manifests.map(({ spec }) => (spec as Json)["behavior"])).toEqual([
      {
        scaleDown: { stabilizationWindowSeconds: 60, selectPolicy: "Disabled" },
        scaleUp: { selectPolicy: "Disabled" },
      },
    ]);
    expect(findings.map(({ of, severity }) => `${severity} ${of}`)).toEqual([
      'changed metadata.annotations["autoscaling.keda.sh/paused-scale-in"]',
      'changed metadata.annotations["autoscaling.keda.sh/paused-scale-out"]',
    ]);
  });

  it("names what apply would refuse, and what a PodAutoscaler cannot say, and prints no manifest of it", () => {
    expect(linesOf({ hpas: [hpa({}, { maxReplicas: 1 })] })[0]).toMatch(
      /^lost: HorizontalPodAutoscaler web spec\.maxReplicas: Tidemark refuses it: /,
    );
    expect(
      importObjects({ ...NONE, hpas: [hpa({}, { maxReplicas: 1 })] }, "same").manifests,
    ).toEqual([]);
  });

  it("says that the owner of an HPA may make it again", () => {
    const ownerReferences = [
      { apiVersion: "example.com/v1", kind: "App", name: "web", uid: "u-3" },
    ];
    expect(linesOf({ hpas: [hpa({ ownerReferences })] })).toEqual([
      'changed: HorizontalPodAutoscaler web metadata.ownerReferences: App "web" has made it, and may make it again after it was deleted',
    ]);
  });

  describe("with objects of the cluster that set counts by time", () => {
    const office = { timeZone: "Europe/Berlin", days: ["Mon-Fri"], from: "08:00", to: "18:00" };
    const karmada = (rules: readonly Json[]): Json => ({
      apiVersion: "autoscaling.karmada.io/v1alpha1",
      kind: "CronFederatedHPA",
      metadata: served({ name: "hours" }),
      spec: { scaleTargetRef: TARGET, rules },
    });
    const RULES = [
      { name: "day", schedule: "0 8 * * 1-5", timeZone: "Europe/Berlin", targetMinReplicas: 5 },
      { name: "night", schedule: "0 18 * * 1-5", timeZone: "Europe/Berlin", targetMinReplicas: 2 },
    ];
    const scheduleOf = (listed: Partial<ListedAutoscalers>): readonly Json[] => {
      const { manifests } = importObjects({ ...NONE, ...listed }, "same");
      expect(manifests.map(({ kind }) => kind)).toEqual(["PodAutoscaler"]);
      const { spec } = manifests[0] as { readonly spec: { readonly schedule: readonly Json[] } };
      return spec.schedule;
    };

    it("gives the autoscaler of a CronFederatedHPA its windows", () => {
      expect(scheduleOf({ hpas: [hpa()], timed: [karmada(RULES)] })[0]).toEqual({
        name: "day-min",
        ...office,
        minReplicas: 5,
      });
    });

    it("gives every autoscaler of a namespace the sleep of kube-green, and says that one pod is kept", () => {
      const sleep = {
        apiVersion: "kube-green.com/v1alpha1",
        kind: "SleepInfo",
        metadata: served({ name: "nights" }),
        spec: { weekdays: "1-5", sleepAt: "20:00", wakeUpAt: "08:00", timeZone: "Europe/Berlin" },
      };
      expect(scheduleOf({ hpas: [hpa()], timed: [sleep] })[0]).toMatchObject({
        minReplicas: 1,
        maxReplicas: 1,
        from: "20:00",
        to: "08:00",
      });
      expect(linesOf({ hpas: [hpa()], timed: [sleep] })).toEqual([
        "changed: SleepInfo nights spec.sleepAt: it keeps 1 pod, and not 0: no bound of a schedule is 0",
      ]);
      expect(linesOf({ timed: [sleep] })).toEqual([
        'changed: SleepInfo nights its target: no autoscaler of namespace "shop" is there, so it is not carried over',
      ]);
    });

    it("reads the annotations of kube-downscaler on an HPA and on its workload", () => {
      const annotations = { "downscaler/uptime": "Mon-Fri 08:00-18:00 Europe/Berlin" };
      const deployment = {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: served({ annotations }),
      };
      for (const listed of [
        { hpas: [hpa({ annotations })] },
        { hpas: [hpa()], timed: [deployment] },
      ])
        expect(scheduleOf(listed)[0]).toMatchObject({
          name: "downtime",
          timeZone: "Europe/Berlin",
          minReplicas: 1,
          maxReplicas: 1,
        });
    });

    it("makes floors of the ScalingSchedule that a metric names", () => {
      const zalando = {
        apiVersion: "zalando.org/v1",
        kind: "ScalingSchedule",
        metadata: served({ name: "office" }),
        spec: {
          schedules: [
            {
              type: "Repeating",
              value: 500,
              durationMinutes: 600,
              period: {
                startTime: "08:00",
                timezone: "Europe/Berlin",
                days: ["Mon", "Tue", "Wed", "Thu", "Fri"],
              },
            },
          ],
        },
      };
      const metric = {
        type: "Object",
        object: {
          describedObject: {
            apiVersion: "zalando.org/v1",
            kind: "ScalingSchedule",
            name: "office",
          },
          metric: { name: "office" },
          target: { type: "AverageValue", averageValue: "100" },
        },
      };
      const [entry] = scheduleOf({ hpas: [hpa({}, { metrics: [CPU, metric] })], timed: [zalando] });
      expect(entry).toEqual({
        name: "office-0",
        ...office,
        minReplicas: 5,
        rampMinutes: { in: 10, out: 10 },
      });
    });

    it("prints no manifest of an autoscaler whose times cannot be carried over", () => {
      const timed = [
        karmada([
          {
            name: "christmas",
            schedule: "0 8 25 12 *",
            timeZone: "Europe/Berlin",
            targetReplicas: 5,
          },
        ]),
      ];
      expect(importObjects({ ...NONE, hpas: [hpa()], timed }, "same").manifests).toEqual([]);
      expect(linesOf({ hpas: [hpa()], timed })).toEqual([
        expect.stringMatching(
          /^lost: HorizontalPodAutoscaler web CronFederatedHPA "hours": spec\.rules\[0\]: /,
        ),
      ]);
    });
  });
});
