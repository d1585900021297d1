import { lost, textOf } from "../../schedules/timed.ts";
import { label, type Recipe, selector } from "./recipe.ts";

const MODES = ["SubscriptionSize", "NumUndeliveredMessages"];

/** "projects/shop/subscriptions/orders": a subscription with its project. */
const WITH_PROJECT = /^projects\/([^/]+)\/subscriptions\/(.+)$/;

/** Messages of a subscription that were not delivered yet, as Cloud Monitoring has them. */
export const PUBSUB: Recipe = {
  exporter: "Cloud Monitoring, asked in PromQL (docs/sources-by-service.md)",
  target: { fields: ["value"], otherwise: "10" },
  activation: "activationValue",
  needed: ["subscriptionName"],
  read: ["subscriptionName", "mode"],
  query: (metadata) => {
    const written = textOf(metadata["subscriptionName"]) ?? "";
    const [, project, name = written] = WITH_PROJECT.exec(written) ?? [];
    return `sum(${selector("pubsub_googleapis_com:subscription_num_undelivered_messages", [
      label("monitored_resource", "pubsub_subscription"),
      label("subscription_id", name),
      project === undefined ? undefined : label("project_id", project),
    ])})`;
  },
  ofExporter: ["credentials", "credentialsFromEnvFile"],
  refused: {
    topicName: "write the metric of the topic by hand",
    subscriptionSize: "KEDA has refused it since 2.20: write mode and value",
    aggregation: "write the aggregation into the query by hand",
    timeHorizon: "write the range into the query by hand",
    valueIfNull: "write it as whenEmpty of the metric by hand",
  },
  details: (metadata, of) =>
    MODES.includes(textOf(metadata["mode"]) ?? "SubscriptionSize")
      ? []
      : [
          lost(
            `${of}: mode`,
            `only SubscriptionSize and NumUndeliveredMessages are carried over, and it is "${String(metadata["mode"])}"; write the metric by hand`,
          ),
        ],
};
