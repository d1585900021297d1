import type { WriteBackCounts } from "../../cluster/cluster-client.ts";
import type { Condition } from "../../../rules/model/windows.ts";
import type { AutoscalerReason, CompletedSync, ProjectionState } from "../../report/sync-report.ts";
import type { SyncMessage } from "../../plan/message.ts";
import type { PhaseTimer } from "../sync-ports.ts";
import { stopOf } from "../decide/holds.ts";
import { NOT_FOUND } from "../../../rules/model/http-status.ts";
import type {
  Verdict,
  Loaded,
  LoadedSpecs,
  ClusterAnswers,
  Outside,
  Settled,
  StoredPages,
  WrittenJournal,
  WrittenSummary,
} from "../hand-over.ts";
import { TENANT_OVER_SHARE } from "../../../rules/model/observation.ts";

/** The bytes that the cluster has sent in a sync. */
export const bytesSent = (
  { objects }: Pick<Loaded, "objects">,
  { observed }: Pick<ClusterAnswers, "observed">,
): number => observed.bytes + (objects?.bytes ?? 0);

/** The report of a completed sync, for its log line and its metrics. */
export const completedReport = (
  message: SyncMessage,
  context: {
    readonly loaded: Loaded;
    readonly seen: ClusterAnswers;
    readonly verdicts: readonly Verdict[];
    readonly settled: Settled;
    readonly outside: Outside;
    readonly stored: StoredPages;
    readonly journal: WrittenJournal;
    readonly summary: WrittenSummary;
    readonly writtenBack: WriteBackCounts | undefined;
    readonly projections: readonly ProjectionState[];
    readonly startMs: number;
    readonly endMs: number;
    readonly timer: PhaseTimer;
  },
): CompletedSync => {
  const {
    loaded,
    seen,
    verdicts,
    settled,
    outside,
    stored,
    journal,
    summary,
    writtenBack,
    projections,
    startMs,
    endMs,
    timer,
  } = context;
  const real = timer.real();
  const stopped = stopOf(loaded);
  return {
    kind: "completed",
    cluster: message.cluster,
    partition: message.partition,
    dueMs: message.dueMs,
    ...(message.woken && { woken: message.woken.reason }),
    startMs,
    endMs,
    epoch: loaded.head.epoch,
    autoscalers: verdicts.length,
    ...countsOf(verdicts),
    unreachable: isUnreachable(seen),
    events: [...settled.late, ...settled.own].flatMap(({ event }) => event ?? []),
    outside: outside.events,
    openIntents: settled.open.length + settled.uncounted.length + loaded.head.unreadable.length,
    unreadable: verdicts.filter(({ because }) => UNREADABLE.has(because.reason)).map(reported),
    ruleFailures: ruleFailuresOf(verdicts, seen),
    changed: verdicts.filter(conditionsChanged).map(reported),
    ...(loaded.objects && {
      specProblems: loaded.objects.problems,
      specsOverBudget: loaded.objects.overBudget.length,
    }),
    ...(writtenBack && { writtenBack }),
    calls: seen.observed.calls + (loaded.objects?.calls ?? 0),
    bytes: bytesSent(loaded, seen),
    pagesWritten: stored.written,
    journalPages: journal.pages,
    projections: [
      ...(summary.failure === undefined ? [] : [{ ...ROWS, failure: summary.failure }]),
      ...unreadForecasts(loaded.specs),
      ...projections,
    ],
    overShare: verdicts.filter(({ because }) => because.reason === TENANT_OVER_SHARE).map(reported),
    ...(stopped && { stopped }),
    ...(loaded.specs.all.some((spec) => spec.kind === "ready" && spec.spec.schedule) && {
      zoneData: process.versions["tz"] ?? "unknown",
    }),
    phasesMs: timer.phasesMs,
    ...(real && { real }),
  };
};

/** The rows of readers are made anew by each sync, and are never behind. */
const ROWS: ProjectionState = { name: "rows", behindSeconds: 0 };

/** Forecasts that are stored and could not be read. */
const unreadForecasts = ({ forecasts }: LoadedSpecs): readonly ProjectionState[] =>
  forecasts?.failure === undefined
    ? []
    : [{ name: "forecasts", behindSeconds: 0, failure: forecasts.failure }];

/** Every verdict of each sync passes here. */
const countsOf = (
  verdicts: readonly Verdict[],
): Pick<CompletedSync, "evaluated" | "failed" | "heldBack"> => {
  const counts = { evaluated: 0, failed: 0, heldBack: 0 };
  for (const verdict of verdicts) {
    if (verdict.kind !== "unevaluated") counts.evaluated++;
    if (hasFailed(verdict)) counts.failed++;
    if (verdict.kind === "hold" && verdict.withoutHold?.to !== undefined) counts.heldBack++;
  }
  return counts;
};

/**
 * Failures of rules with their errors; also of an autoscaler whose scale was made before a rule
 * failed to record it.
 */
const ruleFailuresOf = (
  verdicts: readonly Verdict[],
  { failures }: ClusterAnswers,
): CompletedSync["ruleFailures"] =>
  verdicts.flatMap((verdict) => {
    const { autoscaler } = verdict;
    if (autoscaler.kind === "unreadable") return NO_FAILURES;
    const { namespace, name, uid } = autoscaler.record;
    const error = failures.of(uid) ?? (verdict.kind === "unevaluated" ? verdict.error : undefined);
    return error ? [{ namespace, name, error }] : NO_FAILURES;
  });

const NO_FAILURES: CompletedSync["ruleFailures"] = [];

/**
 * On doubt, "reachable": without a question there is no failure, and an answer about one workload
 * is an answer.
 */
export const isUnreachable = ({ observed }: ClusterAnswers): boolean => {
  for (const { observation } of observed.observations.values()) {
    const { scale } = observation;
    if (scale.kind !== "failed" || scale.failure.code === NOT_FOUND) return false;
  }
  return observed.observations.size > 0;
};

const UNREADABLE: ReadonlySet<string> = new Set([
  "UnreadableAutoscaler",
  "InvalidSpec",
  "UnreadableWindows",
  "UnreadableIntent",
]);

export const hasFailed = (verdict: Verdict): boolean =>
  verdict.kind !== "unevaluated" && verdict.decision.kind === "hold" && verdict.decision.failed;

const reported = ({ autoscaler, because }: Verdict): AutoscalerReason => {
  const { namespace, name } = autoscaler.kind === "unreadable" ? autoscaler : autoscaler.record;
  return { namespace, name, ...because };
};

const conditionsChanged = (verdict: Verdict): boolean => {
  if (verdict.kind === "unevaluated") return false;
  const before: readonly Condition[] = verdict.input.windows.status.conditions;
  const after: readonly Condition[] = verdict.decision.windows.status.conditions;
  if (before === after) return false;
  const same = ({ type, status, reason }: Condition, at: number): boolean =>
    type === after[at]?.type && status === after[at].status && reason === after[at].reason;
  return before.length !== after.length || !before.every(same);
};
