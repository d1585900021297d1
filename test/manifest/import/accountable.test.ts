import { describe, expect, it } from "vitest";
import type { Detail } from "../../../lib/rules/manifest/import/finding.ts";
import { withSchedules } from "../../../lib/rules/manifest/import/schedules/with-schedules.ts";
import { importObjects } from "../../../lib/rules/manifest/import/import-objects.ts";
import { asObject, type Json } from "../../../lib/rules/model/json.ts";

/** Manifests, and everything that is said. */
interface Outcome {
  readonly manifests: readonly Json[];
  readonly findings: readonly Detail[];
}

const hpa = (metrics: readonly Json[] = []): Json => ({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 2,
    maxReplicas: 50,
    metrics: [
      {
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
      },
      ...metrics,
    ],
  },
});
const beside =
  (metrics: readonly Json[] = []) =>
  (raw: Json): Outcome =>
    importObjects(
      { hpas: [hpa(metrics)], watermarks: [], scaledObjects: [], timed: [raw] },
      "same",
    );
const scaled = (raw: Json): Outcome =>
  importObjects(
    {
      hpas: [],
      watermarks: [],
      scaledObjects: [raw],
      sources: { named: { prometheus: "main" }, discovered: false },
    },
    "native",
  );
const metadata = { name: "web", namespace: "shop" };

interface Kind {
  readonly convert: (raw: Json) => Outcome;
  /** An object with every field of its schema. */
  readonly raw: Json;
  /** Fields on which no count depends, each with its reason. */
  readonly neutral?: Readonly<Record<string, string>>;
}

