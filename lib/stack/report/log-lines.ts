import { foreignText } from "../../rules/model/foreign-text.ts";
import { present } from "../../rules/model/json.ts";
import {
  type CompletedSync,
  type DroppedSync,
  type DropReason,
  isFarBehind,
  type SyncReport,
} from "./sync-report.ts";
import type { EventRecord } from "../../rules/model/scale-records.ts";

/** One structured log line: a message for people, and fields for machines. */
export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Unreadable autoscalers named in the line of a sync; the others are counted. */
const UNREADABLE_NAMED_MAX = 5;
/** Autoscalers named in the line of changed conditions; the others are counted. */
const CHANGED_NAMED_MAX = 10;
/**
 * Failed rules with a line of their own; the others are counted. One mistake in a rule may meet
 * every autoscaler.
 */
const RULE_FAILURES_MAX = 5;
/** Some thirty frames. */
const STACK_CHARACTERS_MAX = 4_000;

/** Namespaces over their share that the line of a sync names. */
const OVER_SHARE_NAMED_MAX = 10;

/**
 * The log lines of one sync: one for the sync, one per scale, and one for all changed conditions.
 */
export const logLines = (report: SyncReport): readonly LogLine[] =>
  report.kind === "dropped"
    ? [droppedLine(report)]
    : [
        completedLine(report),
        ...ruleFailureLines(report),
        ...[...report.outside, ...report.events].map(eventLine),
        ...changedLines(report),
      ];

const DROPPED: Readonly<
  Record<DropReason, { readonly level: LogLine["level"]; readonly words: string }>
> = {
  stale: { level: "warn", words: "the message is older than three periods" },
  early: {
    level: "error",
    words: "it is due in the future: the clock of its sender or of this machine is wrong",
  },
  clock: { level: "error", words: "the clock of this machine is wrong by more than two seconds" },
  done: { level: "info", words: "a sync of this due time or a later one has completed" },
  held: { level: "warn", words: "another sync holds the lease" },
  removed: { level: "info", words: "the partition does not exist any more" },
  restored: {
    level: "error",
    words:
      "the tables were restored or are a copy, so that a freeze, deletions and scales may be missing in them; nothing is scaled until `tidemark fleet adopt`",
  },
  newer: {
    level: "error",
    words:
      "a later release has claimed the partition, and this release does not know its rules; deploy the later release again",
  },
  moved: {
    level: "warn",
    words: "the fleet has moved to another region, or is about to; this stack does nothing",
  },
  overwritten: {
    level: "error",
    words:
      "another region has written over it after the fleet moved here, so that scales may be missing in it; nothing is scaled until `tidemark fleet move --to` this region is run again",
  },
  lost: { level: "warn", words: "another sync claimed the partition in the meantime" },
};

const droppedLine = (report: DroppedSync): LogLine => {
  const { level, words } = DROPPED[report.why];
  return {
    level,
    message: `Dropped a sync of "${report.cluster}/${report.partition}": ${words}`,
    fields: {
      ...base(report),
      outcome: report.why,
      ...(report.wrongByMs !== undefined && { clockWrongByMs: report.wrongByMs }),
    },
  };
};

const base = ({ cluster, partition, dueMs, woken, startMs, endMs }: SyncReport) => ({
  cluster,
  partition,
  due: new Date(dueMs).toISOString(),
  ...(woken !== undefined && { woken }),
  lagMs: startMs - dueMs,
  tookMs: endMs - startMs,
});

const completedLine = ({ specProblems = [], ...report }: CompletedSync): LogLine => ({
  level: levelOf({ ...report, specProblems }),
  message: sentence(report),
  fields: {
    ...base(report),
    outcome: "completed",
    ...fieldsOf(report, "epoch", "autoscalers", "evaluated", "failed"),
    scales: report.events.length,
    ...fieldsOf(
      report,
      "openIntents",
      "calls",
      "bytes",
      "pagesWritten",
      "journalPages",
      "phasesMs",
    ),
    ...(report.projections.length > 0 && { projections: report.projections }),
    ...(report.real && {
      realMs: tenths(report.real.tookMs),
      realPhasesMs: mapped(report.real.phasesMs, tenths),
    }),
    ...(report.unreadable.length > 0 && {
      unreadable: report.unreadable.length,
      unreadableFirst: report.unreadable.slice(0, UNREADABLE_NAMED_MAX),
    }),
    ...(specProblems.length > 0 && { specProblems }),
    ...((report.specsOverBudget ?? 0) > 0 && { specsOverBudget: report.specsOverBudget }),
    ...(isIncomplete(report.writtenBack) && { writtenBack: report.writtenBack }),
    ...(report.overShare.length > 0 && {
      overShare: report.overShare.length,
      overShareNamespaces: namespacesOf(report.overShare),
    }),
    ...(report.heldBack > 0 && { heldBack: report.heldBack }),
    ...(report.stopped && { stopped: report.stopped.reason }),
    ...zoneFields(report),
  },
});

