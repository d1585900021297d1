import type { Json } from "../../../../model/json.ts";
import { textOf } from "../../schedules/timed.ts";
import { label, type Recipe, selector } from "./recipe.ts";

const CONNECTION = [
  "address",
  "addresses",
  "host",
  "hosts",
  "port",
  "ports",
  "username",
  "password",
  "sentinelUsername",
  "sentinelPassword",
  "sentinelMaster",
  "enableTLS",
  "unsafeSsl",
] as const;

const database = (metadata: Json): string =>
  label("db", `db${textOf(metadata["databaseIndex"]) ?? "0"}`);

/** The length of a list, which redis_exporter reads where `--check-single-keys` names it. */
export const REDIS_LIST: Recipe = {
  exporter: "redis_exporter (--check-single-keys)",
  target: { fields: ["listLength"], otherwise: "5" },
  activation: "activationListLength",
  needed: ["listName"],
  read: ["listName", "databaseIndex"],
  query: (metadata) =>
    `sum(${selector("redis_key_size", [
      database(metadata),
      label("key", textOf(metadata["listName"]) ?? ""),
    ])})`,
  ofExporter: CONNECTION,
  refused: {},
};

/** Messages of a stream that its group has read and not acknowledged. */
export const REDIS_STREAM: Recipe = {
  exporter: "redis_exporter (--check-single-streams)",
  target: { fields: ["pendingEntriesCount"] },
  activation: "activationPendingEntriesCount",
  needed: ["stream", "consumerGroup"],
  read: ["stream", "consumerGroup", "databaseIndex"],
  query: (metadata) =>
    `sum(${selector("redis_stream_group_messages_pending", [
      database(metadata),
      label("stream", textOf(metadata["stream"]) ?? ""),
      label("group", textOf(metadata["consumerGroup"]) ?? ""),
    ])})`,
  ofExporter: CONNECTION,
  refused: {
    streamLength: "write redis_stream_length of the stream by hand",
    lagCount: "write redis_stream_group_lag of the group by hand",
    activationLagCount: "write redis_stream_group_lag of the group by hand",
  },
};
