import { mapYielding } from "../../cluster/map-yielding.ts";
import type { MetricOutcome } from "../../../rules/model/decision.ts";
import { foreignText } from "../../../rules/model/foreign-text.ts";
import type { AutoscalerUid } from "../../../rules/model/ids.ts";
import type { AutoscalerSpec } from "../../../rules/model/spec.ts";
import {
  NEW_WINDOWS,
  type RecommendationRun,
  type ScaleChange,
  type Windows,
} from "../../../rules/model/windows.ts";
import { scaledToZero, setCondition } from "../../../rules/policy/shared/steps.ts";
import { settled } from "../../../rules/policy/shared/recommendations.ts";
import type { Change, Written } from "../../../rules/policy/shared/recorded-scales.ts";
import { uidOf } from "../load/load-specs.ts";
import { contestedIn, outsideAfter } from "./contested.ts";
import { countsAfter, readingsOf } from "./outside-changes.ts";
import type { PurePart } from "../pure-part.ts";
import { outcomeOfEvent } from "../scale/scale-event.ts";
import { isOpenAt, windowsNow, withCounted } from "../load/stored-windows.ts";
import type {
  ScaleTotals,
  StoredWindows,
  UncountedScale,
} from "../../../rules/model/scale-records.ts";
import type { Verdict, Loaded, Outside, OutsideScale, Settled, After } from "../hand-over.ts";
import type { RuleFailures } from "../rule-failures.ts";

type Decided = Exclude<Verdict, { readonly kind: "unevaluated" }>;

interface Left {
  readonly verdicts: readonly Verdict[];
  readonly settled: Settled;
  readonly outside: Outside;
  readonly failures: RuleFailures;
}

/**
 * The windows of every autoscaler of the partition after this sync. An autoscaler that was not
 * evaluated and has no windows yet gets none. A recommendation counts also while the autoscaler is
 * held, frozen or paused: so its stabilization windows are full when it may scale again. A scale
 * counts only if a PUT was sent for it.
 */
export const windowsAfter = async (
  rules: PurePart,
  loaded: Loaded,
  { verdicts, settled: settledScales, outside, failures }: Left,
): Promise<After> => {
  const before = new Map<AutoscalerUid, StoredWindows>();
  for (const page of loaded.pages) {
    if (page.kind === "read") for (const [uid, entry] of page.entries) before.set(uid, entry);
  }
  const written = writtenNow(rules, verdicts, { settled: settledScales, failures });
  const readings = readingsOf(verdicts);
  const late = new Map(settledScales.late.map(({ scale }) => [scale.uid, scale]));
  // Most syncs settle nothing of an earlier one.
  const specs = new Map(
    late.size === 0
      ? []
      : loaded.specs.all.flatMap((spec) =>
          spec.kind === "ready" ? [[spec.record.uid, spec.spec] as const] : [],
        ),
  );
  const changed = new Map(outside.events.map((event) => [event.uid, event]));
  const countAfter = countsAfter(loaded, readings, { settled: settledScales, outside });
  const totals = totalsAfter(before, settledScales);
  /** The entry with what was scaled so far and the count that this sync leaves. */
  const counted = ({ uid, windows, open, rivals, totals: known }: StoredWindows): StoredWindows => {
    const entry: { -readonly [Field in keyof StoredWindows]: StoredWindows[Field] } = {
      uid,
      windows,
      open,
    };
    const [sum, seen] = [totals.get(uid) ?? known, countAfter(uid, before.get(uid)?.seen)];
    if (rivals) entry.rivals = rivals;
    if (sum) entry.totals = sum;
    if (seen) entry.seen = seen;
    const series = outsideAfter(before.get(uid)?.outside, changed.get(uid), readings.get(uid));
    if (series) entry.outside = series;
    return entry;
  };
  const uids = [...uidsToStore(loaded, [...before.keys(), ...late.keys()])];
  const stored = await mapYielding(uids, (uid) => {
    const windows = written.get(uid)?.windows;
    const rivals = readings.get(uid)?.knownRivals;
    const evaluated = windows && {
      uid,
      windows,
      open: isOpenAt(windows, loaded.nowMs),
      ...(rivals && { rivals }),
    };
    const scale = late.get(uid);
    const entry = scale
      ? withLate(
          { rules, failures },
          specs.get(uid),
          evaluated ?? ended(loaded, uid, before.get(uid)),
          {
            scale,
            before: outside.beforeLate.get(uid),
          },
        )
      : (evaluated ?? endedEntry(loaded, before.get(uid)));
    return entry && counted(entry);
  });
  const entries = new Map<AutoscalerUid, StoredWindows>();
  for (const entry of stored) if (entry) entries.set(entry.uid, entry);
  return {
    entries,
    eventsOf: (uid) => written.get(uid)?.events,
    gaugesOf: (uid) => written.get(uid)?.gauges,
    metricsOf: (verdict) => metricsInDetail(rules, failures, verdict),
    slowOf: ({ input }) => rules.slowMetrics(input),
    refused: refusedIn(settledScales),
    contestedOf: (verdict) => contestedIn(verdict, entries, loaded.nowMs),
  };
};

