import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { importObjects } from "../../../lib/rules/manifest/import/import-objects.ts";
import { BLOCKS } from "../../../lib/rules/manifest/import/keda/recipes/recipe.ts";
import { NO_SUCH_FIELD } from "../../../lib/rules/manifest/import/keda/unread-fields.ts";
import { RECIPES } from "../../../lib/rules/manifest/import/keda/recipes/recipes.ts";
import type { Json } from "../../../lib/rules/model/json.ts";
import { PUBLISHED } from "./keda-shapes/schema.ts";
import {
  HAS_PROMETHEUS,
  type RealPrometheus,
  realPrometheus,
} from "../../source-client/real-prometheus.ts";

const imported = (type: string, metadata: Json, spec: Json = {}, source?: string) => {
  const raw = {
    apiVersion: "keda.sh/v1alpha1",
    kind: "ScaledObject",
    metadata: { name: "web", namespace: "shop" },
    spec: {
      scaleTargetRef: { name: "web" },
      minReplicaCount: 1,
      triggers: [{ type, metadata }],
      ...spec,
    },
  };
  const { manifests, findings } = importObjects(
    {
      hpas: [],
      watermarks: [],
      scaledObjects: [raw],
      sources: {
        named: {
          [type]: source ?? (/^redis(?!-sentinel)/.test(type) ? "prometheus:main" : "main"),
        },
        discovered: false,
      },
    },
    "native",
  );
  const [metric] = (manifests[0]?.["spec"] as { metrics: Json[] } | undefined)?.metrics ?? [];
  return {
    metric: metric as
      | { prometheus: { source: string; query: string }; target: number; activation?: number }
      | undefined,
    notes: findings.map(({ severity, of, message }) => `${severity} ${of}: ${message}`),
  };
};

const KAFKA = { bootstrapServers: "kafka:9092", consumerGroup: "billing", topic: "orders" };

interface Row {
  readonly what: string;
  readonly type: string;
  readonly metadata: Json;
  readonly target: number;
  /** What KEDA's scaler gives the HPA for the state of SERIES. */
  readonly value: number;
}

/** Three partitions with a lag of 40, 0 and 35; queues and lists beside others of the same name. */
const SERIES = `kafka_consumergroup_lag{consumergroup="billing",topic="orders",partition="0"} 40
kafka_consumergroup_lag{consumergroup="billing",topic="orders",partition="1"} 0
kafka_consumergroup_lag{consumergroup="billing",topic="orders",partition="2"} 35
kafka_consumergroup_lag{consumergroup="billing",topic="other",partition="0"} 9
kafka_consumergroup_lag{consumergroup="billing 2",topic="orders",partition="0"} 1000
kafka_consumergroup_lag{consumergroup="idle",topic="orders",partition="0"} 0
rabbitmq_queue_messages{queue="orders",vhost="/"} 12
rabbitmq_queue_messages_ready{queue="orders",vhost="/"} 7
rabbitmq_queue_messages{queue="orders",vhost="shop"} 100
rabbitmq_queue_messages{queue="orders-late",vhost="/"} 30
redis_key_size{db="db0",key="jobs:\\"a\\""} 6
redis_key_size{db="db3",key="jobs"} 17
redis_stream_group_messages_pending{db="db0",stream="s",group="g"} 21
redis_stream_group_messages_pending{db="db0",stream="s",group="other"} 500
servicebus_queue_active_messages{name="orders"} 13
servicebus_queue_active_messages{name="orders-late"} 30
servicebus_subscription_active_messages{name="mail",topic_name="orders"} 8
servicebus_subscription_active_messages{name="mail",topic_name="other"} 80
jetstream_consumer_num_pending{account="$G",stream_name="s",consumer_name="c",is_consumer_leader="true",server_id="1"} 11
jetstream_consumer_num_ack_pending{account="$G",stream_name="s",consumer_name="c",is_consumer_leader="true",server_id="1"} 4
jetstream_consumer_num_pending{account="$G",stream_name="s",consumer_name="c",is_consumer_leader="false",server_id="2"} 9
jetstream_consumer_num_ack_pending{account="$G",stream_name="s",consumer_name="c",is_consumer_leader="false",server_id="2"} 0
jetstream_consumer_num_pending{account="$G",stream_name="s",consumer_name="d",is_consumer_leader="true",server_id="1"} 70
pubsub_googleapis_com:subscription_num_undelivered_messages{monitored_resource="pubsub_subscription",project_id="shop",subscription_id="orders"} 19
pubsub_googleapis_com:subscription_num_undelivered_messages{monitored_resource="pubsub_subscription",project_id="other",subscription_id="orders"} 90`;

