import { lost, textOf } from "../../schedules/timed.ts";
import { label, type Recipe, selector } from "./recipe.ts";

const isTrue = (value: unknown): boolean => String(value).toLowerCase() === "true";

/** A regular expression of KEDA matches anywhere in a name. */
const nameMatcher = (text: string, regex: boolean): string =>
  regex ? `name=~${JSON.stringify(`.*(?:${text}).*`)}` : label("name", text);

/** Active messages of a queue or of the subscription of a topic. */
export const AZURE_SERVICE_BUS: Recipe = {
  exporter: "servicebus_exporter",
  target: { fields: ["messageCount"], otherwise: "5" },
  activation: "activationMessageCount",
  needed: [],
  read: ["queueName", "topicName", "subscriptionName", "useRegex", "operation"],
  query: (metadata) => {
    const regex = isTrue(metadata["useRegex"]);
    const topic = textOf(metadata["topicName"]);
    const messages =
      topic === undefined
        ? selector("servicebus_queue_active_messages", [
            nameMatcher(textOf(metadata["queueName"]) ?? "", regex),
          ])
        : selector("servicebus_subscription_active_messages", [
            label("topic_name", topic),
            nameMatcher(textOf(metadata["subscriptionName"]) ?? "", regex),
          ]);
    const operation = textOf(metadata["operation"]) ?? "sum";
    return `${["max", "avg"].includes(operation) ? operation : "sum"}(${messages})`;
  },
  ofExporter: ["connection", "namespace"],
  refused: {},
  details: (metadata, of) => {
    const [queue, topic, subscription] = ["queueName", "topicName", "subscriptionName"].map(
      (field) => textOf(metadata[field]) !== undefined,
    );
    return queue !== topic && topic === subscription
      ? []
      : [lost(of, "KEDA needs either a queueName, or a topicName and a subscriptionName")];
  },
};
