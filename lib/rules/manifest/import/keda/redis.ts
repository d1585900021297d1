import type { Json } from "../../../model/json.ts";
import { changed, lost, textOf } from "../schedules/timed.ts";
import type { Detail } from "../finding.ts";

/** What of a trigger its question is made of. */
interface Trigger {
  readonly type: string;
  /** "spec.triggers[1] (redis)". */
  readonly of: string;
  readonly metadata: Json;
  readonly place: { readonly address?: string } | undefined;
}

/** The block of a metric, without its target. */
interface RedisBlock {
  readonly block: Json;
  readonly target: string | undefined;
  readonly activation: string | undefined;
  readonly details: readonly Detail[];
}

/**
 * `--source redis=prometheus:main`: the exporter is asked in place of the server. `--source
 * kafka=cloudwatch:main`: the metrics that AWS keeps of it.
 */
export const BY_EXPORTER = /^(prometheus|cloudwatch):(.+)$/;

const CONNECTION = ["address", "addresses", "host", "hosts", "port", "ports"] as const;
const CREDENTIAL = ["username", "password", "enableTLS", "unsafeSsl"] as const;

const SENTINEL = ["sentinelMaster", "sentinelUsername", "sentinelPassword"] as const;

const noted = (
  { of, metadata }: Trigger,
  names: readonly string[],
  message: string,
): readonly Detail[] =>
  names
    .filter((name) => textOf(metadata[name]) !== undefined)
    .map((name) => changed(`${of}: ${name}`, message));

/** A field whose value is in the environment of the pods cannot be read. */
const FROM_ENV = /FromEnv$/;
const fromEnvironment = ({ of, metadata }: Trigger): readonly Detail[] =>
  Object.keys(metadata)
    .filter((name) => FROM_ENV.test(name) && textOf(metadata[name]) !== undefined)
    .map((name) => {
      const plain = name.replace(FROM_ENV, "");
      return [...CONNECTION, ...CREDENTIAL, ...SENTINEL].some((known) => known === plain)
        ? changed(`${of}: ${name}`, OF_SOURCE)
        : lost(
            `${of}: ${name}`,
            "it is read from the environment of the pods, which Tidemark does not read; write the value itself",
          );
    });

const OF_SOURCE = "it belongs to the registered source, and is not in the manifest";

/** The list or the stream of a trigger, and its database. */
export const redisKeyOf = (
  metadata: Json,
): { readonly key: string; readonly database: number } => ({
  key: textOf(metadata["listName"]) ?? textOf(metadata["stream"]) ?? "",
  database: Number(textOf(metadata["databaseIndex"]) ?? 0),
});

/** A trigger redis or redis-streams, or one of a cluster, as a question to a registered Redis. */
export const redisBlock = (trigger: Trigger, source: string): RedisBlock => {
  const { type, of, metadata, place } = trigger;
  const database = textOf(metadata["databaseIndex"]);
  const shared = {
    source,
    ...(database !== undefined && { database: Number(database) }),
  };
  const details = [
    changed(of, `the source "${source}" must stand for ${place?.address ?? "its server"}`),
    ...noted(trigger, [...CONNECTION, ...CREDENTIAL], OF_SOURCE),
    ...noted(trigger, SENTINEL, "KEDA does not use it for this type; it is for Sentinel"),
    ...fromEnvironment(trigger),
  ];
  if (!type.endsWith("streams"))
    return {
      block: { redis: { ...shared, key: metadata["listName"] } },
      target: textOf(metadata["listLength"]) ?? "5",
      activation: textOf(metadata["activationListLength"]),
      details,
    };
  return { ...streamBlock(metadata, shared), details: [...details, ...unusedTargets(trigger)] };
};

const streamBlock = (
  metadata: Json,
  shared: Json,
): Pick<RedisBlock, "block" | "target" | "activation"> => {
  const group = textOf(metadata["consumerGroup"]);
  const on = { ...shared, key: metadata["stream"] };
  const activation = textOf(metadata["activationLagCount"]);
  if (group === undefined)
    return {
      block: { redis: on },
      target: textOf(metadata["streamLength"]) ?? "5",
      activation,
    };
  const lag = textOf(metadata["lagCount"]);
  return {
    block: { redis: { ...on, count: lag === undefined ? "Pending" : "Lag", group } },
    target: lag ?? textOf(metadata["pendingEntriesCount"]) ?? "5",
    activation,
  };
};

/** KEDA reads one of the three targets. */
const unusedTargets = ({ of, metadata }: Trigger): readonly Detail[] => {
  const isGroup = textOf(metadata["consumerGroup"]) !== undefined;
  const isLag = isGroup && textOf(metadata["lagCount"]) !== undefined;
  const used = isLag ? "lagCount" : isGroup ? "pendingEntriesCount" : "streamLength";
  return [
    ...["lagCount", "pendingEntriesCount", "streamLength"]
      .filter((name) => name !== used && textOf(metadata[name]) !== undefined)
      .map((name) => changed(`${of}: ${name}`, `KEDA does not read it: ${used} counts`)),
    ...(isLag
      ? [changed(of, "a group that does not exist is a missing metric, and KEDA counts 0 for it")]
      : []),
  ];
};
