import type { LogLine } from "./log-lines.ts";

/** The line of something that a client of a cluster could not look at, told once in its life. Nothing failed, but a rule goes without what it would have seen. */
export const noticeLine = (message: string): LogLine => ({ level: "warn", message, fields: { outcome: "not seen" } });
