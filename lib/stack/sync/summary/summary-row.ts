import type { AutoscalerUid } from "../../../rules/model/ids.ts";
import type {
  ProblemTimes,
  SummaryRow,
  SummaryTotals,
  IndexRow,
} from "../../../rules/model/summary.ts";
import { askDialect } from "../../../rules/policy/dialects.ts";
import {
  countsOf,
  type EvaluatedCounts,
  evaluatedState,
  heldBy,
} from "../../report/evaluation-state.ts";
import { metricText } from "../../report/metric-reading.ts";
import { summaryKeyOf } from "../../store/summary/summary-codec.ts";
import { isAtMax } from "../decide/evaluation.ts";
import { metricReadings } from "../observe/metric-readings.ts";
import type {
  Evaluation,
  ScaleTotals,
  UncountedScale,
} from "../../../rules/model/scale-records.ts";
import { asObject, asTexts, jsonIn } from "../../../rules/model/json.ts";
import type { LoadedSpec, LoadedSpecs } from "../hand-over.ts";
import type { RuleFailures } from "../rule-failures.ts";

/** How a scale of the autoscaler ended in this sync. */
type Ended = Pick<UncountedScale, "from" | "to" | "outcome">;

/** What the row of an autoscaler follows from. */
export interface RowSource {
  readonly autoscaler: Exclude<LoadedSpec, { kind: "unreadable" }>;
  readonly evaluation: Evaluation;
  /** Its row after the sync before; absent where none is known. */
  readonly before: SummaryRow | undefined;
  readonly ended: readonly Ended[];
  readonly nowMs: number;
  readonly failures: RuleFailures;
}

/** Targets that a table shows; the others are counted, as kubectl does. */
const TARGETS_SHOWN = 2;

/**
 * A row without the targets. They move in every sync, so that they are no change that a reader must
 * see at once.
 */
export type BareRow = Omit<SummaryRow, "targets" | "moreTargets" | "missing">;

export const bareRowOf = (source: RowSource): BareRow => {
  const { autoscaler, evaluation } = source;
  const { status } = evaluation;
  const counts = status ? countsOf(evaluation, status) : NO_COUNTS;
  const current = counts.current ?? counts.lastKnown?.replicas;
  const holder = heldBy(evaluation);
  const totals = totalsOf(source);
  const since = problemTimes(source);
  // One row of each autoscaler is made in every sync.
  const row: Making = {
    key: summaryKeyOf(evaluation.uid),
    state:
      autoscaler.kind === "invalid" && !autoscaler.unread ? "invalid" : evaluatedState(evaluation),
    reason: evaluation.because.reason,
  };
  if (holder !== undefined) row.heldBy = holder;
  if (current !== undefined) row.current = current;
  if (counts.lastKnown) row.unreadMs = counts.lastKnown.sinceMs ?? 0;
  if (counts.desired !== undefined) row.desired = counts.desired;
  addBounds(row, evaluation);
  addMarks(row, source);
  if (status?.lastScaleMs !== undefined) row.lastScaleMs = status.lastScaleMs;
  if (totals) row.totals = totals;
  if (since) row.since = since;
  return row;
};

type Making = { -readonly [Field in keyof BareRow]: BareRow[Field] };