const ROWS: readonly Row[] = [
  {
    what: "the active messages of a queue of Service Bus",
    type: "azure-servicebus",
    metadata: { queueName: "orders", namespace: "shop" },
    target: 5,
    value: 13,
  },
  {
    what: "the most active messages of several queues of Service Bus",
    type: "azure-servicebus",
    metadata: { queueName: "^orders", useRegex: "true", operation: "max", messageCount: "7" },
    target: 7,
    value: 30,
  },
  {
    what: "the active messages of the subscription of a topic",
    type: "azure-servicebus",
    metadata: { topicName: "orders", subscriptionName: "mail" },
    target: 5,
    value: 8,
  },
  {
    what: "what waits for a consumer of JetStream, with what it has not acknowledged",
    type: "nats-jetstream",
    metadata: { account: "$G", stream: "s", consumer: "c", natsServerMonitoringEndpoint: "n:8222" },
    target: 10,
    value: 15,
  },
  {
    what: "the messages of a subscription of Pub/Sub in its project",
    type: "gcp-pubsub",
    metadata: { subscriptionName: "projects/shop/subscriptions/orders" },
    target: 10,
    value: 19,
  },
  {
    what: "the lag of a topic, at most ten for each of three partitions",
    type: "kafka",
    metadata: KAFKA,
    target: 10,
    value: 30,
  },
  {
    what: "the lag below that most",
    type: "kafka",
    metadata: { ...KAFKA, lagThreshold: "50" },
    target: 50,
    value: 75,
  },
  {
    what: "the whole lag with idle consumers",
    type: "kafka",
    metadata: { ...KAFKA, allowIdleConsumers: "true" },
    target: 10,
    value: 75,
  },
  {
    what: "at most ten for each of two partitions with lag",
    type: "apache-kafka",
    metadata: { ...KAFKA, limitToPartitionsWithLag: "true" },
    target: 10,
    value: 20,
  },
  {
    what: "no lag where no partition has one",
    type: "kafka",
    metadata: { ...KAFKA, consumerGroup: "idle", limitToPartitionsWithLag: "true" },
    target: 10,
    value: 0,
  },
  {
    what: "all topics of a group",
    type: "kafka",
    metadata: { consumerGroup: "billing", bootstrapServers: "k", allowIdleConsumers: "true" },
    target: 10,
    value: 84,
  },
  {
    what: "the messages of a queue",
    type: "rabbitmq",
    metadata: {
      queueName: "orders",
      mode: "QueueLength",
      value: "5",
      host: "http://u:p@r:15672/",
      protocol: "http",
    },
    target: 5,
    value: 12,
  },
  {
    what: "the messages of a queue in another virtual host",
    type: "rabbitmq",
    metadata: { queueName: "orders", mode: "QueueLength", value: "5", host: "http://r:15672/shop" },
    target: 5,
    value: 100,
  },
  {
    what: "the messages that wait, as AMQP counts them",
    type: "rabbitmq",
    metadata: { queueName: "orders", value: "5", protocol: "amqp", vhostName: "/" },
    target: 5,
    value: 7,
  },
  {
    what: "the largest of several queues",
    type: "rabbitmq",
    metadata: {
      queueName: "^orders",
      useRegex: "true",
      operation: "max",
      value: "5",
      vhostName: "/",
    },
    target: 5,
    value: 30,
  },
  {
    what: "the length of a list whose name has quotes",
    type: "redis",
    metadata: { address: "r:6379", listName: 'jobs:"a"' },
    target: 5,
    value: 6,
  },
  {
    what: "the length of a list of another database",
    type: "redis-sentinel",
    metadata: {
      addresses: "r:6379",
      sentinelMaster: "m",
      listName: "jobs",
      databaseIndex: "3",
      listLength: "8",
    },
    target: 8,
    value: 17,
  },
  {
    what: "what a group of a stream has not acknowledged",
    type: "redis-streams",
    metadata: { address: "r:6379", stream: "s", consumerGroup: "g", pendingEntriesCount: "10" },
    target: 10,
    value: 21,
  },
];

