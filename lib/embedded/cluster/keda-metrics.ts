import { asList, asObject, asText, type Json } from "../../rules/model/json.ts";
import { SCALED_OBJECT_KIND } from "./objects/custom-objects.ts";
import type { ServedWorld } from "./served-resources.ts";
import { queriedValue, recordedQueue } from "./services.ts";

const METRIC = /^s(\d+)-/;
const OWNER = /^scaledobject\.keda\.sh\/name=(.+)$/;

/** The field that names the queue of a trigger, by its type; messages in flight may count, too. */
const QUEUES: Readonly<Record<string, { readonly field: string; readonly inFlight?: true }>> = {
  "aws-sqs-queue": { field: "queueURL", inFlight: true },
  kafka: { field: "consumerGroup" },
  rabbitmq: { field: "queueName" },
  redis: { field: "listName" },
};

/**
 * What the metrics server of KEDA answers for a trigger of a ScaledObject, as the sources of the
 * run answer the same question; undefined where they cannot, and then the metric is the load.
 */
export const kedaValue = (
  { objects, workloads, nowMs }: Pick<ServedWorld, "objects" | "workloads" | "nowMs">,
  {
    namespace,
    metric,
    selector,
  }: { readonly namespace: string; readonly metric: string; readonly selector: string },
): number | undefined => {
  const [, index] = METRIC.exec(metric) ?? [];
  const [, name] = OWNER.exec(selector) ?? [];
  const owner = objects.find(
    ({ kind, metadata }) =>
      kind === SCALED_OBJECT_KIND.kind &&
      metadata.namespace === namespace &&
      metadata["name"] === name,
  );
  if (index === undefined || owner === undefined) return undefined;
  const trigger = asObject(asList(asObject(owner["spec"])["triggers"])[Number(index)]);
  return triggerValue(trigger, { workloads, nowMs });
};

const triggerValue = (
  { type, metadata }: Json,
  scraped: Pick<ServedWorld, "workloads" | "nowMs">,
): number | undefined => {
  const fields = asObject(metadata);
  // KEDA reads an answer without a series as 0.
  if (type === "prometheus") return queriedValue(asText(fields["query"]), scraped, 0);
  const counted = Object.hasOwn(QUEUES, String(type)) ? QUEUES[String(type)] : undefined;
  if (counted === undefined) return undefined;
  const name = asText(fields[counted.field]).split("/").at(-1) ?? "";
  const queue = recordedQueue(scraped.workloads, name, scraped.nowMs);
  return queue && queue.waiting + (counted.inFlight ? queue.inFlight : 0);
};
