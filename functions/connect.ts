import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import { apiHandler } from "./api.ts";
import { moveByItself } from "../lib/answers/service/clusters/move-fleet.ts";
import { checkBySync, checkSourceBySync } from "../lib/lambda/check-by-sync.ts";
import { builtByFirst, ENVIRONMENT, environmentOf } from "../lib/lambda/environment.ts";
import { type ApiDependencies, editingParts } from "../lib/lambda/editing.ts";
import type { FunctionUrlHandler } from "../lib/lambda/function-url.ts";
import { witnessIn } from "../lib/lambda/witness.ts";
import { takeLine } from "../lib/stack/report/function-lines.ts";

/**
 * The input of the schedule that looks at the leases of the fleet. No request of a URL has it at
 * this place, and whoever sends it has done only what the next minute does anyway.
 */
const look = z.object({ lookAtLeases: z.literal(true) });

/** Who moved the fleet, where no person did. */
const THE_STANDBY = "the standby";

/** Takes the fleet where this stack is a standby and the fleet is held by no stack for long. */
const lookingHandler =
  ({ tables, insert, clock, newUid, reporter, edges }: Omit<ApiDependencies, "connecting">) =>
  async (): Promise<undefined> => {
    const context = { tables, insert, clock, newUid, ...edges, by: THE_STANDBY };
    reporter.line(takeLine(await moveByItself(context)));
    return undefined;
  };

/** Answers requests, and looks at the leases where the event says so. */
export type ConnectHandler = (
  ...event: Parameters<FunctionUrlHandler>
) => Promise<Awaited<ReturnType<FunctionUrlHandler>> | undefined>;

export const connectHandler = (parts: Omit<ApiDependencies, "connecting">): ConnectHandler => {
  const answer = apiHandler({ ...parts, connecting: { kind: "here" } });
  const lookAtLeases = lookingHandler(parts);
  return (event, invocation) =>
    look.safeParse(event).success ? lookAtLeases() : answer(event, invocation);
};

/**
 * Like `api`, and it also connects clusters. It is the only function that takes a cluster's
 * connection from a request, and it has `sync` look at the cluster before. Where a parameter says
 * so, a schedule calls it each minute, so that a standby takes the fleet by itself.
 */
export const handler = builtByFirst(() => {
  const names = environmentOf(ENVIRONMENT.connect);
  // This client sends nothing. It has the credentials and the region that the SDK finds, and renews
  // the former.
  const { credentials, region } = new DynamoDBClient().config;
  const sync = { functionName: names.TIDEMARK_SYNC_FUNCTION, credentials, region, clock: Date.now };
  const edges = {
    ...{ checkConnection: checkBySync(sync), checkSource: checkSourceBySync(sync) },
    witness: witnessIn(names),
  };
  return connectHandler(editingParts(names, edges));
});