describe.skipIf(!HAS_PROMETHEUS)(
  `the query of a recipe${HAS_PROMETHEUS ? "" : ", which needs a Prometheus (apt-get install prometheus)"}`,
  () => {
    let server: RealPrometheus;
    beforeAll(async () => {
      const at = Math.floor(Date.now() / 1000) - 30;
      server = await realPrometheus(
        SERIES.split("\n")
          .map((line) => `${line} ${at}`)
          .join("\n"),
      );
    });
    afterAll(() => server.close());

    it.each(ROWS)("gives $what: $type", async ({ type, metadata, target, value }) => {
      const { metric, notes } = imported(type, metadata);
      expect([metric?.prometheus.source, metric?.target], notes.join("\n")).toEqual([
        "main",
        target,
      ]);
      const asked = new URL(`${server.url}/api/v1/query`);
      asked.searchParams.set("query", metric?.prometheus.query ?? "");
      const answer = (await (await fetch(asked)).json()) as {
        data: { result: { value: [number, string] }[] };
      };
      expect(answer.data.result.map(({ value: [, text] }) => Number(text))).toEqual([value]);
    });
  },
);

describe("a trigger with a recipe", () => {
  it.each([...RECIPES.keys()].flatMap((type) => [...BLOCKS.keys()].map((kind) => [type, kind])))(
    "%s of %s: a field is noted as one that KEDA does not have, where it does not have it only",
    (type, kind) => {
      const notesOf = (metadata: Json) => imported(type, metadata, {}, `${kind}:main`).notes;
      const isUnread = (field: string) =>
        notesOf({ [field]: "1" }).includes(
          `without effect spec.triggers[0] (${type}): ${field}: ${NO_SUCH_FIELD}`,
        );
      const { fields, fromEnv = [] } = PUBLISHED.types[type] ?? { fields: [] };
      const all = [...fields, ...fromEnv.map((field) => `${field}FromEnv`)];
      expect(all.length).toBeGreaterThan(5);
      expect(all.filter(isUnread)).toEqual([]);
      const hasNumber = kind === "prometheus" || (RECIPES.get(type)?.managed ?? false);
      expect(isUnread("somethingNew")).toBe(Boolean(hasNumber));
    },
  );

  it.each([
    ["azure-servicebus", {}, "either a queueName, or a topicName"],
    ["azure-servicebus", { topicName: "t" }, "either a queueName, or a topicName"],
    ["azure-servicebus", { topicName: "t", subscriptionName: "s", queueName: "q" }, "either"],
    ["gcp-pubsub", { subscriptionName: "s", mode: "OldestUnackedMessageAge" }, "mode: only"],
    ["gcp-pubsub", { topicName: "t" }, "subscriptionName: it is not written"],
    ["nats-jetstream", { stream: "s" }, "consumer: it is not written"],
  ])("%s with %o is refused by its field", (type, metadata, words) => {
    const { metric, notes } = imported(type, metadata);
    expect(metric).toBeUndefined();
    expect(notes.filter((note) => note.startsWith("lost")).join("\n")).toContain(words);
  });

  it("a needed field that is read from the environment is refused once, by its own name", () => {
    const { notes } = imported("gcp-pubsub", { subscriptionNameFromEnv: "SUB" });
    const lost = notes.filter((note) => note.startsWith("lost"));
    expect(lost).toEqual([expect.stringContaining("subscriptionNameFromEnv: it is read from")]);
  });

  it("notes that the connection is the exporter's, and what to look at", () => {
    const { notes } = imported("kafka", KAFKA);
    expect(notes[0]).toMatch(
      /^changed spec\.triggers\[0\] \(kafka\): it becomes a query of the series of kafka-exporter in the Prometheus "main"/,
    );
    expect(notes).toContain(
      "changed spec.triggers[0] (kafka): bootstrapServers: it belongs to the exporter, and is not in the manifest",
    );
  });

  it.each([
    ["kafka", { ...KAFKA, topicFromEnv: "TOPIC" }, "topicFromEnv: it is read from the environment"],
    ["kafka", { ...KAFKA, excludePersistentLag: "true" }, "excludePersistentLag: "],
    ["rabbitmq", { queueName: "a", mode: "MessageRate", value: "5" }, "mode: only QueueLength"],
    ["redis-streams", { stream: "s", consumerGroup: "g", lagCount: "5" }, "lagCount: "],
    ["constructor", {}, 'no source for the type "constructor"'],
  ])("refuses %s with a field that changes the number (%o)", (type, metadata, words) => {
    const { metric, notes } = imported(type, metadata);
    expect(metric).toBeUndefined();
    expect(notes.filter((note) => note.startsWith("lost")).join("\n")).toContain(words);
  });

  it("wakes a workload at zero by its own threshold", () => {
    const { metric } = imported(
      "kafka",
      { ...KAFKA, activationLagThreshold: "3" },
      { minReplicaCount: 0 },
    );
    expect(metric?.activation).toBe(3);
  });
});

