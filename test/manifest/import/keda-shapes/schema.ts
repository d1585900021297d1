import { readFileSync } from "node:fs";
import { importObjects } from "../../../../lib/rules/manifest/import/import-objects.ts";
import type { TriggerSources } from "../../../../lib/rules/manifest/import/keda/native-scaled-object.ts";
import { WAYS_OUT } from "../../../../lib/rules/manifest/import/keda/ways-out.ts";
import type { Json } from "../../../../lib/rules/model/json.ts";

interface Published {
  readonly version: string;
  readonly types: Readonly<
    Record<string, { readonly fields: readonly string[]; readonly fromEnv?: readonly string[] }>
  >;
}
/** Names of types and fields of schema/generated/scalers-schema.json of KEDA. */
export const PUBLISHED = JSON.parse(
  readFileSync(new URL("../recorded/keda-2.21-triggers.json", import.meta.url), "utf8"),
) as Published;

/** The least metadata with which each type is carried over. */
export const CARRIED: Readonly<Record<string, Json>> = {
  "apache-kafka": { consumerGroup: "g", topic: "t" },
  "aws-cloudwatch": { namespace: "AWS/SQS", metricName: "m", targetMetricValue: "2" },
  "aws-sqs-queue": { queueURL: "https://sqs.eu-west-1.amazonaws.com/123456789012/orders" },
  "azure-servicebus": { queueName: "q" },
  "gcp-pubsub": { subscriptionName: "s" },
  "nats-jetstream": { stream: "s", consumer: "c" },
  cpu: { value: "60" },
  memory: { value: "60" },
  cron: { timezone: "UTC", start: "0 8 * * *", end: "0 18 * * *", desiredReplicas: "4" },
  kafka: { consumerGroup: "g", topic: "t" },
  "kubernetes-workload": { podSelector: "app=backend", value: "2" },
  "metrics-api": { url: "https://api.example.com/n", valueLocation: "n", targetValue: "2" },
  prometheus: { serverAddress: "http://p", query: "sum(q)", threshold: "5" },
  rabbitmq: { queueName: "q", value: "5", host: "http://r/%2F", mode: "QueueLength" },
  redis: { listName: "l" },
  "redis-cluster": { listName: "l" },
  "redis-sentinel": { listName: "l" },
  "redis-streams": { stream: "s", consumerGroup: "g", pendingEntriesCount: "5" },
  "redis-cluster-streams": { stream: "s", consumerGroup: "g", pendingEntriesCount: "5" },
  "redis-sentinel-streams": { stream: "s", consumerGroup: "g", pendingEntriesCount: "5" },
};

export const imported = (
  type: string,
  metadata: Json,
  sources: TriggerSources = { named: { [type]: "main" }, discovered: false },
) =>
  importObjects(
    {
      hpas: [],
      watermarks: [],
      scaledObjects: [
        {
          apiVersion: "keda.sh/v1alpha1",
          kind: "ScaledObject",
          metadata: { name: "web", namespace: "shop" },
          spec: { scaleTargetRef: { name: "web" }, triggers: [{ type, metadata }] },
        },
      ],
      sources,
    },
    "native",
  );

/** A value that no default and no example above has. */
export const OTHER: Readonly<Record<string, string>> = {
  ignoreNullValues: "false",
  awsAccountId: "123456789012",
  metricStatPeriod: "60",
  metricCollectionTime: "600",
  type: "AverageValue",
  metricStat: "Maximum",
  scaleOnInFlight: "false",
  scaleOnDelayed: "true",
  allowIdleConsumers: "true",
  limitToPartitionsWithLag: "true",
  excludeUnacknowledged: "true",
  protocol: "amqp",
  useRegex: "true",
  operation: "max",
  mode: "MessageRate",
  groupByNode: "true",
  format: "xml",
  aggregateFromKubeServiceEndpoints: "true",
  unsafeSsl: "true",
  start: "0 9 * * *",
  end: "0 19 * * *",
  timezone: "Asia/Tokyo",
  queueURL: "https://sqs.eu-west-1.amazonaws.com/123456789012/mail",
  url: "https://api.example.com/m",
  host: "http://r/shop",
};

type Outcome = "carried" | "noted" | "refused";

/** A field that is read only with another one, or without one. */
const TOGETHER: Readonly<Record<string, Json>> = {
  dimensionName: { dimensionName: "Service", dimensionValue: "orders" },
  dimensionValue: { dimensionName: "Service", dimensionValue: "mail" },
};
const INSTEAD: Readonly<Record<string, readonly string[]>> = { queueLength: ["mode", "value"] };

const withField = (base: Json, field: string): Json => {
  const without = Object.hasOwn(INSTEAD, field) ? (INSTEAD[field] ?? []) : [];
  const kept = Object.entries(base).filter(([name]) => !without.includes(name));
  return {
    ...Object.fromEntries(kept),
    ...(Object.hasOwn(TOGETHER, field) ? TOGETHER[field] : { [field]: OTHER[field] ?? "7" }),
  };
};

const outcomeOf = (type: string, base: Json, field: string): Outcome => {
  const { manifests } = imported(type, withField(base, field));
  if (manifests.length === 0) return "refused";
  const [before] = imported(type, base).manifests;
  return JSON.stringify(manifests[0]) === JSON.stringify(before) ? "noted" : "carried";
};

/** A row for each type that is carried over, with what becomes of its fields: for docs/migrating.md. */
export const fieldsTable = (): string => {
  const types = Object.entries(PUBLISHED.types);
  const rows = types.flatMap(([type, { fields, fromEnv = [] }]) => {
    const base = Object.hasOwn(CARRIED, type) ? CARRIED[type] : undefined;
    if (base === undefined) return [];
    const all = [...fields, ...fromEnv.map((field) => `${field}FromEnv`)];
    const by = Map.groupBy(all, (field) => outcomeOf(type, base, field));
    const cells = (["carried", "noted", "refused"] as const).map((outcome) =>
      (by.get(outcome) ?? []).map((field) => `\`${field}\``).join(", "),
    );
    return [{ type, cells: cells.join(" | ") }];
  });
  const merged = [...Map.groupBy(rows, ({ cells }) => cells)].map(
    ([cells, of]) => `| ${of.map(({ type }) => `\`${type}\``).join(", ")} | ${cells} |`,
  );
  const ways = types.flatMap(([type]) => {
    const way = WAYS_OUT.get(type);
    return way === undefined ? [] : [`| \`${type}\` | ${way} |`];
  });
  return [
    "| trigger | carried over | noted | refused where it has another value than its default |",
    "|---|---|---|---|",
    ...merged,
    "",
    "| refused type | its nearest way out |",
    "|---|---|",
    ...ways,
  ].join("\n");
};
