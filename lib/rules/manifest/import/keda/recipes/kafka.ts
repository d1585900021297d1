import type { Json } from "../../../../model/json.ts";
import { awsDomain } from "../../../../model/aws-partitions.ts";
import { changed, lost, textOf } from "../../schedules/timed.ts";
import { label, type ManagedMetric, type Recipe, selector } from "./recipe.ts";

const isTrue = (value: unknown): boolean => String(value).toLowerCase() === "true";

/** A matcher of one of several texts, which have no other mark of a regular expression than dots. */
const oneOf = (name: string, texts: readonly string[]): string =>
  texts.length === 1
    ? label(name, String(texts[0]))
    : `${name}=~${JSON.stringify(texts.join("|").replaceAll(".", "\\."))}`;

const partsOf = (text: string): readonly string[] => text.split(",").map((part) => part.trim());

/** The trigger apache-kafka takes several topics. */
const topicMatcher = (topic: string | undefined): string | undefined =>
  topic === undefined ? undefined : oneOf("topic", partsOf(topic));

const RANGE = /^(\d{1,6})(?:\s*-\s*(\d{1,6}))?$/;
/** So that the query stays one that a person reads. */
const PARTITIONS_MAX = 200;

/** The partitions of "1,2,10-20"; undefined where it is no list of at most so many. */
const partitionsIn = (text: string): readonly string[] | undefined => {
  const ranges = partsOf(text).map((part) => RANGE.exec(part));
  const all = ranges.flatMap((range) => {
    const [, first = "", last = first] = range ?? [];
    const count = Number(last) - Number(first) + 1;
    return Array.from({ length: Math.min(Math.max(0, count), PARTITIONS_MAX + 1) }, (_, at) =>
      String(Number(first) + at),
    );
  });
  return ranges.includes(null) || all.length === 0 || all.length > PARTITIONS_MAX ? undefined : all;
};

/** KEDA reads the partitions only where a topic is named. */
const partitionMatcher = (metadata: Json): string | undefined => {
  const text = textOf(metadata["partitionLimitation"]);
  if (text === undefined || textOf(metadata["topic"]) === undefined) return undefined;
  return oneOf("partition", partitionsIn(text) ?? []);
};

/** Names of brokers of Amazon MSK: b-1.orders.a1b2c3.c2.kafka.REGION.DOMAIN:9092. */
const MSK_HOST =
  /^b-\d+(?:-public)?\.([a-z0-9-]+)\.[a-z0-9]+\.c\d+\.kafka\.([a-z0-9-]+)\.([a-z0-9.-]+?)(?::\d+)?$/i;

const clusterOf = (metadata: Json): string | undefined => {
  const [broker = ""] = partsOf(textOf(metadata["bootstrapServers"]) ?? "");
  const [, cluster, region = "", domain = ""] = MSK_HOST.exec(broker) ?? [];
  return awsDomain(region.toLowerCase()) === domain.toLowerCase() ? cluster : undefined;
};

/** The sum over the partitions of one topic, as Amazon MSK has it for each consumer group. */
const MSK: ManagedMetric = {
  ...{ service: "Amazon MSK", namespace: "AWS/Kafka", metric: "SumOffsetLag", stat: "Maximum" },
  dimensions: (metadata) => ({
    "Cluster Name": clusterOf(metadata) ?? "",
    "Consumer Group": textOf(metadata["consumerGroup"]) ?? "",
    Topic: textOf(metadata["topic"]) ?? "",
  }),
  read: ["consumerGroup", "topic", "allowIdleConsumers", "bootstrapServers"],
  refused: {
    excludePersistentLag: "the metric does not say whether an offset moves",
    partitionLimitation: "the metric is of all partitions of a topic",
    limitToPartitionsWithLag: "the metric does not say which partitions have a lag",
    ensureEvenDistributionOfPartitions: "no metric rounds the count to a divisor of the partitions",
  },
  details: (metadata, of) => {
    const topic = textOf(metadata["topic"]) ?? "";
    return [
      ...(clusterOf(metadata) === undefined
        ? [
            lost(
              `${of}: bootstrapServers`,
              "its first server is no broker of Amazon MSK by its name, so that the name of the cluster is not known; write the metric by hand",
            ),
          ]
        : []),
      ...(topic === "" || topic.includes(",")
        ? [lost(`${of}: topic`, "the metric is of one topic; write one metric for each topic")]
        : []),
      ...(isTrue(metadata["allowIdleConsumers"])
        ? []
        : [
            changed(
              `${of}: allowIdleConsumers`,
              "KEDA asks for no more pods than the topic has partitions, which the metric does not say: write maxReplicas of at most so many",
            ),
          ]),
    ];
  },
};

/**
 * The lag of a consumer group. KEDA asks for no more pods than there are partitions, unless
 * `allowIdleConsumers` is set.
 */
export const KAFKA: Recipe = {
  exporter: "kafka-exporter",
  managed: MSK,
  target: { fields: ["lagThreshold"], otherwise: "10" },
  activation: "activationLagThreshold",
  needed: ["consumerGroup"],
  read: [
    "consumerGroup",
    "topic",
    "allowIdleConsumers",
    "limitToPartitionsWithLag",
    "partitionLimitation",
  ],
  query: (metadata, target) => {
    const lag = selector("kafka_consumergroup_lag", [
      label("consumergroup", textOf(metadata["consumerGroup"]) ?? ""),
      topicMatcher(textOf(metadata["topic"])),
      partitionMatcher(metadata),
    ]);
    if (isTrue(metadata["allowIdleConsumers"])) return `sum(${lag})`;
    const partitions = isTrue(metadata["limitToPartitionsWithLag"]) ? `${lag} > 0` : lag;
    return `clamp_max(sum(${lag}), scalar(count(${partitions}) or vector(0)) * ${target})`;
  },
  ofExporter: [
    "bootstrapServers",
    "version",
    "tls",
    "sasl",
    "saslTokenProvider",
    "scopes",
    "oauthTokenEndpointUri",
    "unsafeSsl",
    "offsetResetPolicy",
    "fullMetadata",
    "scaleToZeroOnInvalidOffset",
    "awsRegion",
    "identityOwner",
  ],
  refused: {
    excludePersistentLag:
      "the exporter does not say whether an offset moves; write rate(kafka_consumergroup_current_offset…) > 0 by hand",
    ensureEvenDistributionOfPartitions: "no query rounds the count to a divisor of the partitions",
  },
  details: (metadata, of) => {
    const text = textOf(metadata["partitionLimitation"]);
    if (text === undefined || partitionsIn(text) !== undefined) return [];
    const message = `"${text}" is no list of at most ${PARTITIONS_MAX} partitions, like 1,2,10-20; write the query by hand`;
    return [lost(`${of}: partitionLimitation`, message)];
  },
};
