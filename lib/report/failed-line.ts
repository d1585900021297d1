import type { LogLine } from "./log-lines.ts";

/** Characters of a message that is none; a message has about a hundred. */
const BODY_CHARACTERS_MAX = 256;

/**
 * The line of a sync that threw: its message will be delivered again. It names the partition, so that one line is enough to know where to look. What the message says stands under
 * keys of its own: the logger drops a field called `message`, which is the sentence.
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

interface Parts {
  readonly cluster?: string;
  readonly partition?: string;
  readonly due?: string;
}

/** Names are short and hold no blanks; the message of a queue that others could fill is not repeated as it stands. */
const NAME = /^[!-~]{1,200}$/;

const partsOf = (body: string): Parts => {
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
    // No message of ours: the line shows the beginning of it.
    return {};
  }
};
