import { textOf } from "../../schedules/timed.ts";
import { label, type Recipe, selector } from "./recipe.ts";

const isTrue = (value: unknown): boolean => String(value).toLowerCase() === "true";

/**
 * The lag of a consumer group. KEDA asks for no more pods than there are partitions, unless
 * `allowIdleConsumers` is set.
 */
export const KAFKA: Recipe = {
  exporter: "kafka-exporter",
  target: ["lagThreshold", "10"],
  activation: "activationLagThreshold",
  read: ["consumerGroup", "topic", "allowIdleConsumers", "limitToPartitionsWithLag"],
  query: (metadata, target) => {
    const topic = textOf(metadata["topic"]);
    const lag = selector("kafka_consumergroup_lag", [
      label("consumergroup", textOf(metadata["consumerGroup"]) ?? ""),
      topic === undefined ? undefined : label("topic", topic),
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
    "scaleToZeroOnInvalidOffset",
    "awsRegion",
    "identityOwner",
  ],
  refused: {
    excludePersistentLag:
      "the exporter does not say whether an offset moves; write rate(kafka_consumergroup_current_offset…) > 0 by hand",
    partitionLimitation: 'add partition=~"…" to the query by hand, and remove it from the trigger',
    ensureEvenDistributionOfPartitions: "no query rounds the count to a divisor of the partitions",
  },
};
