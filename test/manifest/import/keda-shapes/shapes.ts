import type { Json } from "../../../../lib/rules/model/json.ts";
import { asObject } from "../../../../lib/rules/model/json.ts";

/**
 * ScaledObjects in the shapes that people write: which types they use together, which fields of
 * each, and how they write their values. Names, servers and numbers are made up.
 */
export interface Shape {
  /** The type that it is counted under: the first trigger that asks a source. */
  readonly type: string;
  readonly spec: Json;
}

const shape = (type: string, triggers: readonly Json[], spec: Json = {}): Shape => ({
  type,
  spec: { scaleTargetRef: { name: "web" }, ...spec, triggers },
});
const trigger = (type: string, metadata: Json, more: Json = {}): Json => ({
  type,
  metadata,
  ...more,
});
const one = (type: string, metadata: Json, spec: Json = {}, more: Json = {}): Shape =>
  shape(type, [trigger(type, metadata, more)], spec);

const MANY: Json = { minReplicaCount: 1, maxReplicaCount: 10 };
const ZERO: Json = {
  minReplicaCount: 0,
  maxReplicaCount: 50,
  pollingInterval: 15,
  cooldownPeriod: 60,
};
const CALM: Json = {
  restoreToOriginalReplicaCount: false,
  horizontalPodAutoscalerConfig: {
    behavior: {
      scaleUp: {
        stabilizationWindowSeconds: 0,
        policies: [
          { type: "Percent", value: 100, periodSeconds: 30 },
          { type: "Pods", value: 4, periodSeconds: 30 },
        ],
        selectPolicy: "Max",
      },
      scaleDown: {
        stabilizationWindowSeconds: 300,
        policies: [{ type: "Percent", value: 10, periodSeconds: 60 }],
      },
    },
  },
};
const SAFE: Json = { failureThreshold: 3, replicas: 4 };
const auth = (name: string, kind?: string): Json => ({
  authenticationRef: { name, ...(kind !== undefined && { kind }) },
});

const PROM = "http://prometheus.monitoring.svc:9090";
const RATE = 'sum(rate(requests_total{app="web"}[2m]))';
const rate = (more: Json = {}): Json => ({
  serverAddress: PROM,
  query: RATE,
  threshold: "100",
  ...more,
});
const cpu = (metadata: Json, more: Json = {}): Json => trigger("cpu", metadata, more);
const office: Json = {
  timezone: "Europe/Berlin",
  start: "0 8 * * 1-5",
  end: "0 18 * * 1-5",
  desiredReplicas: "10",
};

const PROMETHEUS: readonly Shape[] = [
  one("prometheus", rate({ metricName: "requests" }), MANY),
  one("prometheus", rate(), ZERO),
  one("prometheus", rate({ query: `sum(\n  rate(requests_total{app="web"}[2m])\n)\n` }), MANY),
  one("prometheus", rate({ query: `\tsum(queue) or vector(0)\n`, metricName: "queue" }), ZERO),
  one("prometheus", rate({ activationThreshold: "5", metricName: "requests" }), ZERO),
  one("prometheus", rate({ activationThreshold: "0.5", threshold: "2.0" }), {
    ...MANY,
    advanced: CALM,
  }),
  one("prometheus", rate({ ignoreNullValues: "true", metricName: "bytes" }), {
    ...MANY,
    fallback: SAFE,
    advanced: CALM,
  }),
  one("prometheus", rate({ ignoreNullValues: "false" }), {
    ...ZERO,
    idleReplicaCount: 0,
    minReplicaCount: 1,
  }),
  one("prometheus", rate({ metricType: "AverageValue", unsafeSsl: "true" }), MANY),
  one("prometheus", rate(), MANY, { metricType: "Value", name: "rps-surge" }),
  one("prometheus", rate({ authModes: "bearer" }), MANY, auth("prometheus")),
  one(
    "prometheus",
    rate({ authModes: "basic", namespace: "shop" }),
    MANY,
    auth("thanos", "ClusterTriggerAuthentication"),
  ),
  one("prometheus", rate({ customHeaders: "X-Scope-OrgID=shop" }), MANY),
  one(
    "prometheus",
    rate({ serverAddress: "http://prometheus:9090", metricName: "m", threshold: "1000" }),
    {
      scaleTargetRef: { apiVersion: "argoproj.io/v1alpha1", kind: "Rollout", name: "web" },
      ...MANY,
    },
  ),
  shape(
    "prometheus",
    [trigger("prometheus", rate()), cpu({ value: "70" }, { metricType: "Utilization" })],
    MANY,
  ),
  shape("prometheus", [trigger("prometheus", rate()), trigger("cron", office)], {
    ...ZERO,
    fallback: SAFE,
  }),
  shape(
    "prometheus",
    [
      trigger("prometheus", rate(), { name: "running" }),
      trigger("prometheus", rate({ query: "sum(waiting)" }), { name: "waiting" }),
    ],
    {
      ...MANY,
      advanced: {
        scalingModifiers: {
          formula: "running + (waiting * 10)",
          target: "25",
          metricType: "AverageValue",
        },
      },
    },
  ),
  one(
    "prometheus",
    rate({
      serverAddress: "https://aps-workspaces.eu-west-1.amazonaws.com/workspaces/ws-1",
      awsRegion: "eu-west-1",
      identityOwner: "operator",
    }),
    MANY,
    auth("aws"),
  ),
];