/** A scale has them since it was decided. A mistake costs only the explanation, and is reported. */
const metricsInDetail = (
  rules: PurePart,
  failures: RuleFailures,
  { autoscaler: { record }, decision, input }: Decided,
): readonly MetricOutcome[] =>
  decision.kind === "scale"
    ? decision.metrics
    : failures.guarded(
        record.uid,
        () => rules.metricsInDetail(decision, input),
        () => decision.metrics,
      );

const refusedIn = ({ own }: Settled): After["refused"] =>
  new Map(
    own.flatMap(({ acted: { outcome }, event }) => {
      if (event.outcome !== "refused") return [];
      const code = outcome.kind === "refused" ? (outcome.code ?? 0) : 0;
      return [[event.uid, { code, message: foreignText(event.detail ?? "") }] as const];
    }),
  );

/** Late scales were decided before the scales of this sync. */
const totalsAfter = (
  before: ReadonlyMap<AutoscalerUid, StoredWindows>,
  { late, own }: Settled,
): ReadonlyMap<AutoscalerUid, ScaleTotals> => {
  const totals = new Map<AutoscalerUid, ScaleTotals>();
  for (const entry of before.values()) if (entry.totals) totals.set(entry.uid, entry.totals);
  for (const scale of [
    ...late.map(({ scale: lateScale }) => lateScale),
    ...own.map(({ event }) => event),
  ]) {
    const counted = withCounted(totals.get(scale.uid), scale);
    if (counted) totals.set(scale.uid, counted);
  }
  return totals;
};

/**
 * A rule that throws here leaves the scale recorded in the form that every dialect reads: what was
 * made must count.
 */
interface Recording {
  readonly rules: PurePart;
  readonly failures: RuleFailures;
}

interface Late {
  readonly scale: UncountedScale;
  /** What others did to the count before it. */
  readonly before: OutsideScale | undefined;
}

const withLate = (
  { rules, failures }: Recording,
  spec: AutoscalerSpec | undefined,
  entry: StoredWindows,
  { scale, before }: Late,
): StoredWindows => {
  const kept = entry.windows;
  const counted =
    spec && before
      ? failures.guarded(
          scale.uid,
          () =>
            rules.withOutsideChange(kept, spec, { ...before, earliestMs: 0, eventId: before.id }),
          () => kept,
        )
      : kept;
  const recommended = withRecommendation(counted, scale);
  if (scale.outcome === "refused") return { ...entry, windows: recommended };
  // On doubt, limit: its time is not known exactly, and an "unknown" may not have happened. It
  // limits its own direction from now on, and gives no room to the other.
  const change = {
    from: scale.from,
    to: scale.to,
    ruled: scale.ruled,
    atMs: scale.settledMs,
    earliestMs: 0,
    eventId: scale.id,
  };
  const unread = (): Windows => withChange(recommended, change);
  return {
    ...entry,
    windows: spec
      ? failures.guarded(scale.uid, () => rules.withScale(recommended, spec, change), unread)
      : unread(),
  };
};

const newEntry = (uid: AutoscalerUid): StoredWindows => ({
  uid,
  windows: NEW_WINDOWS,
  open: false,
});

/** Entry of an autoscaler that was not evaluated: its run ends at the last sync that evaluated. */
const endedEntry = (loaded: Loaded, stored: StoredWindows | undefined): StoredWindows | undefined =>
  stored && ended(loaded, stored.uid, stored);

const ended = (
  loaded: Loaded,
  uid: AutoscalerUid,
  stored: StoredWindows | undefined,
): StoredWindows =>
  stored
    ? { ...stored, windows: windowsNow(stored, loaded.head.evaluatedMs), open: false }
    : newEntry(uid);

