import { AZURE_SERVICE_BUS } from "./azure-service-bus.ts";
import { NATS_JETSTREAM } from "./nats.ts";
import { PUBSUB } from "./pubsub.ts";
import { KAFKA } from "./kafka.ts";
import { RABBITMQ } from "./rabbitmq.ts";
import type { Recipe } from "./recipe.ts";
import { REDIS_LIST, REDIS_STREAM } from "./redis.ts";

/** The recipes by the type of the trigger. Another one is a line here. */
export const RECIPES: ReadonlyMap<string, Recipe> = new Map([
  ["kafka", KAFKA],
  ["apache-kafka", KAFKA],
  ["rabbitmq", RABBITMQ],
  ["redis", REDIS_LIST],
  ["redis-cluster", REDIS_LIST],
  ["redis-sentinel", REDIS_LIST],
  ["redis-streams", REDIS_STREAM],
  ["redis-cluster-streams", REDIS_STREAM],
  ["redis-sentinel-streams", REDIS_STREAM],
  ["nats-jetstream", NATS_JETSTREAM],
  ["azure-servicebus", AZURE_SERVICE_BUS],
  ["gcp-pubsub", PUBSUB],
]);
