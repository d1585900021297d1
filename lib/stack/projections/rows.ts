import type { AutoscalerUid } from "../../rules/model/ids.ts";
import type { Evaluation, ScaleTotals, UncountedScale } from "../../rules/model/scale-records.ts";
import type { AutoscalerSpec } from "../../rules/model/spec.ts";
import {
  ROW_PROBLEM_KINDS,
  type RowProblemKind,
  type ProblemTimes,
  type SummaryRow,
  type SummaryTotals,
} from "../../rules/model/summary.ts";
import type { Status } from "../../rules/model/windows.ts";
import { askDialect } from "../../rules/policy/dialects.ts";
import {
  countsOf,
  type EvaluatedCounts,
  evaluatedState,
  heldBy,
  isAtMax,
} from "../report/evaluation-state.ts";
import { type MetricReading, metricText } from "../report/metric-reading.ts";
import { summaryKeyOf } from "../store/summary/summary-codec.ts";

/** How a scale of the autoscaler ended in this sync. */
type Ended = Pick<UncountedScale, "from" | "to" | "outcome">;

/**
 * What the state of an autoscaler follows from, wherever it is asked for: in the sync that makes
 * its row, in a list of a partition without rows, in its own description and in its series.
 */
export interface RowSource {
  readonly uid: AutoscalerUid;
  /** Absent where its manifest cannot be followed. */
  readonly spec: AutoscalerSpec | undefined;
  /** True where the manifest is not read yet, so that nothing is said of it. */
  readonly isUnread?: boolean;
  /** The newest fact; absent before the first. */
  readonly evaluation: Evaluation | undefined;
  /** What its windows page says, where the fact has no status. */
  readonly status?: Status | undefined;
  /** True where a sync after the fact has completed, so that what was scaled in it is reached. */
  readonly isPast?: boolean;
  /** Its row after the sync before; absent where none is known. */
  readonly before?: SummaryRow | undefined;
  readonly ended?: readonly Ended[];
  readonly nowMs: number;
}

/** Targets that a table shows; the others are counted, as kubectl does. */
const TARGETS_SHOWN = 2;

/**
 * A row without the targets. They move in every sync, so that they are no change that a reader must
 * see at once.
 */
export type BareRow = Omit<SummaryRow, "targets" | "moreTargets" | "missing">;

/** One row of each autoscaler is made in every sync. */
export const bareRowOf = (source: RowSource): BareRow => {
  const { spec, evaluation } = source;
  const status = evaluation?.status ?? source.status;
  const row: Making = {
    key: summaryKeyOf(source.uid),
    state: spec || source.isUnread ? evaluatedState(evaluation) : "invalid",
    reason: evaluation?.because.reason ?? "",
  };
  const holder = evaluation && heldBy(evaluation);
  const totals = totalsOf(source);
  const since = problemTimes(source);
  if (holder !== undefined) row.heldBy = holder;
  if (status) addCounts(row, source, countsOf(evaluation, status));
  addBounds(row, evaluation);
  addMarks(row, source);
  if (status?.lastScaleMs !== undefined) row.lastScaleMs = status.lastScaleMs;
  if (totals) row.totals = totals;
  if (since) row.since = since;
  // A sync that does not look at them leaves them as they were.
  if (source.before?.findings !== undefined) row.findings = source.before.findings;
  return row;
};

const addCounts = (
  row: Making,
  source: RowSource,
  { current, desired, lastKnown }: EvaluatedCounts,
): void => {
  const shown = (isReached(source) ? desired : current) ?? lastKnown?.replicas;
  if (shown !== undefined) row.current = shown;
  if (lastKnown) row.unreadMs = lastKnown.sinceMs ?? 0;
  if (desired !== undefined) row.desired = desired;
};

/** A fact has the count before its scale. */
const isReached = ({ evaluation, isPast }: RowSource): boolean =>
  isPast === true && evaluation?.kind === "scale" && evaluation.refused === undefined;

type Making = { -readonly [Field in keyof BareRow]: BareRow[Field] };

/** The bounds that an override or a schedule sets. */
const addBounds = (row: Making, evaluation: Evaluation | undefined): void => {
  const bounds = evaluation?.bounds;
  if (!bounds) return;
  if (bounds.minBy) row.min = bounds.min;
  if (bounds.maxBy) row.max = bounds.max;
  if (bounds.minBy?.kind === "override" || bounds.maxBy?.kind === "override" || bounds.holds)
    row.overridden = true;
};

/** What the series of `/metrics` follow from beside the counts. */
const addMarks = (row: Making, source: RowSource): void => {
  if (isSwitchedOff(source.evaluation)) row.switchedOff = true;
  if (hasBands(source)) row.hasBands = true;
};

const isSwitchedOff = (evaluation: Evaluation | undefined): boolean =>
  evaluation?.failed === false &&
  evaluation.status !== undefined &&
  evaluation.status.conditions.some(
    (condition) => condition.type === "ScalingActive" && condition.status === "False",
  );

const hasBands = ({ spec, evaluation }: RowSource): boolean =>
  evaluation?.gauges !== undefined ||
  (spec !== undefined && askDialect(spec, ({ explains }) => explains.publishesBands));

/** With how many things the doctor finds, where that was looked at in this sync. */
export const withFindings = ({ findings: _before, ...row }: BareRow, findings: number): BareRow =>
  findings > 0 ? { ...row, findings } : row;