const QUEUE = "https://sqs.eu-west-1.amazonaws.com/123456789012/orders";
const queue = (more: Json = {}): Json => ({
  queueURL: QUEUE,
  queueLength: "5",
  awsRegion: "eu-west-1",
  ...more,
});
const SQS: readonly Shape[] = [
  one("aws-sqs-queue", queue(), ZERO, auth("aws")),
  one("aws-sqs-queue", queue({ identityOwner: "operator" }), MANY),
  one(
    "aws-sqs-queue",
    queue({ identityOwner: "operator", activationQueueLength: "10" }),
    ZERO,
    auth("aws"),
  ),
  one("aws-sqs-queue", queue({ queueURL: "orders", identityOwner: "operator" }), {
    ...ZERO,
    maxReplicaCount: 2000,
  }),
  one(
    "aws-sqs-queue",
    queue({ scaleOnInFlight: "false" }),
    { ...ZERO, advanced: CALM, fallback: SAFE },
    auth("aws"),
  ),
  one(
    "aws-sqs-queue",
    queue({ queueURL: "https://sqs.eu-west-1.amazonaws.com/123456789/orders" }),
    ZERO,
  ),
  one(
    "aws-sqs-queue",
    { queueURLFromEnv: "QUEUE_URL", queueLength: "5", awsRegion: "eu-west-1" },
    ZERO,
    auth("aws"),
  ),
];

const CLOUDWATCH: readonly Shape[] = [
  one(
    "aws-cloudwatch",
    {
      namespace: "Shop",
      dimensionName: "Service",
      dimensionValue: "orders",
      metricName: "QueueDepth",
      targetMetricValue: "100",
      minMetricValue: "0",
      awsRegion: "eu-west-1",
    },
    MANY,
    auth("aws"),
  ),
  one(
    "aws-cloudwatch",
    {
      namespace: "AWS/ApplicationELB",
      expression: `SELECT SUM(RequestCount) FROM SCHEMA("AWS/ApplicationELB", LoadBalancer) WHERE LoadBalancer = 'app/web/1'`,
      metricStat: "Sum",
      metricStatPeriod: "60",
      metricUnit: "Count",
      targetMetricValue: "100",
      minMetricValue: "0",
      awsRegion: "eu-west-1",
      identityOwner: "operator",
    },
    MANY,
  ),
];

const RESOURCES: readonly Shape[] = [
  one(
    "cpu",
    { value: "70" },
    { minReplicaCount: 2, maxReplicaCount: 10 },
    { metricType: "Utilization" },
  ),
  one("cpu", { type: "Utilization", value: "70" }, MANY),
  shape(
    "cpu",
    [
      cpu({ value: "70" }, { metricType: "Utilization" }),
      trigger("memory", { value: "80" }, { metricType: "Utilization" }),
    ],
    { ...MANY, advanced: CALM },
  ),
  one("cpu", { type: "Utilization", value: "65", activationThreshold: "25" }, ZERO),
  one("memory", { value: "512Mi" }, MANY, { metricType: "AverageValue" }),
];

