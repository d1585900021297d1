import { setTimeout as wait } from "node:timers/promises";
import { SQSClient } from "@aws-sdk/client-sqs";
import type { MessageQueue } from "../../stack/plan/send-messages.ts";
import { LOOPBACK_CREDENTIALS, LOOPBACK_REGION } from "../host/loopback.ts";
import { SYNC_QUEUE } from "../layout.ts";
import { LOCAL_ACCOUNT } from "./message.ts";

/** The queue of syncs of a run, for its functions and for commands beside it. */
export const localQueue = (
  endpoint: string,
): { readonly queue: MessageQueue; readonly close: () => void } => {
  const client = new SQSClient({
    endpoint,
    region: LOOPBACK_REGION,
    credentials: LOOPBACK_CREDENTIALS,
  });
  const queueUrl = `${endpoint}/${LOCAL_ACCOUNT}/${SYNC_QUEUE}`;
  return {
    queue: { client, queueUrl, wait, random: Math.random },
    close: () => client.destroy(),
  };
};
