import type { LogLine } from "./log-lines.ts";

/** The result of one planning call. */
export interface PlanReport {
  readonly fromMs: number;
  readonly untilMs: number;
  /** The begins of earlier minutes that no call had planned, so that this call planned what was still ahead of them. At the first call of a stack these are two. */
  readonly missed: readonly number[];
  readonly clusters: number;
  readonly sent: number;
  /** Messages left out because the call came too late for them. */
  readonly skipped: number;
  /** Clusters whose record cannot be read, with the reason. Nothing is planned for them. */
  readonly unreadable: readonly { readonly name: string; readonly message: string }[];
}

/** The log line of one planning call. */
export const planLine = (report: PlanReport): LogLine => ({
  level: report.unreadable.length > 0 ? "error" : report.skipped > 0 ? "warn" : "info",
  message: `Planned ${report.sent} syncs of ${report.clusters} clusters`,
  fields: {
    from: new Date(report.fromMs).toISOString(),
    until: new Date(report.untilMs).toISOString(),
    ...(report.missed.length > 0 && { missed: report.missed.map((minuteMs) => new Date(minuteMs).toISOString()) }),
    sent: report.sent,
    skipped: report.skipped,
    ...(report.unreadable.length > 0 && { unreadable: report.unreadable }),
  },
});

/** The log line of a cluster that could not be planned right after its edit. */
export const planNowFailedLine = (cluster: string, error: unknown): LogLine => ({
  level: "warn",
  message: `Cannot plan cluster "${cluster}" at once: the scheduler plans it within a minute`,
  fields: { cluster, why: error instanceof Error ? error.message : String(error) },
});