/** These fields of a report, under their names, as far as there are any. */
const fieldsOf = <Report extends object>(report: Report, ...names: readonly (keyof Report)[]) =>
  present(Object.fromEntries(names.map((name) => [name, report[name]])));

const tenths = (ms: number): number => Math.round(ms * 10) / 10;

const mapped = (
  record: Readonly<Record<string, number>>,
  of: (value: number) => number,
): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, of(value)]));

/**
 * The zone data that the tests of this release ran with. Other data may move a window by an hour,
 * without any error.
 */
export const ZONE_DATA_TESTED = "2026c";

const zoneFields = ({ zoneData }: CompletedSync) => {
  if (zoneData === undefined) return {};
  return { zoneData, ...(zoneData !== ZONE_DATA_TESTED && { zoneDataExpected: ZONE_DATA_TESTED }) };
};

/** The tenants that took more than their share. */
const namespacesOf = (overShare: CompletedSync["overShare"]): readonly string[] =>
  [...new Set(overShare.map(({ namespace }) => namespace))].slice(0, OVER_SHARE_NAMED_MAX);

/** What was written back whole is in no line. */
const isIncomplete = (writtenBack: CompletedSync["writtenBack"]): boolean =>
  writtenBack !== undefined && writtenBack.failed + writtenBack.left > 0;

const ruleFailureLines = ({
  cluster,
  partition,
  ruleFailures,
}: CompletedSync): readonly LogLine[] =>
  ruleFailures.slice(0, RULE_FAILURES_MAX).map(({ namespace, name, error }) => ({
    level: "error",
    message: `A rule failed for "${namespace}/${name}" in cluster "${cluster}", which holds: ${foreignText(`${error.name}: ${error.message}`)}; this is a mistake in Tidemark, please report it`,
    fields: {
      cluster,
      partition,
      namespace,
      autoscaler: name,
      ruleFailures: ruleFailures.length,
      stack: (error.stack ?? "").slice(0, STACK_CHARACTERS_MAX),
    },
  }));

/**
 * A steady sync is at the level of debugging: CloudWatch charges for each byte, and its metrics say
 * that it ran.
 */
const levelOf = (report: CompletedSync): LogLine["level"] => {
  if (report.unreadable.length + report.ruleFailures.length > 0) return "error";
  const isImpaired = report.projections.some(
    (one) => one.failure !== undefined || isFarBehind(one),
  );
  if (
    report.failed > 0 ||
    isImpaired ||
    report.overShare.length > 0 ||
    (report.specProblems ?? []).length > 0
  )
    return "warn";
  const steady =
    report.events.length === 0 &&
    report.changed.length === 0 &&
    report.openIntents === 0 &&
    !report.stopped;
  return steady ? "debug" : "info";
};

const sentence = (report: CompletedSync): string => {
  const what = `Synced "${report.cluster}/${report.partition}"`;
  const counts = `${report.evaluated} of ${report.autoscalers} autoscalers evaluated, ${report.events.length} scales settled, ${report.failed} failed`;
  return report.stopped
    ? `${what} without a scale, ${report.heldBack} held back: ${report.stopped.message}; ${counts}`
    : `${what}: ${counts}`;
};

const OUTCOME_WORDS: Readonly<Record<EventRecord["outcome"], string>> = {
  applied: "Scaled",
  refused: "Could not scale",
  unknown: "It is not known whether Tidemark scaled",
  outside: "The count was changed of",
};

const eventLine = (event: EventRecord): LogLine => ({
  level: event.outcome === "applied" || event.outcome === "outside" ? "info" : "warn",
  message: `${OUTCOME_WORDS[event.outcome]} "${event.namespace}/${event.name}" in cluster "${event.cluster}" ${[`from ${event.from} to ${event.to}`, event.detail ?? event.message].filter(Boolean).join(": ")}`,
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

/**
 * One line however many autoscalers changed, so that an outage of a cluster does not log a line for
 * each. `describe` shows every condition.
 */
const changedLines = ({ cluster, partition, changed }: CompletedSync): readonly LogLine[] => {
  if (changed.length === 0) return [];
  const first = changed
    .slice(0, CHANGED_NAMED_MAX)
    .map(({ namespace, name, message }) => `"${namespace}/${name}": ${message}`);
  const rest = changed.length > first.length ? `; and ${changed.length - first.length} more` : "";
  const reasons = Object.fromEntries(
    [...Map.groupBy(changed, ({ reason }) => reason)].map(([reason, same]) => [
      reason,
      same.length,
    ]),
  );
  return [
    {
      level: "info",
      message: `Conditions of ${changed.length} ${changed.length === 1 ? "autoscaler" : "autoscalers"} of "${cluster}/${partition}" changed: ${first.join("; ")}${rest}`,
      fields: {
        cluster,
        partition,
        changed: changed.length,
        changedFirst: changed.slice(0, CHANGED_NAMED_MAX),
        reasons,
      },
    },
  ];
};

/**
 * The log line for something that a cluster's client could not read. It is logged once per client.
 * The sync goes on, but a rule misses this input.
 */
export const noticeLine = (message: string): LogLine => ({
  level: "warn",
  message,
  fields: { outcome: "not seen" },
});