const CRON: readonly Shape[] = [
  one("cron", office, ZERO),
  one(
    "cron",
    { ...office, start: "00 08 * * 1-5", end: "00 17 * * 1-5", desiredReplicas: "1" },
    { minReplicaCount: 0, maxReplicaCount: 3 },
  ),
  shape(
    "cron",
    [trigger("cron", { ...office, timezone: "UTC" }), cpu({ type: "Utilization", value: "70" })],
    MANY,
  ),
  shape(
    "cron",
    [
      trigger("cron", office),
      trigger("cron", {
        ...office,
        start: "0 18 * * 1-5",
        end: "0 8 * * 2-6",
        desiredReplicas: "0",
      }),
    ],
    ZERO,
  ),
  shape(
    "cron",
    [
      trigger("cron", { ...office, desiredReplicas: "15" }),
      trigger("cron", { ...office, start: "0 9 * * 6,0", end: "0 20 * * 6,0" }),
      cpu({ value: "70" }, { metricType: "Utilization" }),
    ],
    { minReplicaCount: 3, maxReplicaCount: 30 },
  ),
  one(
    "cron",
    { timezone: "Asia/Seoul", start: "30 11 1 5 *", end: "30 14 1 5 *", desiredReplicas: "200" },
    { minReplicaCount: 5, maxReplicaCount: 300 },
  ),
];

const api = (more: Json = {}): Json => ({
  url: "http://queue.shop.svc.cluster.local:8000/api/depth",
  valueLocation: "depth",
  targetValue: "5",
  ...more,
});
const METRICS_API: readonly Shape[] = [
  one("metrics-api", api(), MANY),
  one("metrics-api", api({ format: "json", method: "GET", activationTargetValue: "0" }), ZERO),
  one(
    "metrics-api",
    api({
      url: "https://queue.example.com/v1/pending?node=process",
      authMode: "bearer",
      format: "json",
    }),
    ZERO,
    auth("api"),
  ),
  one(
    "metrics-api",
    api({
      valueLocation: "stats.jobs.0.count",
      authMode: "apiKey",
      method: "header",
      keyParamName: "X-Key",
    }),
    MANY,
    auth("api"),
  ),
];

const lag = (more: Json = {}): Json => ({
  bootstrapServers: "kafka:9092",
  consumerGroup: "orders",
  topic: "orders",
  lagThreshold: "50",
  ...more,
});
const KAFKA: readonly Shape[] = [
  one("kafka", lag(), MANY),
  one("kafka", lag({ offsetResetPolicy: "latest" }), ZERO),
  one("kafka", lag({ activationLagThreshold: "10" }), ZERO, auth("kafka")),
  one(
    "kafka",
    lag({
      allowIdleConsumers: "true",
      scaleToZeroOnInvalidOffset: "false",
      offsetResetPolicy: "latest",
    }),
    MANY,
    auth("kafka"),
  ),
  one("kafka", lag({ sasl: "scram_sha512", tls: "enable" }), MANY, auth("kafka")),
  one("kafka", lag({ version: "1.0.0", partitionLimitation: "1,2,10-20" }), MANY),
  one("kafka", lag({ bootstrapServers: "a:9092,b:9092", topic: undefined }), {
    ...ZERO,
    idleReplicaCount: 0,
    minReplicaCount: 2,
  }),
  one("kafka", lag({ excludePersistentLag: "false", consumerOffset: "latest" }), ZERO),
  one("kafka", lag({ excludePersistentLag: "true" }), { ...MANY, fallback: SAFE, advanced: CALM }),
  one(
    "kafka",
    { bootstrapServersFromEnv: "BROKERS", consumerGroup: "g", topic: "t", lagThreshold: "5" },
    MANY,
  ),
  shape(
    "kafka",
    [
      trigger("kafka", lag()),
      trigger("kafka", lag({ topic: "returns" })),
      cpu({ value: "70" }, { metricType: "Utilization" }),
    ],
    MANY,
  ),
  shape("kafka", [trigger("kafka", lag()), trigger("cron", office)], ZERO),
  shape(
    "kafka",
    [trigger("kafka", lag()), trigger("prometheus", rate({ metricName: "lag" }))],
    MANY,
  ),
];

const waiting = (more: Json = {}): Json => ({
  queueName: "orders",
  mode: "QueueLength",
  value: "20",
  ...more,
});
const RABBITMQ: readonly Shape[] = [
  one("rabbitmq", waiting({ protocol: "amqp" }), ZERO, auth("rabbitmq")),
  one("rabbitmq", waiting(), { ...MANY, fallback: SAFE }, auth("rabbitmq")),
  one(
    "rabbitmq",
    waiting({ host: "amqp://guest:guest@rabbitmq.shop.svc.cluster.local:5672/" }),
    ZERO,
  ),
  one("rabbitmq", waiting({ hostFromEnv: "RABBITMQ_URL", activationValue: "5" }), ZERO),
  one("rabbitmq", { queueName: "orders", queueLength: "50", host: "amqp://rabbitmq:5672" }, MANY),
  one(
    "rabbitmq",
    { queueName: "orders", queueLength: "5", protocol: "amqp", metricName: "orders" },
    MANY,
    auth("rabbitmq"),
  ),
  one(
    "rabbitmq",
    waiting({ protocol: "http", vhostName: "shop", unsafeSsl: "true" }),
    MANY,
    auth("rabbitmq"),
  ),
  one(
    "rabbitmq",
    waiting({ protocol: "http", mode: "MessageRate", value: "100" }),
    MANY,
    auth("rabbitmq"),
  ),
  one(
    "rabbitmq",
    waiting({ protocol: "http", useRegex: "true", operation: "max", queueName: "^orders-.*$" }),
    MANY,
    auth("rabbitmq"),
  ),
];

