import { describe, expect, it } from "vitest";
import type { Json } from "../../../lib/rules/model/json.ts";
import { admit } from "../../../lib/rules/manifest/admit.ts";
import { importObjects } from "../../../lib/rules/manifest/import/import-objects.ts";

const SOURCES = {
  named: {
    prometheus: "main",
    "aws-sqs-queue": "queues",
    "aws-cloudwatch": "metrics",
    jobs: "api",
  },
  discovered: false,
};
const PROMETHEUS = {
  type: "prometheus",
  metadata: {
    serverAddress: "http://prometheus",
    query: "sum(rate(requests[1m]))",
    threshold: "10",
  },
};
const trigger = (type: string, metadata: Json, more: Json = {}): Json => ({
  type,
  metadata,
  ...more,
});

const scaledObject = (
  triggers: readonly Json[],
  spec: Json = {},
  annotations: Json = {},
): Json => ({
  apiVersion: "keda.sh/v1alpha1",
  kind: "ScaledObject",
  metadata: { name: "web", namespace: "shop", annotations },
  spec: {
    scaleTargetRef: { name: "web" },
    minReplicaCount: 2,
    maxReplicaCount: 20,
    triggers,
    ...spec,
  },
});

const imported = (raw: Json) => {
  const { manifests, findings } = importObjects(
    { hpas: [], watermarks: [], scaledObjects: [raw], sources: SOURCES },
    "native",
  );
  return {
    spec: manifests[0]?.["spec"] as Json | undefined,
    notes: findings.map(({ severity, of, message }) => `${severity} ${of}: ${message}`),
  };
};
const metricsOf = (...triggers: readonly Json[]) =>
  imported(scaledObject(triggers)).spec?.["metrics"];

