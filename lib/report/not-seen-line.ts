import type { LogLine } from "./log-lines.ts";

/** The log line for something that a cluster's client could not read. It is logged once per client. The sync goes on, but a rule misses this input. */
export const noticeLine = (message: string): LogLine => ({ level: "warn", message, fields: { outcome: "not seen" } });