/** Each kind that `convert` and `import` take, with every field of its published schema. */
const KINDS: Readonly<Record<string, Kind>> = {
  ScaledObject: {
    convert: scaled,
    raw: {
      apiVersion: "keda.sh/v1alpha1",
      kind: "ScaledObject",
      metadata,
      spec: {
        scaleTargetRef: {
          apiVersion: "argoproj.io/v1alpha1",
          kind: "Rollout",
          name: "web",
          envSourceContainerName: "app",
        },
        pollingInterval: 10,
        cooldownPeriod: 60,
        initialCooldownPeriod: 30,
        minReplicaCount: 3,
        maxReplicaCount: 30,
        idleReplicaCount: 1,
        fallback: { failureThreshold: 5, replicas: 6, behavior: "currentReplicasIfHigher" },
        advanced: {
          restoreToOriginalReplicaCount: true,
          horizontalPodAutoscalerConfig: {
            name: "of-keda",
            behavior: {
              scaleUp: {
                stabilizationWindowSeconds: 10,
                tolerance: "0.05",
                policies: [{ type: "Pods", value: 7, periodSeconds: 20 }],
              },
              scaleDown: { stabilizationWindowSeconds: 90, selectPolicy: "Min" },
            },
          },
        },
        triggers: [
          {
            type: "prometheus",
            name: "load",
            useCachedMetrics: true,
            metricType: "Value",
            authenticationRef: { name: "creds", kind: "ClusterTriggerAuthentication" },
            metadata: { serverAddress: "http://p", query: "sum(q)", threshold: "5" },
          },
          {
            type: "cron",
            metadata: {
              timezone: "Europe/Berlin",
              start: "0 8 * * *",
              end: "0 18 * * *",
              desiredReplicas: "9",
            },
          },
          { type: "cpu", metricType: "Utilization", metadata: { value: "50", containerName: "a" } },
        ],
      },
    },
    neutral: {
      "spec.triggers[0].authenticationRef.kind": "one place only: the source has its credential",
      "spec.triggers[2].metricType": "Utilization is the default",
    },
  },
  "ScaledObject with a formula": {
    convert: scaled,
    raw: {
      apiVersion: "keda.sh/v1alpha1",
      kind: "ScaledObject",
      metadata,
      spec: {
        scaleTargetRef: { name: "web" },
        fallback: { failureThreshold: 4, replicas: 4 },
        advanced: {
          scalingModifiers: {
            formula: "a + 1",
            target: "5",
            activationTarget: "2",
            metricType: "Value",
          },
        },
        triggers: [
          {
            type: "prometheus",
            name: "a",
            metadata: { serverAddress: "http://p", query: "sum(q)", threshold: "5" },
          },
        ],
      },
    },
    neutral: {
      "spec.triggers[0].metadata.threshold": "the formula has the target",
    },
  },
  "a ScaledObject with annotations of KEDA": {
    convert: scaled,
    raw: {
      apiVersion: "keda.sh/v1alpha1",
      kind: "ScaledObject",
      metadata: {
        ...metadata,
        annotations: {
          "autoscaling.keda.sh/paused": "true",
          "autoscaling.keda.sh/paused-replicas": "4",
          "autoscaling.keda.sh/paused-scale-in": "true",
          "autoscaling.keda.sh/paused-scale-out": "true",
          "autoscaling.keda.sh/force-activation": "true",
          "scaledobject.keda.sh/transfer-hpa-ownership": "true",
          "scaledobject.keda.sh/hpa-excluded-labels": "team",
          "validations.keda.sh/hpa-ownership": "false",
        },
      },
      spec: {
        scaleTargetRef: { name: "web" },
        triggers: [
          {
            type: "prometheus",
            metadata: { serverAddress: "http://p", query: "sum(q)", threshold: "5" },
          },
        ],
      },
    },
  },
  DatadogPodAutoscaler: {
    convert: (raw) =>
      importObjects({ hpas: [], watermarks: [], scaledObjects: [], datadog: [raw] }, "native"),
    raw: {
      apiVersion: "datadoghq.com/v1alpha2",
      kind: "DatadogPodAutoscaler",
      metadata,
      spec: {
        targetRef: { apiVersion: "argoproj.io/v1alpha1", kind: "Rollout", name: "web" },
        owner: "Remote",
        remoteVersion: 7,
        constraints: {
          minReplicas: 3,
          maxReplicas: 40,
          containers: [
            {
              name: "app",
              enabled: false,
              controlledValues: "RequestsOnly",
              minAllowed: { cpu: "1" },
            },
          ],
        },
        applyPolicy: {
          mode: "Preview",
          update: { strategy: "Disabled", resizePendingPeriod: 60, rolloutFallbackDelay: 60 },
          scaleUp: {
            strategy: "Min",
            stabilizationWindowSeconds: 30,
            rules: [{ type: "Percent", value: 50, periodSeconds: 120 }],
          },
          scaleDown: {
            strategy: "Disabled",
            stabilizationWindowSeconds: 600,
            rules: [{ type: "Pods", value: 2, periodSeconds: 1200 }],
          },
        },
        fallback: {
          horizontal: {
            enabled: true,
            direction: "ScaleUp",
            triggers: { staleRecommendationThresholdSeconds: 600 },
          },
        },
        objectives: [
          {
            type: "PodResource",
            podResource: { name: "cpu", value: { type: "Utilization", utilization: 70 } },
          },
          {
            type: "ContainerResource",
            containerResource: {
              name: "memory",
              container: "app",
              value: { type: "AbsoluteValue", absoluteValue: "500Mi" },
            },
          },
        ],
      },
    },
    neutral: {
      "spec.constraints.containers[0].name": "it is left alone",
      "spec.constraints.containers[0].controlledValues": "it is left alone",
      "spec.constraints.containers[0].minAllowed.cpu": "it is left alone",
      "spec.applyPolicy.update.resizePendingPeriod": "nothing is resized",
      "spec.applyPolicy.update.rolloutFallbackDelay": "nothing is resized",
      "spec.fallback.horizontal.enabled": "the fallback is noted as a whole",
      "spec.fallback.horizontal.direction": "the same",
      "spec.fallback.horizontal.triggers.staleRecommendationThresholdSeconds": "the same",
      "spec.objectives[0].type": "the block says it",
      "spec.objectives[1].containerResource.value.type": "the other one is Utilization",
    },
  },
  CronFederatedHPA: {
    convert: beside(),
    raw: {
      apiVersion: "autoscaling.karmada.io/v1alpha1",
      kind: "CronFederatedHPA",
      metadata,
      spec: {
        scaleTargetRef: {
          apiVersion: "autoscaling.karmada.io/v1alpha1",
          kind: "FederatedHPA",
          name: "web",
        },
        rules: [
          {
            name: "up",
            schedule: "30 8 * * *",
            targetMinReplicas: 10,
            targetMaxReplicas: 40,
            timeZone: "Asia/Tokyo",
            successfulHistoryLimit: 3,
            failedHistoryLimit: 3,
          },
          { name: "down", schedule: "0 11 * * *", targetReplicas: 4, timeZone: "Asia/Tokyo" },
          {
            name: "never",
            schedule: "0 21 * * *",
            targetReplicas: 9,
            timeZone: "Asia/Tokyo",
            suspend: true,
          },
        ],
      },
    },
    neutral: {
      "spec.scaleTargetRef.apiVersion": "the kind says it",
      "spec.rules[0].successfulHistoryLimit": "how much Karmada remembers",
      "spec.rules[0].failedHistoryLimit": "the same",
      "spec.rules[2].name": "it is suspended",
      "spec.rules[2].schedule": "it is suspended",
      "spec.rules[2].targetReplicas": "it is suspended",
      "spec.rules[2].timeZone": "it is suspended",
    },
  },
  ScalingSchedule: {
    convert: beside([
      {
        type: "Object",
        object: {
          describedObject: { apiVersion: "zalando.org/v1", kind: "ScalingSchedule", name: "peak" },
          metric: { name: "peak" },
          target: { type: "AverageValue", averageValue: "10" },
        },
      },
    ]),
    raw: {
      apiVersion: "zalando.org/v1",
      kind: "ScalingSchedule",
      metadata: { name: "peak", namespace: "shop" },
      spec: {
        scalingWindowDurationMinutes: 5,
        schedules: [
          {
            type: "Repeating",
            period: {
              startTime: "08:00",
              endTime: "10:00",
              days: ["Mon", "Tue"],
              timezone: "Europe/Berlin",
            },
            durationMinutes: 180,
            value: 100,
          },
        ],
      },
    },
    neutral: {
      "spec.schedules[0].period.endTime": "the later end counts, which is durationMinutes here",
    },
  },
  SleepInfo: {
    convert: beside(),
    raw: {
      apiVersion: "kube-green.com/v1alpha1",
      kind: "SleepInfo",
      metadata: { name: "nights", namespace: "shop" },
      spec: {
        weekdays: "1-5",
        sleepAt: "20:00",
        wakeUpAt: "08:00",
        timeZone: "Europe/Rome",
        suspendCronJobs: true,
        suspendDeployments: true,
        suspendStatefulSets: true,
        excludeRef: [{ apiVersion: "apps/v1", kind: "Deployment", name: "other" }],
      },
    },
    neutral: {
      "spec.suspendDeployments": "true is the default",
      "spec.suspendStatefulSets": "the same",
      "spec.excludeRef[0].apiVersion": "another workload",
      "spec.excludeRef[0].kind": "the same",
      "spec.excludeRef[0].name": "the same",
    },
  },
  "a Deployment with kube-downscaler": {
    convert: beside(),
    raw: {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: {
        ...metadata,
        annotations: {
          "downscaler/uptime": "Mon-Fri 07:30-18:00 Europe/Berlin",
          "downscaler/downtime-replicas": "2",
          "downscaler/original-replicas": "5",
          "downscaler/exclude-until": "2026-12-01",
        },
      },
    },
  },
  "scheduled actions of AWS": {
    convert: (raw) => {
      const { documents, findings } = withSchedules(
        [{ document: hpa(), entries: [] }],
        [{ raw, words: "actions.json" }],
      );
      return { manifests: documents, findings: findings.map(({ detail }) => detail) };
    },
    raw: {
      ScheduledActions: [
        {
          ScheduledActionName: "morning",
          ScheduledActionARN: "arn:aws:autoscaling:eu-west-1:123456789012:scheduledAction:a",
          ServiceNamespace: "ecs",
          Schedule: "cron(0 7 ? * MON-FRI *)",
          Timezone: "Europe/Paris",
          ResourceId: "service/c/web",
          ScalableDimension: "ecs:service:DesiredCount",
          CreationTime: 1764000000,
          ScalableTargetAction: { MinCapacity: 8, MaxCapacity: 20 },
        },
      ],
    },
    neutral: {
      "ScheduledActions[0].ScheduledActionARN": "a name that AWS gives",
      "ScheduledActions[0].ServiceNamespace": "of the one target",
      "ScheduledActions[0].ResourceId": "one target only",
      "ScheduledActions[0].ScalableDimension": "of the one target",
      "ScheduledActions[0].CreationTime": "when it was made",
    },
  },
};

