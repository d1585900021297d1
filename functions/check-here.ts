import type { SQSEvent } from "aws-lambda";
import { checkConnection } from "../lib/cluster/check/check-connection.ts";
import type { ConnectionReport } from "../lib/cluster/check/report.ts";
import { checkIn } from "./check-event.ts";

/** What \`sync\` is called with: messages of the queue, or a cluster to look at. */
export type SyncEvent = SQSEvent | { readonly check: unknown };

export const isCheck = (event: SyncEvent): event is { readonly check: unknown } => "check" in event;

/** Looks at a cluster. It uses nothing of a sync: credentials and connections are opened anew, so that the answer is not what a warm client remembers. */
export const checkHere = (event: { readonly check: unknown }): Promise<ConnectionReport> => checkConnection(checkIn(event), { clock: Date.now });