describe("a trigger of a server that AWS runs", () => {
  const MSK = {
    bootstrapServers:
      "b-1.orders.a1b2c3.c2.kafka.eu-central-1.amazonaws.com:9098,b-2.orders.a1b2c3.c2.kafka.eu-central-1.amazonaws.com:9098",
    consumerGroup: "billing",
    topic: "orders",
    lagThreshold: "50",
  };
  const byCloudwatch = (type: string, metadata: Json) =>
    imported(type, metadata, {}, "cloudwatch:cw");

  it.each(["kafka", "apache-kafka"])("becomes a metric of CloudWatch: %s", (type) => {
    const { metric, notes } = byCloudwatch(type, MSK);
    expect(metric).toMatchObject({
      cloudwatch: {
        source: "cw",
        namespace: "AWS/Kafka",
        metric: "SumOffsetLag",
        stat: "Maximum",
        dimensions: { "Cluster Name": "orders", "Consumer Group": "billing", Topic: "orders" },
        periodSeconds: 60,
        lookbackSeconds: 300,
      },
      target: 50,
    });
    expect(notes.join("\n")).toContain("KEDA asks for no more pods than the topic has partitions");
  });

  it.each([
    [
      "kafka",
      { ...MSK, bootstrapServers: "kafka:9092" },
      "bootstrapServers: its first server is no broker",
    ],
    ["kafka", { ...MSK, topic: "orders,bills" }, "topic: the metric is of one topic"],
    ["kafka", { ...MSK, topic: "" }, "topic: the metric is of one topic"],
    [
      "kafka",
      { ...MSK, partitionLimitation: "1-3" },
      "partitionLimitation: the metric is of all partitions",
    ],
    ["rabbitmq", { queueName: "a" }, "has no metric in CloudWatch that its fields name"],
  ])("is refused where the metric does not say the number: %s, %o", (type, metadata, words) => {
    const { metric, notes } = byCloudwatch(type, metadata);
    expect(metric).toBeUndefined();
    expect(notes.filter((note) => note.startsWith("lost")).join("\n")).toContain(words);
  });
});
