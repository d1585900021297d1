import { textOf } from "../../schedules/timed.ts";
import { label, type Recipe, selector } from "./recipe.ts";

/**
 * Messages of a stream that its consumer has not got or not acknowledged. In a cluster each server
 * has a series of the consumer, and the leader's counts.
 */
export const NATS_JETSTREAM: Recipe = {
  exporter: "prometheus-nats-exporter (-jsz=all)",
  target: { fields: ["lagThreshold"], otherwise: "10" },
  activation: "activationLagThreshold",
  needed: ["stream", "consumer"],
  read: ["stream", "consumer", "account"],
  query: (metadata) => {
    const account = textOf(metadata["account"]);
    const matchers = [
      label("stream_name", textOf(metadata["stream"]) ?? ""),
      label("consumer_name", textOf(metadata["consumer"]) ?? ""),
      account === undefined ? undefined : label("account", account),
      label("is_consumer_leader", "true"),
    ];
    const [waiting, open] = ["num_pending", "num_ack_pending"].map(
      (count) => `sum(${selector(`jetstream_consumer_${count}`, matchers)})`,
    );
    return `${waiting} + ${open}`;
  },
  ofExporter: ["natsServerMonitoringEndpoint", "useHttps", "accountID"],
  refused: {},
};