type Step = string | number;

/** The paths of all values, with how people write them. */
const leavesOf = (value: unknown, path: readonly Step[] = []): readonly (readonly Step[])[] => {
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([key, inner]) =>
    leavesOf(inner, [...path, Array.isArray(value) ? Number(key) : key]),
  );
};
const textOfPath = (path: readonly Step[]): string =>
  path
    .map((step) =>
      typeof step === "number" ? `[${step}]` : /^[\w-]+$/.test(step) ? `.${step}` : `["${step}"]`,
    )
    .join("")
    .slice(1);

const without = (value: unknown, [first, ...rest]: readonly Step[]): unknown => {
  if (first === undefined) return value;
  if (Array.isArray(value))
    return value.flatMap((each: unknown, at) =>
      at !== first ? [each] : rest.length === 0 ? [] : [without(each, rest)],
    );
  return Object.fromEntries(
    Object.entries(asObject(value)).flatMap(([key, each]) =>
      key !== first ? [[key, each]] : rest.length === 0 ? [] : [[key, without(each, rest)]],
    ),
  );
};
const withField = (value: unknown, [first, ...rest]: readonly Step[], field: string): unknown => {
  if (first === undefined) return { ...asObject(value), [field]: "7" };
  if (Array.isArray(value))
    return value.map((each: unknown, at) => (at === first ? withField(each, rest, field) : each));
  const object = asObject(value);
  return { ...object, [String(first)]: withField(object[String(first)], rest, field) };
};
const objectsOf = (value: unknown, path: readonly Step[] = []): readonly (readonly Step[])[] => {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.entries(value).flatMap(([key, each]) =>
    objectsOf(each, [...path, Array.isArray(value) ? Number(key) : key]),
  );
  return Array.isArray(value) ? inner : [path, ...inner];
};

