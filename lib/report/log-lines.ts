import type { ScaleEventRecord } from "../model/records.ts";
import type { CompletedSync, DroppedSync, DropReason, SyncReport, ToldAutoscaler } from "./sync-report.ts";

/** One structured line: the message in words, and fields for machines. */
export interface LogLine {
  readonly level: "info" | "warn" | "error";
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Autoscalers named in the line of a sync; the others are counted. */
const NAMED_MAX = 5;

/** The lines of one sync: one for the sync itself, one per scale, one per autoscaler whose conditions changed. An autoscaler without news costs no line. */
export const logLines = (report: SyncReport): readonly LogLine[] =>
  report.kind === "dropped" ? [droppedLine(report)] : [completedLine(report), ...report.events.map(eventLine), ...report.changed.map(changedLine)];

const DROPPED: Readonly<Record<DropReason, { readonly level: LogLine["level"]; readonly words: string }>> = {
  stale: { level: "warn", words: "the message is older than three periods" },
  early: { level: "error", words: "it is due in the future: whatever sent it, or the clock of this machine, is wrong" },
  clock: { level: "error", words: "the clock of this machine is wrong by more than two seconds" },
  done: { level: "info", words: "this due time or a later one is done" },
  held: { level: "warn", words: "another sync holds the lease" },
  removed: { level: "info", words: "there is no such partition" },
  newer: { level: "error", words: "a later release has claimed the partition by rules that this one does not know; deploy that release again" },
  lost: { level: "warn", words: "another sync claimed the partition meanwhile" },
};

const droppedLine = (report: DroppedSync): LogLine => {
  const { level, words } = DROPPED[report.why];
  return {
    level,
    message: `Dropped a sync of "${report.cluster}/${report.partition}": ${words}`,
    fields: { ...base(report), outcome: report.why, ...(report.wrongByMs !== undefined && { clockWrongByMs: report.wrongByMs }) },
  };
};

const base = ({ cluster, partition, dueMs, startMs, endMs }: SyncReport) => ({
  cluster,
  partition,
  due: new Date(dueMs).toISOString(),
  lagMs: startMs - dueMs,
  tookMs: endMs - startMs,
});

const completedLine = (report: CompletedSync): LogLine => ({
  level: report.unreadable.length > 0 ? "error" : report.failed > 0 ? "warn" : "info",
  message: sentence(report),
  fields: {
    ...base(report),
    outcome: "completed",
    epoch: report.epoch,
    autoscalers: report.autoscalers,
    evaluated: report.evaluated,
    failed: report.failed,
    scales: report.events.length,
    openIntents: report.openIntents,
    calls: report.calls,
    bytes: report.bytes,
    pagesWritten: report.pagesWritten,
    journalPages: report.journalPages,
    phasesMs: report.phasesMs,
    ...(report.unreadable.length > 0 && { unreadable: report.unreadable.length, unreadableFirst: report.unreadable.slice(0, NAMED_MAX) }),
    ...(report.heldBack > 0 && { heldBack: report.heldBack }),
    ...(report.stopped && { stopped: report.stopped.reason }),
  },
});

const sentence = (report: CompletedSync): string => {
  const what = `Synced "${report.cluster}/${report.partition}"`;
  const found = `${report.evaluated} of ${report.autoscalers} autoscalers evaluated, ${report.events.length} scales settled, ${report.failed} failed`;
  return report.stopped ? `${what} without a scale, ${report.heldBack} held back: ${report.stopped.message}; ${found}` : `${what}: ${found}`;
};

const OUTCOME_WORDS: Readonly<Record<ScaleEventRecord["outcome"], string>> = {
  applied: "Scaled",
  refused: "Could not scale",
  unknown: "Cannot tell whether it scaled",
};

const eventLine = (event: ScaleEventRecord): LogLine => ({
  level: event.outcome === "applied" ? "info" : "warn",
  message: `${OUTCOME_WORDS[event.outcome]} "${event.namespace}/${event.name}" in cluster "${event.cluster}" from ${event.from} to ${event.to}: ${event.detail ?? event.message}`,
  fields: {
    cluster: event.cluster,
    namespace: event.namespace,
    autoscaler: event.name,
    event: event.id,
    from: event.from,
    to: event.to,
    reason: event.reason,
    outcome: event.outcome,
  },
});

const changedLine = ({ namespace, name, reason, message }: ToldAutoscaler): LogLine => ({
  level: "info",
  message: `Conditions of "${namespace}/${name}" changed: ${message}`,
  fields: { namespace, autoscaler: name, reason },
});