/** The bounds that an override or a schedule sets. */
const addBounds = (row: Making, { bounds }: Evaluation): void => {
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

const isSwitchedOff = ({ failed, status }: Evaluation): boolean =>
  !failed &&
  status !== undefined &&
  status.conditions.some(
    (condition) => condition.type === "ScalingActive" && condition.status === "False",
  );

const hasBands = ({ autoscaler, evaluation }: RowSource): boolean =>
  evaluation.gauges !== undefined ||
  (autoscaler.kind === "ready" &&
    askDialect(autoscaler.spec, ({ explains }) => explains.publishesBands));

const NO_COUNTS: EvaluatedCounts = {};

/** The whole row: the one that is written, once a minute or where it changed. */
export const withTargets = (
  row: BareRow,
  { autoscaler, evaluation, failures }: RowSource,
): SummaryRow => {
  const readings = failures.guarded(
    evaluation.uid,
    () => metricReadings(autoscaler.kind === "ready" ? autoscaler.spec : undefined, evaluation),
    () => metricReadings(undefined, evaluation),
  );
  const missing = readings.filter(({ kind }) => kind === "failed").length;
  return {
    ...row,
    ...(missing > 0 && { missing }),
    targets: readings.slice(0, TARGETS_SHOWN).map(metricText),
    ...(readings.length > TARGETS_SHOWN && { moreTargets: readings.length - TARGETS_SHOWN }),
  };
};

const NOTHING_SCALED: Omit<ScaleTotals, "epoch"> = { ups: 0, added: 0, downs: 0, removed: 0 };

/**
 * Scales that were made are counted by the windows page; only the summary counts the refused ones.
 */
const totalsOf = ({ evaluation, before, ended }: RowSource): SummaryTotals | undefined => {
  if (!evaluation.totals && !before?.totals && ended.length === 0) return undefined;
  const { ups, added, downs, removed } = evaluation.totals ?? NOTHING_SCALED;
  const refused = ended.filter(({ outcome }) => outcome === "refused");
  const refusedUps =
    (before?.totals?.refusedUps ?? 0) + refused.filter(({ from, to }) => to > from).length;
  const refusedDowns =
    (before?.totals?.refusedDowns ?? 0) + refused.filter(({ from, to }) => to < from).length;
  return ups + downs + refusedUps + refusedDowns > 0
    ? { ups, added, downs, removed, refusedUps, refusedDowns }
    : undefined;
};

/** A problem that goes on keeps its time. */
const problemTimes = (source: RowSource): ProblemTimes | undefined => {
  const { before, nowMs } = source;
  // Most autoscalers have none.
  if (!PROBLEMS.some((kind) => HAS_PROBLEM[kind](source))) return undefined;
  const present = PROBLEMS.filter((kind) => HAS_PROBLEM[kind](source));
  return Object.fromEntries(present.map((kind) => [kind, before?.since?.[kind] ?? nowMs]));
};

/**
 * A scale was refused, in this sync or before one that could not decide or wants another count
 * still.
 */
const isRefused = ({ evaluation, before, ended }: RowSource): boolean => {
  const newest = ended.at(-1);
  if (newest) return newest.outcome === "refused";
  return before?.since?.refused !== undefined && (evaluation.failed || wantsAnother(evaluation));
};

const wantsAnother = ({ kind, from, steps, withoutHold }: Evaluation): boolean =>
  kind === "scale" || withoutHold?.to !== undefined || (steps.at(-1)?.after ?? from) !== from;

const HAS_PROBLEM: Readonly<Record<keyof ProblemTimes, (source: RowSource) => boolean>> = {
  refused: isRefused,
  failing: ({ evaluation }) => evaluation.failed,
  unmeasured: ({ evaluation }) => evaluation.metrics.some(({ kind }) => kind === "failed"),
  atMax: ({ evaluation }) => isAtMax(evaluation),
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
  PROBLEMS.every(
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
const PROBLEMS = [
  "refused",
  "failing",
  "unmeasured",
  "atMax",
] as const satisfies readonly (keyof ProblemTimes)[];
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

/** The row of an autoscaler as a sync or a reader has loaded it. */
export const indexRowOf = (spec: LoadedSpec): IndexRow => {
  if (spec.kind === "unreadable") {
    const { namespace, name, uid = "", message } = spec;
    return {
      namespace,
      name,
      uid,
      generation: 0,
      kind: "unknown kind",
      labels: {},
      createdMs: 0,
      problem: message,
    };
  }
  const { namespace, name, uid, generation, createdMs, paused, overrides, manifest } = spec.record;
  const common = {
    namespace,
    name,
    uid,
    generation,
    createdMs,
    ...(paused && { paused }),
    ...(overrides && { hasOverrides: true as const }),
    ...namesIn(manifest),
  };
  if (spec.kind === "invalid") return { ...common, problem: spec.message };
  const { owner, target, minReplicas, maxReplicas } = spec.spec;
  return { ...common, ...(owner !== undefined && { owner }), target, minReplicas, maxReplicas };
};

/**
 * True where the rows of both are surely the same. Specs are read again once a minute, and as a
 * rule none was edited. On doubt, false: the rows are made again and compared by their hash.
 */
export const hasSameIndex = (one: LoadedSpecs, other: LoadedSpecs): boolean =>
  one === other ||
  (one.specVersion === other.specVersion &&
    one.clusterIncarnation === other.clusterIncarnation &&
    one.all.length === other.all.length &&
    one.all.every((spec, at) => isSameSpec(spec, other.all[at])));

/** A manifest that stays the same keeps the spec that was converted before (load-specs.ts). */
const isSameSpec = (one: LoadedSpec, other: LoadedSpec | undefined): boolean =>
  one === other ||
  (one.kind === "ready" &&
    other?.kind === "ready" &&
    one.spec === other.spec &&
    one.record.uid === other.record.uid &&
    one.record.generation === other.record.generation &&
    one.record.manifest === other.record.manifest &&
    one.record.createdMs === other.record.createdMs &&
    one.record.paused === undefined &&
    other.record.paused === undefined);

/**
 * Kind and labels of a manifest. A manifest that is no JSON has neither: the conversion reports its
 * problem.
 */
const namesIn = (manifest: string): Pick<IndexRow, "kind" | "labels"> => {
  const { kind, metadata } = asObject(jsonIn(manifest));
  return {
    kind: typeof kind === "string" ? kind : "unknown kind",
    labels: asTexts(asObject(metadata)["labels"]),
  };
};
