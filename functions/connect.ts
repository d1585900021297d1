import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { apiHandler } from "./api.ts";
import { checkBySync, checkSourceBySync } from "../lib/lambda/check-by-sync.ts";
import { builtByFirst, ENVIRONMENT, environmentOf } from "../lib/lambda/environment.ts";
import { editingParts } from "../lib/lambda/editing.ts";

/**
 * Like `api`, and it also connects clusters. It is the only function that takes a cluster's
 * connection from a request, and it has `sync` look at the cluster before.
 */
export const handler = builtByFirst(() => {
  const names = environmentOf(ENVIRONMENT.connect);
  // This client sends nothing. It has the credentials and the region that the SDK finds, and renews
  // the former.
  const { credentials, region } = new DynamoDBClient().config;
  const sync = { functionName: names.TIDEMARK_SYNC_FUNCTION, credentials, region, clock: Date.now };
  const edges = { checkConnection: checkBySync(sync), checkSource: checkSourceBySync(sync) };
  return apiHandler({ ...editingParts(names, edges), connecting: { kind: "here" } });
});
