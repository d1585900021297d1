import type { SQSEvent } from "aws-lambda";

/** A cluster to look at, or a metric source to ask. */
export type CheckEvent = { readonly check: unknown } | { readonly checkSource: unknown };

/** What `sync` is called with: messages of the queue, or a check. */
export type SyncEvent = SQSEvent | CheckEvent;

export const isCheck = (event: SyncEvent): event is CheckEvent => "check" in event || "checkSource" in event;