const ofKind = Object.entries(KINDS);
const isOfFields = ([first]: readonly Step[]): boolean =>
  first === "spec" || first === "ScheduledActions";

/** Parts that are noted as a whole: what is suspended, and what changes no count. */
const NOTED_WHOLE =
  /^spec\.(?:rules\[2\]|constraints\.containers\b|applyPolicy\.update|fallback\b)/;

/** KEDA leaves a field alone that it does not have for a type. */
const NOT_IN_KEDA = /^spec\.triggers\[\d+\]\.metadata$/;

describe("every conversion is accountable", () => {
  it.each(ofKind)("each field of %s changes the outcome, or what is said", (_kind, of) => {
    const whole = JSON.stringify(of.convert(of.raw));
    const silent = leavesOf(of.raw)
      .filter((path) => isOfFields(path) || path[1] === "annotations")
      .filter((path) => JSON.stringify(of.convert(without(of.raw, path) as Json)) === whole)
      .map(textOfPath);
    expect(silent).toEqual(Object.keys(of.neutral ?? {}));
  });

  it.each(ofKind)(
    "a field that %s does not have is refused, or noted, by its name",
    (_kind, of) => {
      const before = of.convert(of.raw);
      expect(before.findings.filter(({ severity }) => severity === "lost")).toEqual([]);
      for (const path of objectsOf(of.raw).filter(isOfFields)) {
        if (NOTED_WHOLE.test(textOfPath(path))) continue;
        const { findings } = of.convert(withField(of.raw, path, "unheardOf") as Json);
        expect(
          findings.flatMap(({ severity, of: place }) =>
            place?.includes("unheardOf") ? [severity] : [],
          ),
          textOfPath(path),
        ).toEqual([NOT_IN_KEDA.test(textOfPath(path)) ? "without effect" : "lost"]);
      }
    },
  );

  it("says of an HPA which metric only kube-metrics-adapter serves, and only while it is there", () => {
    const annotated = {
      ...hpa(),
      metadata: {
        ...metadata,
        annotations: { "metric-config.pods.requests.json-path/json-key": "$.http" },
      },
    };
    const { findings } = importObjects(
      { hpas: [annotated], watermarks: [], scaledObjects: [] },
      "native",
    );
    expect(findings).toMatchObject([
      {
        of: 'metadata.annotations["metric-config.pods.requests.json-path/json-key"]',
        severity: "changed",
        message: expect.stringContaining(
          'serves the metric "requests" only while an HPA has this annotation',
        ),
      },
    ]);
  });

  it("says of a ScalingSchedule that no HPA has it as a metric", () => {
    const { raw } = KINDS["ScalingSchedule"] ?? { raw: {} };
    expect(beside()(raw).findings).toMatchObject([
      { of: "its target", message: expect.stringContaining("no HPA has it as a metric") },
    ]);
    const { findings } = withSchedules(
      [{ document: hpa(), entries: [] }],
      [{ raw, words: "peak.yaml" }],
    );
    expect(findings).toMatchObject([{ detail: { severity: "lost" } }]);
  });

  it("a count that Karmada sets once is a floor within the bounds of the autoscaler", () => {
    const karmada = (targetReplicas: number): Json => ({
      apiVersion: "autoscaling.karmada.io/v1alpha1",
      kind: "CronFederatedHPA",
      metadata,
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        rules: [
          { name: "up", schedule: "30 8 * * *", targetReplicas, timeZone: "Asia/Tokyo" },
          { name: "down", schedule: "0 11 * * *", targetReplicas: 1, timeZone: "Asia/Tokyo" },
        ],
      },
    });
    const scheduleOf = (count: number) =>
      asObject(beside()(karmada(count)).manifests[0]?.["spec"])["schedule"];
    expect(scheduleOf(1000)).toMatchObject([
      { name: "up-floor", from: "08:30", to: "11:00", minReplicas: 50 },
      { name: "down-floor", from: "11:00", to: "08:30", minReplicas: 2 },
    ]);
    expect(scheduleOf(9)).toMatchObject([{ minReplicas: 9 }, { minReplicas: 2 }]);
    expect(JSON.stringify(scheduleOf(9))).not.toContain("maxReplicas");
  });
});
