import type { LogLine } from "./log-lines.ts";

/** Characters of an unreadable message that the log shows. A message has about a hundred. */
const BODY_CHARACTERS_MAX = 256;

/**
 * The log line of a sync that threw. SQS delivers its message again. The line names the partition. The error is under a key of its own, because the logger
 * drops a field called `message`.
 */
export const failedLine = (error: unknown, body: string): LogLine => {
  const { cluster, partition, due } = partsOf(body);
  const named = cluster !== undefined && partition !== undefined;
  return {
    level: "error",
    message: `A sync ${named ? `of "${cluster}/${partition}" ` : ""}failed, and its message will be delivered again`,
    fields: {
      ...(named ? { cluster, partition } : { body: JSON.stringify(body.slice(0, BODY_CHARACTERS_MAX)) }),
      ...(due !== undefined && { due }),
      outcome: "failed",
      error: error instanceof Error ? error : new Error(String(error)),
    },
  };
};

interface MessageParts {
  readonly cluster?: string;
  readonly partition?: string;
  readonly due?: string;
}

/** Names that the log repeats. Anything else could come from another sender to the queue. */
const NAME = /^[!-~]{1,200}$/;

const partsOf = (body: string): MessageParts => {
  const value = parsed(body);
  const [cluster, partition] = [value["cluster"], value["partition"]].map((text) => (typeof text === "string" && NAME.test(text) ? text : undefined));
  const dueMs = value["dueMs"];
  const due = typeof dueMs === "number" && Math.abs(dueMs) <= LATEST_MS ? new Date(dueMs).toISOString() : undefined;
  return { ...(cluster !== undefined && { cluster }), ...(partition !== undefined && { partition }), ...(due !== undefined && { due }) };
};

const LATEST_MS = 8_640_000_000_000_000;

const parsed = (body: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    // Not a sync message: the line shows its beginning.
    return {};
  }
};