describe("a ScaledObject with registered sources", () => {
  it("becomes a PodAutoscaler that needs KEDA no more, with scaling to zero", () => {
    const behavior = {
      scaleDown: {
        stabilizationWindowSeconds: 60,
        policies: [{ type: "Pods", value: 2, periodSeconds: 30 }],
      },
    };
    const raw = scaledObject([PROMETHEUS], {
      minReplicaCount: 0,
      cooldownPeriod: 120,
      advanced: { horizontalPodAutoscalerConfig: { behavior } },
    });
    expect(imported(raw)).toEqual({
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        minReplicas: 1,
        maxReplicas: 20,
        metrics: [
          {
            name: "prometheus-0",
            prometheus: { source: "main", query: "sum(rate(requests[1m]))", whenEmpty: "0" },
            measure: "Average",
            target: 10,
            activation: 0,
            onMissing: { action: "scaleUpOnly" },
          },
        ],
        ...behavior,
        idle: { replicas: 0, afterSeconds: 120 },
      },
      notes: [
        expect.stringMatching(
          /^changed spec\.triggers\[0\] \(prometheus\): ignoreNullValues: an empty answer is 0, as in KEDA/,
        ),
        'changed spec.triggers[0] (prometheus): serverAddress: the source "main" must stand for http://prometheus',
        expect.stringMatching(
          /^changed spec\.cooldownPeriod: idle\.afterSeconds counts from the first sync on/,
        ),
      ],
    });
  });

  it.each<readonly [string, Json, Json]>([
    [
      "prometheus that must not be empty, with a total",
      {
        ...PROMETHEUS,
        metricType: "Value",
        metadata: { ...PROMETHEUS.metadata, ignoreNullValues: "false" },
      },
      {
        prometheus: { source: "main", query: "sum(rate(requests[1m]))" },
        measure: "Total",
        target: 10,
      },
    ],
    [
      "aws-sqs-queue by its URL",
      trigger("aws-sqs-queue", {
        queueURL: "https://sqs.eu-central-1.amazonaws.com/123456789012/orders.fifo",
        awsRegion: "eu-central-1",
      }),
      {
        sqs: {
          source: "queues",
          queue: "orders.fifo",
          accountId: "123456789012",
          count: ["Visible", "InFlight"],
        },
        measure: "Average",
        target: 5,
      },
    ],
    [
      "aws-sqs-queue by its name",
      trigger("aws-sqs-queue", {
        queueURL: "orders",
        queueLength: "7.5",
        scaleOnInFlight: "false",
        scaleOnDelayed: "true",
      }),
      {
        sqs: { source: "queues", queue: "orders", count: ["Visible", "Delayed"] },
        measure: "Average",
        target: 7.5,
      },
    ],
    [
      "aws-cloudwatch",
      trigger("aws-cloudwatch", {
        namespace: "AWS/SQS",
        metricName: "Age",
        dimensionName: "QueueName;Account",
        dimensionValue: "orders;1",
        targetMetricValue: "60",
        minMetricValue: "3",
        metricStat: "Maximum",
        metricCollectionTime: "600",
      }),
      {
        cloudwatch: {
          source: "metrics",
          namespace: "AWS/SQS",
          metric: "Age",
          dimensions: { QueueName: "orders", Account: "1" },
          stat: "Maximum",
          periodSeconds: 300,
          lookbackSeconds: 600,
          offsetSeconds: 0,
          whenEmpty: "3",
        },
        measure: "Average",
        target: 60,
      },
    ],
    [
      "aws-cloudwatch with an expression",
      trigger("aws-cloudwatch", {
        expression: 'SELECT MAX(x) FROM "AWS/SQS"',
        targetMetricValue: "60",
        minMetricValue: "0",
        ignoreNullValues: "false",
      }),
      {
        cloudwatch: {
          source: "metrics",
          expression: 'SELECT MAX(x) FROM "AWS/SQS"',
          periodSeconds: 300,
          lookbackSeconds: 300,
          offsetSeconds: 0,
        },
        measure: "Average",
        target: 60,
      },
    ],
    [
      "metrics-api",
      trigger(
        "metrics-api",
        {
          url: "http://api.shop.svc:8080/queues/orders",
          valueLocation: "jobs.0.de\\.pth",
          targetValue: "8",
        },
        { authenticationRef: { name: "jobs" } },
      ),
      {
        http: { source: "api", path: "/queues/orders", pointer: "/jobs/0/de.pth" },
        measure: "Average",
        target: 8,
      },
    ],
    [
      "a cached metric",
      {
        ...PROMETHEUS,
        useCachedMetrics: true,
        metadata: { ...PROMETHEUS.metadata, ignoreNullValues: "false" },
      },
      {
        prometheus: { source: "main", query: "sum(rate(requests[1m]))" },
        everySeconds: 30,
        measure: "Average",
        target: 10,
      },
    ],
    [
      "cpu of a container",
      trigger("cpu", { value: "60", containerName: "app" }, { metricType: "Utilization" }),
      { containerResource: { name: "cpu", container: "app" }, measure: "Percent", target: 60 },
    ],
    [
      "memory",
      trigger("memory", { value: "512Mi" }, { metricType: "AverageValue" }),
      { resource: { name: "memory" }, measure: "Average", target: "512Mi" },
    ],
  ])("carries over %s", (_what, from, metric) => {
    expect(metricsOf(from)).toEqual([
      { name: `${String(from["type"])}-0`, ...metric, onMissing: { action: "scaleUpOnly" } },
    ]);
  });

  it("carries over cron beside another trigger as a schedule", () => {
    const cron = trigger("cron", {
      timezone: "Europe/Berlin",
      start: "0 8 * * 1-5",
      end: "0 18 * * 1-5",
      desiredReplicas: "6",
    });
    const { spec } = imported(scaledObject([PROMETHEUS, cron]));
    expect(spec).toMatchObject({
      schedule: [
        { name: "cron-1", timeZone: "Europe/Berlin", from: "08:00", to: "18:00", minReplicas: 6 },
      ],
    });
    expect(spec?.["metrics"]).toHaveLength(1);
  });

  const CRON = trigger("cron", {
    timezone: "Europe/Berlin",
    start: "0 8 * * 1-5",
    end: "0 18 * * 1-5",
    desiredReplicas: "6",
  });
  const AT_REST = { name: "cron", formula: { expression: "0" }, target: 1 };

  it.each<readonly [string, readonly Json[], Json, readonly Json[]]>([
    ["alone, whose least count comes back outside of its windows", [CRON], {}, [AT_REST]],
    ["alone, from zero", [CRON], { minReplicaCount: 0 }, [{ ...AT_REST, activation: 0 }]],
    ["beside cpu", [CRON, trigger("cpu", { value: "60" })], {}, [{ name: "cpu-1" }]],
    [
      "beside cpu, from zero",
      [CRON, trigger("cpu", { value: "60" })],
      { minReplicaCount: 0 },
      [{ name: "cpu-1" }, { ...AT_REST, activation: 0 }],
    ],
    [
      "beside a Prometheus, from zero",
      [CRON, PROMETHEUS],
      { minReplicaCount: 0 },
      [{ name: "prometheus-1" }],
    ],
  ])("carries over cron %s", (_what, triggers, spec, metrics) => {
    const found = imported(scaledObject(triggers, spec)).spec;
    expect(found).toMatchObject({ schedule: [{ name: "cron-0", minReplicas: 6 }], metrics });
    expect(found?.["metrics"]).toHaveLength(metrics.length);
  });

  it("keeps a workload with only cpu and memory at 1, as KEDA does", () => {
    const { spec, notes } = imported(
      scaledObject([trigger("cpu", { value: "60" })], { minReplicaCount: 0 }),
    );
    expect(spec).toMatchObject({ minReplicas: 1, metrics: [{ resource: { name: "cpu" } }] });
    expect(spec?.["idle"]).toBeUndefined();
    expect(notes).toEqual([
      expect.stringContaining("changed spec.minReplicaCount: the least count is 1, as in KEDA"),
      expect.stringContaining("changed spec.advanced.horizontalPodAutoscalerConfig.behavior: "),
    ]);
  });

  it("keeps a workload at 1 where a threshold below 0 is above no value", () => {
    const always = {
      ...PROMETHEUS,
      metadata: { ...PROMETHEUS.metadata, activationThreshold: "-1" },
    };
    const { spec, notes } = imported(scaledObject([always], { minReplicaCount: 0 }));
    expect(spec).toMatchObject({ minReplicas: 1 });
    expect(spec?.["idle"]).toBeUndefined();
    expect(notes.join("\n")).toContain("an activation threshold below 0 is above no value");
  });

  it("refuses cron inside scalingModifiers in words of its own", () => {
    const scalingModifiers = { formula: "max(hours, load)", target: "1" };
    const { spec, notes } = imported(
      scaledObject(
        [
          { ...CRON, name: "hours" },
          { ...PROMETHEUS, name: "load" },
        ],
        { advanced: { scalingModifiers } },
      ),
    );
    expect(spec).toBeUndefined();
    expect(notes.join("\n")).toContain(
      "lost spec.triggers[0] (cron): a formula of Tidemark knows no times",
    );
  });

  it("carries over scalingModifiers as a formula of its triggers", () => {
    const named = (name: string): Json => ({ ...PROMETHEUS, name });
    const scalingModifiers = {
      formula: "max(queue, rate ?? 0) / 2",
      target: "4.5",
      activationTarget: "3",
    };
    const { spec } = imported(
      scaledObject([named("queue"), named("rate")], {
        minReplicaCount: 0,
        advanced: { scalingModifiers },
      }),
    );
    expect(spec?.["metrics"]).toMatchObject([
      { name: "queue", input: true },
      { name: "rate", input: true },
      {
        name: "composite",
        formula: { expression: "max(queue, rate) / 2" },
        measure: "Average",
        target: 4.5,
        activation: 3,
      },
    ]);
  });

  it("carries over a name with a dash, which a formula of KEDA reads by $env", () => {
    const named = (name: string): Json => ({ ...PROMETHEUS, name });
    const { spec } = imported(
      scaledObject([named("orders-eu"), named("b")], {
        advanced: { scalingModifiers: { formula: '$env["orders-eu"] + b', target: "4" } },
      }),
    );
    expect(spec?.["metrics"]).toMatchObject([
      { name: "orders_eu", input: true },
      { name: "b", input: true },
      { formula: { expression: "orders_eu + b" } },
    ]);
  });

  it("refuses a function of scalingModifiers by its name", () => {
    const scalingModifiers = { formula: "trim(queue) + queue", target: "4" };
    const { spec, notes } = imported(
      scaledObject([{ ...PROMETHEUS, name: "queue" }], { advanced: { scalingModifiers } }),
    );
    expect(spec).toBeUndefined();
    expect(notes.join("\n")).toMatch(/lost spec\.metrics\[1\]\.formula\.expression: .*"trim"/);
  });

  it.each<readonly [string, Json, Json, string]>([
    [
      "static",
      { failureThreshold: 4, replicas: 6 },
      { action: "fallback", replicas: 6, afterSeconds: 120 },
      "a count above its replicas stays",
    ],
    [
      "currentReplicasIfHigher",
      { failureThreshold: 4, replicas: 6, behavior: "currentReplicasIfHigher" },
      { action: "fallback", replicas: 6, afterSeconds: 120 },
      "it begins 120 s after the first sync without the metric",
    ],
    [
      "currentReplicas",
      { failureThreshold: 4, replicas: 6, behavior: "currentReplicas" },
      { action: "scaleUpOnly" },
      "the count is held from the first sync without the metric",
    ],
    [
      "currentReplicasIfLower",
      { failureThreshold: 4, replicas: 6, behavior: "currentReplicasIfLower" },
      { action: "scaleUpOnly" },
      "never shrinks",
    ],
    [
      "to zero",
      { failureThreshold: 4, replicas: 0 },
      { action: "scaleUpOnly" },
      "KEDA would go to 0",
    ],
    [
      "above the maximum",
      { failureThreshold: 1, replicas: 60 },
      { action: "fallback", replicas: 20, afterSeconds: 30 },
      "a count above its replicas stays",
    ],
  ])("carries over the fallback %s", (_what, fallback, onMissing, words) => {
    const { spec, notes } = imported(scaledObject([PROMETHEUS], { fallback }));
    expect(spec?.["metrics"]).toMatchObject([{ onMissing }]);
    expect(notes.filter((note) => note.includes("spec.fallback")).join()).toContain(words);
  });

  it("leaves the fallback out of a document that is paused at a count, and says so", () => {
    const paused = scaledObject(
      [PROMETHEUS],
      { fallback: { failureThreshold: 3, replicas: 6 } },
      { "autoscaling.keda.sh/paused-replicas": "3" },
    );
    const { spec, notes } = imported(paused);
    expect(spec).toMatchObject({
      minReplicas: 3,
      maxReplicas: 3,
      metrics: [{ onMissing: { action: "hold" } }],
    });
    expect(notes.join()).toContain(
      "spec.fallback: the bounds are equal while it is paused: write the fallback where the pause ends",
    );
  });

  it.each<readonly [string, Json, Json]>([
    ["paused", { paused: "true" }, { dryRun: true, idle: { replicas: 0, afterSeconds: 300 } }],
    [
      "paused-replicas",
      { "paused-replicas": "4" },
      { minReplicas: 4, maxReplicas: 4, idle: undefined },
    ],
    [
      "paused-scale-in",
      { "paused-scale-in": "true" },
      { scaleDown: { selectPolicy: "Disabled" }, idle: undefined },
    ],
    [
      "paused-scale-out",
      { "paused-scale-out": "true" },
      { scaleUp: { selectPolicy: "Disabled" }, idle: { replicas: 0 } },
    ],
    ["force-activation", { "force-activation": "true" }, { idle: undefined }],
    ["paused that is false", { paused: "false" }, { dryRun: undefined, idle: { replicas: 0 } }],
  ])("carries over the annotation %s", (_what, annotations, fields) => {
    const named = Object.fromEntries(
      Object.entries(annotations).map(([name, value]) => [`autoscaling.keda.sh/${name}`, value]),
    );
    const { spec, notes } = imported(scaledObject([PROMETHEUS], { minReplicaCount: 0 }, named));
    expect(
      Object.fromEntries(Object.keys(fields).map((name) => [name, spec?.[name]])),
    ).toMatchObject(fields);
    const isSaid = notes.some((note) => note.startsWith("changed metadata.annotations"));
    expect(isSaid).toBe(annotations["paused"] !== "false");
  });

  it.each<readonly [Json, string]>([
    [
      trigger("kafka", { topic: "orders" }),
      "its number is asked of a Prometheus with the series of kafka-exporter: register it, and name it with --source kafka=NAME",
    ],
    [trigger("external", { scalerAddress: "scaler:9090" }), "its gRPC server is in the cluster"],
    [
      trigger("pulsar", { topic: "a" }),
      'no source for the type "pulsar": scrape the metrics of Pulsar itself',
    ],
    [
      trigger("metrics-api", { url: "http://a/b", valueLocation: "c", targetValue: "1" }),
      "name it with --source metrics-api-0=NAME",
    ],
    [
      trigger(
        "metrics-api",
        { url: "http://a/b", valueLocation: "list.#.x", targetValue: "1" },
        { name: "jobs" },
      ),
      "more than names and numbers",
    ],
    [
      trigger(
        "metrics-api",
        { url: "http://a/b?c=d&c=e", valueLocation: "c", targetValue: "1" },
        { name: "jobs" },
      ),
      "it has a parameter twice",
    ],
    [
      trigger(
        "metrics-api",
        { url: "http://a/b", valueLocation: "c", targetValue: "1", format: "xml" },
        { name: "jobs" },
      ),
      'only json is read, and it is "xml"',
    ],
    [
      trigger("aws-sqs-queue", { queueURLFromEnv: "QUEUE" }),
      "read from the environment of the pods",
    ],
    [
      trigger("aws-sqs-queue", { queueURL: "orders", awsEndpoint: "http://localhost" }),
      "goes to the host of its Region only",
    ],
    [
      trigger("aws-cloudwatch", {
        namespace: "A",
        metricName: "b",
        targetMetricValue: "1",
        metricUnit: "Count",
      }),
      "asked for without a unit",
    ],
    [
      trigger("aws-cloudwatch", {
        namespace: "A",
        metricName: "b",
        targetMetricValue: "1",
        metricStatPeriod: "61",
      }),
      "must be 1, 5, 10, 20, 30 or a multiple of 60",
    ],
    [trigger("cpu", { value: "60" }, { metricType: "Value" }), "no target of a resource"],
    [{ ...PROMETHEUS, metricType: "Utilization" }, "is none of AverageValue and Value"],
  ])("refuses %j, and says the way out", (from, words) => {
    const { spec, notes } = imported(scaledObject([from]));
    expect(spec).toBeUndefined();
    expect(notes.filter((note) => note.startsWith("lost")).join("\n")).toContain(words);
  });

  it("is accepted by apply as it is printed", () => {
    const { manifests } = importObjects(
      { hpas: [], watermarks: [], scaledObjects: [scaledObject([PROMETHEUS])], sources: SOURCES },
      "same",
    );
    expect(manifests).toHaveLength(1);
    expect(admit(manifests[0], { validation: "strict" })).toMatchObject({ ok: true });
  });
});