const list = (more: Json = {}): Json => ({
  address: "redis:6379",
  listName: "jobs",
  listLength: "10",
  ...more,
});
const stream = (more: Json = {}): Json => ({
  address: "redis:6379",
  stream: "jobs",
  consumerGroup: "workers",
  pendingEntriesCount: "10",
  ...more,
});
const REDIS: readonly Shape[] = [
  one("redis", list({ listName: "bull:mail:wait" }), MANY),
  one("redis", list({ databaseIndex: "0", enableTLS: "false" }), ZERO, auth("redis")),
  one(
    "redis",
    list({ address: undefined, addressFromEnv: "REDIS_HOST", passwordFromEnv: "REDIS_PASSWORD" }),
    ZERO,
  ),
  one(
    "redis",
    list({
      address: undefined,
      hostFromEnv: "REDIS_HOST",
      portFromEnv: "REDIS_PORT",
      activationListLength: "5",
    }),
    ZERO,
    auth("redis"),
  ),
  one("redis", list({ address: undefined }), MANY),
  one("redis-streams", stream(), MANY),
  one(
    "redis-streams",
    stream({ addressFromEnv: "R", passwordFromEnv: "P", enableTLS: "false", databaseIndex: "0" }),
    MANY,
  ),
  one(
    "redis-streams",
    stream({ pendingEntriesCount: undefined, lagCount: "5", activationLagCount: "1" }),
    ZERO,
  ),
];

const OTHERS: readonly Shape[] = [
  one("kubernetes-workload", { podSelector: "app=backend", value: "0.5" }, MANY),
  one(
    "azure-servicebus",
    { queueName: "orders", messageCount: "5", namespace: "shop" },
    ZERO,
    auth("azure"),
  ),
  one("azure-servicebus", { topicName: "t", subscriptionName: "s", connectionFromEnv: "C" }, ZERO),
  one("azure-queue", { queueName: "orders", connectionFromEnv: "C", queueLength: "5" }, ZERO),
  one(
    "gcp-pubsub",
    { subscriptionName: "orders", mode: "SubscriptionSize", value: "5" },
    ZERO,
    auth("gcp"),
  ),
  one(
    "gcp-pubsub",
    {
      subscriptionName: "projects/p/subscriptions/s",
      subscriptionSize: "10",
      credentialsFromEnv: "G",
    },
    ZERO,
  ),
  one(
    "postgresql",
    { query: "SELECT COUNT(*) FROM jobs", targetQueryValue: "5", connectionFromEnv: "PG" },
    MANY,
  ),
  one(
    "mysql",
    { query: "SELECT COUNT(*) FROM jobs", queryValue: "5", connectionStringFromEnv: "M" },
    MANY,
  ),
  one(
    "nats-jetstream",
    {
      natsServerMonitoringEndpoint: "nats:8222",
      account: "$G",
      stream: "s",
      consumer: "c",
      lagThreshold: "10",
    },
    MANY,
  ),
  one("external-push", { scalerAddress: "scaler.keda:9090" }, ZERO),
  one(
    "new-relic",
    {
      nrql: "SELECT rate(count(*), 10 SECOND) FROM Transaction",
      threshold: "70",
      noDataError: "true",
    },
    MANY,
    auth("nr"),
  ),
];

/** In the proportion in which public ScaledObjects have these types. */
export const SHAPES: readonly Shape[] = [
  ...PROMETHEUS,
  ...SQS,
  ...CLOUDWATCH,
  ...RESOURCES,
  ...CRON,
  ...METRICS_API,
  ...KAFKA,
  ...RABBITMQ,
  ...REDIS,
  ...OTHERS,
];

export const scaledObjectOf = ({ spec }: Shape, at: number): Json => ({
  apiVersion: "keda.sh/v1alpha1",
  kind: "ScaledObject",
  metadata: { name: `web-${at}`, namespace: "shop" },
  spec: { ...spec, scaleTargetRef: { ...asObject(spec["scaleTargetRef"]), name: `web-${at}` } },
});
