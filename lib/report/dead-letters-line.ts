import type { LogLine } from "./log-lines.ts";

/** A status that could not tell how many messages are in the dead-letter queues. */
export const deadLettersUnknownLine = (error: unknown): LogLine => ({
  level: "warn",
  message: "Cannot count the messages in the dead-letter queues: the status says that they are not known",
  fields: { why: error instanceof Error ? error.message : String(error) },
});