/**
 * Windows and events of the decisions; after a clear answer, those that follow from it. Where an
 * earlier holder stored the event, its outcome and time count.
 */
const writtenNow = (
  rules: PurePart,
  verdicts: readonly Verdict[],
  {
    settled: settledScales,
    failures,
  }: { readonly settled: Settled; readonly failures: RuleFailures },
): ReadonlyMap<AutoscalerUid, Written> => {
  const written = new Map<AutoscalerUid, Written>();
  for (const verdict of verdicts) {
    if (verdict.kind !== "unevaluated")
      written.set(verdict.autoscaler.record.uid, verdict.decision);
  }
  for (const { acted, event } of settledScales.own) {
    const { decision, input } = acted.verdict;
    const answer = {
      outcome: outcomeOfEvent(event),
      atMs: event.settledMs,
      earliestMs: event.atMs,
      eventId: event.id,
    };
    const change = { from: decision.from, to: decision.to, ...answer };
    const unread = (): Written => ({
      windows:
        event.outcome === "refused" ? decision.windows : withChange(decision.windows, change),
      events: [],
    });
    written.set(
      event.uid,
      failures.guarded(
        event.uid,
        () => rules.afterWrite({ spec: input.spec, decision, ...answer }),
        unread,
      ),
    );
  }
  return written;
};

/**
 * The autoscalers of the partition. While the uid of one cannot be read, no windows are dropped,
 * because any of them may be its own.
 */
const uidsToStore = (
  { specs }: Loaded,
  stored: readonly AutoscalerUid[],
): ReadonlySet<AutoscalerUid> => {
  const uids = specs.all.map(uidOf);
  const known = uids.filter((uid) => uid !== undefined);
  return new Set(known.length === uids.length ? known : [...known, ...stored]);
};

/**
 * Windows with the recommendation behind an intent of an earlier sync, at the time it was made,
 * however the scale ended. That sync may have died before it stored its page: without the
 * recommendation, a stabilization window would be cut short. Recording it twice changes nothing.
 */
export const withRecommendation = (
  windows: Windows,
  { recommendation, decidedMs }: Pick<UncountedScale, "recommendation" | "decidedMs">,
): Windows =>
  recommendation === undefined
    ? windows
    : {
        ...windows,
        memory: {
          ...windows.memory,
          recommendations: withRun(windows.memory.recommendations ?? [], recommendation, decidedMs),
        },
      };

const withRun = (
  runs: readonly RecommendationRun[],
  replicas: number,
  atMs: number,
): readonly RecommendationRun[] => {
  if (runs.some((run) => run.replicas === replicas && run.firstMs <= atMs && atMs <= run.lastMs))
    return runs;
  // It goes before the runs that last until then or begin later, so that the newest run stays the
  // last.
  const later = runs.findIndex(({ lastMs }) => lastMs >= atMs);
  const run = { replicas, firstMs: atMs, lastMs: atMs };
  // As the newest run it ends the open one, which would otherwise reach past it with
  // recommendations that were never made.
  return later === -1 ? [...settled(runs), run] : runs.toSpliced(later, 0, run);
};

/**
 * Windows with a scale of an autoscaler whose spec cannot be read now, in the form that every
 * dialect reads: the scale must count once the spec can be read again.
 */
export const withChange = (
  { memory, status }: Windows,
  { from, to, atMs, earliestMs, eventId = "" }: Change,
): Windows => {
  const change: ScaleChange = {
    change: Math.abs(to - from),
    atMs,
    eventId,
    ...(earliestMs !== undefined && { earliestMs }),
  };
  const recorded = (changes: readonly ScaleChange[]): readonly ScaleChange[] =>
    changes.some((known) => known.eventId === eventId) ? changes : [...changes, change];
  return {
    memory:
      to > from
        ? { ...memory, scaleUps: recorded(memory.scaleUps) }
        : { ...memory, scaleDowns: recorded(memory.scaleDowns) },
    status: {
      ...status,
      // The condition lets the autoscaler wake the workload that it put to rest, once its spec can
      // be read.
      conditions:
        from > 0 && to === 0
          ? setCondition(status.conditions, scaledToZero(true), atMs)
          : status.conditions,
      desiredReplicas: to,
      lastScaleMs: Math.max(status.lastScaleMs ?? 0, atMs),
    },
  };
};
