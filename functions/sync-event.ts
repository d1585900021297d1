import type { SQSEvent } from "aws-lambda";

/** What `sync` is called with: messages of the queue, or a cluster to look at. */
export type SyncEvent = SQSEvent | { readonly check: unknown };

export const isCheck = (event: SyncEvent): event is { readonly check: unknown } => "check" in event;