/** The whole row: the one that is written, once a minute or where it changed. */
export const withTargets = (row: BareRow, readings: readonly MetricReading[]): SummaryRow => {
  const missing = readings.filter(({ kind }) => kind === "failed").length;
  return {
    ...row,
    ...(missing > 0 && { missing }),
    targets: readings.slice(0, TARGETS_SHOWN).map(metricText),
    ...(readings.length > TARGETS_SHOWN && { moreTargets: readings.length - TARGETS_SHOWN }),
  };
};

const NONE_ENDED: readonly Ended[] = [];
const NOTHING_SCALED: Omit<ScaleTotals, "epoch"> = { ups: 0, added: 0, downs: 0, removed: 0 };

/**
 * Scales that were made are counted by the windows page; only the summary counts the refused ones.
 */
const totalsOf = ({
  evaluation,
  before,
  ended = NONE_ENDED,
}: RowSource): SummaryTotals | undefined => {
  if (!evaluation?.totals && !before?.totals && ended.length === 0) return undefined;
  const { ups, added, downs, removed } = evaluation?.totals ?? NOTHING_SCALED;
  const refused = ended.filter(({ outcome }) => outcome === "refused");
  const refusedUps =
    (before?.totals?.refusedUps ?? 0) + refused.filter(({ from, to }) => to > from).length;
  const refusedDowns =
    (before?.totals?.refusedDowns ?? 0) + refused.filter(({ from, to }) => to < from).length;
  return ups + downs + refusedUps + refusedDowns > 0
    ? { ups, added, downs, removed, refusedUps, refusedDowns }
    : undefined;
};

/** A source with a fact: without one there is no problem. */
type Found = RowSource & { readonly evaluation: Evaluation };

const isFound = (source: RowSource): source is Found => source.evaluation !== undefined;

/** A problem that goes on keeps its time. */
const problemTimes = (source: RowSource): ProblemTimes | undefined => {
  // Most autoscalers have none.
  if (!isFound(source) || !ROW_PROBLEM_KINDS.some((kind) => HAS_PROBLEM[kind](source)))
    return undefined;
  const { before, nowMs } = source;
  const present = ROW_PROBLEM_KINDS.filter((kind) => HAS_PROBLEM[kind](source));
  return Object.fromEntries(present.map((kind) => [kind, before?.since?.[kind] ?? nowMs]));
};

/**
 * A scale was refused, in this sync or before one that could not decide or wants another count
 * still.
 */
const isRefused = ({ evaluation, before, ended = NONE_ENDED }: Found): boolean => {
  const newest = ended.at(-1);
  if (newest) return newest.outcome === "refused";
  return before?.since?.refused !== undefined && (evaluation.failed || wantsAnother(evaluation));
};

const wantsAnother = ({ kind, from, steps, withoutHold }: Evaluation): boolean =>
  kind === "scale" || withoutHold?.to !== undefined || (steps.at(-1)?.after ?? from) !== from;

const HAS_PROBLEM: Readonly<Record<RowProblemKind, (source: Found) => boolean>> = {
  refused: isRefused,
  failing: ({ evaluation }) => evaluation.failed,
  unmeasured: ({ evaluation }) => evaluation.metrics.some(({ kind }) => kind === "failed"),
  atMax: ({ evaluation }) => isAtMax(evaluation),
  contested: ({ evaluation }) => evaluation.contested !== undefined,
};

/**
 * True where a reader of tables sees the same. The targets move in every sync, and are written once
 * a minute.
 */
export const isSameRow = (one: BareRow, other: SummaryRow | undefined): boolean =>
  other !== undefined &&
  SHOWN.every((field) => one[field] === other[field]) &&
  seconds(one.lastScaleMs ?? 0) === seconds(other.lastScaleMs ?? 0) &&
  isSameTotals(one.totals, other.totals) &&
  ROW_PROBLEM_KINDS.every(
    (problem) => (one.since?.[problem] === undefined) === (other.since?.[problem] === undefined),
  );

/** Every row of each sync passes here, so the fields are compared and not their texts. */
const SHOWN = [
  "key",
  "state",
  "heldBy",
  "reason",
  "current",
  "unreadMs",
  "desired",
  "min",
  "max",
  "overridden",
  "switchedOff",
  "hasBands",
] as const;
const TOTALS = [
  "ups",
  "added",
  "downs",
  "removed",
  "refusedUps",
  "refusedDowns",
] as const satisfies readonly (keyof SummaryTotals)[];

const isSameTotals = (one: SummaryTotals | undefined, other: SummaryTotals | undefined): boolean =>
  one === other || TOTALS.every((field) => one?.[field] === other?.[field]);

/** What a table shows of a row, without what moves in every sync. */
export const shownIn = ({ lastScaleMs = 0, since = {}, ...row }: SummaryRow): string =>
  JSON.stringify([
    row.key,
    row.state,
    row.heldBy,
    row.reason,
    row.current,
    row.unreadMs,
    row.desired,
    row.min,
    row.max,
    row.overridden,
    row.switchedOff,
    seconds(lastScaleMs),
    row.totals,
    Object.keys(since),
  ]);

const seconds = (ms: number): number => Math.floor(ms / 1_000);

/** How scales ended in this sync, by autoscaler, in order of time. */
export const endedScales = (
  scales: readonly (Ended & { readonly uid: AutoscalerUid })[],
): ReadonlyMap<AutoscalerUid, readonly Ended[]> => Map.groupBy(scales, ({ uid }) => uid);
