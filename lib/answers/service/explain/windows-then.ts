import { isDeepStrictEqual } from "node:util";
import type { ScopeChangeRecord } from "../../../rules/model/changes.ts";
import type { AutoscalerSpec } from "../../../rules/model/spec.ts";
import { type Memory, NEW_WINDOWS, type ScaleChange } from "../../../rules/model/windows.ts";
import { withOutsideChange, withScale } from "../../../rules/policy/dialects.ts";
import { eventsOfAutoscaler } from "../../../stack/store/history/events.ts";
import { scopeChangesOf } from "../../../stack/store/history/scope-changes.ts";
import { partitionOf } from "../../../stack/store/records/clusters.ts";
import { CHANGED_BESIDE } from "../../../stack/sync/scale/scale-event.ts";
import { DEFAULT_TIMING, deadlineOf } from "../../../stack/plan/message.ts";
import type { WindowsView } from "../../views/windows.ts";
import type { QueryContext } from "../context.ts";
import type { Evaluated } from "../facts/journals.ts";
import type { AutoscalerSnapshot } from "../partitions/partition-data.ts";
import { rfc3339 } from "../times.ts";
import { NO_WINDOWS, windowsView } from "./describe.ts";
import { recommendationsThen } from "./recommendations-then.ts";
import type { Evaluation, EventRecord } from "../../../rules/model/scale-records.ts";
import type { LocatedAutoscaler } from "../find-autoscaler.ts";
import { present } from "../../../rules/model/json.ts";
import { DAY_MS, MINUTE_MS } from "../../../rules/model/time-text.ts";

/** The longest period of a rate, of any dialect. */
const PERIOD_MS_MAX = DAY_MS;

const lost = (what: string): WindowsView => ({ ...NO_WINDOWS, notStored: what });

/**
 * The windows of an earlier evaluation, as far as they are stored: the page has the windows of the
 * newest sync only. The scales that counted for rates are in the history; what closes forbidden
 * windows and what must last is in the evaluation, and not in a scale event; recommendations are
 * rebuilt from the journal. The rules of an autoscaler that was edited since are not stored any
 * more. On doubt about a scale, no rate is shown, and on doubt about a recommendation no
 * stabilization.
 */
export const windowsThen = async (
  context: QueryContext,
  snapshot: AutoscalerSnapshot,
  { atMs, evaluation }: Evaluated,
  begun: KnownEvents | DayBefore,
): Promise<WindowsView> => {
  const { record, spec, cluster } = snapshot;
  const { status, from: count } = evaluation;
  if (spec.kind !== "spec") return lost("windows");
  if (record.updatedMs > atMs)
    return lost(`windows: the autoscaler was edited at ${rfc3339(record.updatedMs)}`);
  const day =
    "resets" in begun && begun.sinceMs <= atMs - PERIOD_MS_MAX
      ? begun
      : await dayBefore(context, snapshot, atMs);
  const resetMs = day.resets.findLast(isWithinDay(atMs))?.atMs;
  if (resetMs !== undefined) return lost(`windows: they were reset at ${rfc3339(resetMs)}`);
  const moment = present({ settings: cluster.settings, nowMs: atMs, count });
  const events = day.events.filter(isWithinDay(atMs));
  const scales = scalesThen(spec.spec, events, atMs);
  const viewOf = (memory: Memory): WindowsView =>
    windowsView(spec.spec, { memory, status: status ?? NEW_WINDOWS.status }, moment);
  const windowMs = Math.max(
    0,
    ...viewOf(scales).stabilization.map(({ windowSeconds }) => windowSeconds * 1_000),
  );
  const settledLater = events.filter(
    (event) => event.outcome !== "outside" && isLate(event) && isCountedAt(event, atMs),
  );
  const recommendations =
    (status &&
      windowMs > 0 &&
      (await recommendationsThen(context, snapshot, {
        atMs,
        windowMs,
        settledLater,
        edits: day.edits,
      }))) ||
    null;
  const view = viewOf({ ...scales, recommendations });
  const certain = viewOf(certainlyKept(spec.spec, scales, record.updatedMs));
  const hasStabilization =
    (status && windowMs === 0) || (recommendations !== null && isAsDecided(view, evaluation));
  return storedPart(
    { ...view, recommendations: since(view.recommendations, atMs - windowMs) },
    {
      hasStabilization,
      hasRates: isDeepStrictEqual([view.rates, view.flap], [certain.rates, certain.flap]),
      hasStatus: status !== undefined,
    },
  );
};

/**
 * The part of the rows that is inside the windows: the rules use the place of an older
 * recommendation again, and which one is not stored.
 */
const since = (
  rows: WindowsView["recommendations"],
  sinceMs: number,
): WindowsView["recommendations"] =>
  rows
    .filter(({ last }) => Date.parse(last) >= sinceMs)
    .map((row) => ({ ...row, first: rfc3339(Math.max(Date.parse(row.first), sinceMs)) }));

/** True where the rebuilt windows hold what the sync says that they held. */
const isAsDecided = ({ stabilization }: WindowsView, { steps }: Evaluation): boolean => {
  const step = steps.find((one) => one.step === "stabilize");
  const held = stabilization.find((window) => window.held)?.held;
  return step === undefined || step.limit?.value === held?.replicas;
};

interface Kept {
  readonly hasStabilization: boolean;
  readonly hasRates: boolean;
  /** False of a scale event, which has no conditions and no time of the last scale. */
  readonly hasStatus: boolean;
}

/** Only what is still stored, and the names of what is not. */
const storedPart = (
  { timers, recommendations, stabilization, rates, flap, forbidden, pausedUntil }: WindowsView,
  { hasStabilization, hasRates, hasStatus }: Kept,
): WindowsView => {
  const ofStatus = present({ forbidden, timers });
  const gone = [
    ...(hasStabilization ? [] : ["recommendations", "stabilization"]),
    ...(hasRates ? [] : ["rates"]),
    ...(hasStatus
      ? []
      : Object.keys(ofStatus).map((part) =>
          part === "timers" ? "what must last" : "forbidden windows",
        )),
  ];
  return {
    ...NO_WINDOWS,
    ...(hasStabilization && { recommendations, stabilization }),
    ...(hasStatus && ofStatus),
    ...(hasRates && present({ rates, flap })),
    ...present({ pausedUntil, notStored: gone.length > 0 ? gone.join(", ") : undefined }),
  };
};

/**
 * The scales that the windows held for certain. The rules record a scale in the place of an older
 * one that is beyond the longest period of its own direction, though a longer period of the other
 * direction may still have counted the older one (hpa.md 3.9). Which place it was depends on scales
 * from before those that are read here. Rules from before an edit may have dropped any scale.
 */
const certainlyKept = (spec: AutoscalerSpec, made: Memory, editedMs: number): Memory => {
  const changes = [
    ...made.scaleUps.map((change) => ({ ...change, from: 0 })),
    ...made.scaleDowns.map((change) => ({ ...change, from: change.change })),
  ]
    .map(({ change, from, ...scale }) => ({ ...scale, from, to: change - from }))
    .toSorted((one, other) => one.atMs - other.atMs);
  const { memory } = changes.reduce(
    (windows, change) => withScale(windows, spec, change),
    NEW_WINDOWS,
  );
  const kept = new Set(
    [...memory.scaleUps, ...memory.scaleDowns].flatMap(({ outdated, eventId }) =>
      outdated ? [] : [eventId],
    ),
  );
  const isCertain = ({ eventId, atMs }: ScaleChange): boolean =>
    atMs >= editedMs && kept.has(eventId);
  return {
    ...made,
    scaleUps: made.scaleUps.filter(isCertain),
    scaleDowns: made.scaleDowns.filter(isCertain),
  };
};

/** The events of an autoscaler since an instant, in order of time. */
export interface KnownEvents {
  readonly sinceMs: number;
  readonly events: readonly EventRecord[];
}

/** What the history has of a day and some minutes before an instant, beside the journal. */
interface DayBefore extends KnownEvents {
  /**
   * A person's resets, and adoptions of restored tables, in order of time: they put assumed scales
   * into the windows, which are no events.
   */
  readonly resets: readonly ScopeChangeRecord[];
  /** Edits of the cluster. */
  readonly edits: readonly ScopeChangeRecord[];
}

/** The newest evaluation of an instant is this much older at most, where syncs come. */
const OLDER_MS_MAX = 10 * MINUTE_MS;

/** Reads it, all at once: a reader begins it beside the reads of the journal. */
export const dayBefore = async (
  { tables }: QueryContext,
  { cluster, record }: LocatedAutoscaler,
  untilMs: number,
): Promise<DayBefore> => {
  const sinceMs = untilMs - PERIOD_MS_MAX - OLDER_MS_MAX;
  const partition = partitionOf(cluster, record.namespace);
  const changesOf = (scope: ScopeChangeRecord["scope"], name: string) =>
    Array.fromAsync(scopeChangesOf(tables, { scope, name }, sinceMs));
  const [events, ofPartition, ofFleet, edits] = await Promise.all([
    Array.fromAsync(eventsOfAutoscaler(tables, record, { sinceMs, untilMs })),
    partition === undefined ? [] : changesOf("partition", `${cluster.name}/${partition}`),
    changesOf("fleet", "fleet"),
    changesOf("cluster", cluster.name),
  ]);
  const resets = [
    ...ofPartition.filter(({ verb }) => verb.startsWith("reset-")),
    ...ofFleet.filter(({ verb }) => verb === "adopt" || verb === "move"),
  ];
  return {
    sinceMs,
    events: events.filter(({ uid }) => uid === record.uid),
    resets: resets.toSorted((one, other) => one.atMs - other.atMs),
    edits,
  };
};

const isWithinDay =
  (atMs: number) =>
  (one: { readonly atMs: number }): boolean =>
    one.atMs <= atMs && one.atMs >= atMs - PERIOD_MS_MAX;

/**
 * The scales that the windows held, from their events: the same times and ids, in order of time.
 */
const scalesThen = (spec: AutoscalerSpec, events: readonly EventRecord[], atMs: number): Memory => {
  const counted = events.filter(
    (event) => event.outcome !== "refused" && isCountedAt(event, atMs) && isCountedBy(spec, event),
  );
  const [scaleUps, scaleDowns] = [
    counted.filter(({ from, to }) => to > from),
    counted.filter(({ from, to }) => to <= from),
  ];
  return {
    recommendations: null,
    scaleUps: scaleUps.map(changeOf),
    scaleDowns: scaleDowns.map(changeOf),
  };
};

/** The imitated rules count no change by a person. */
const isCountedBy = (
  spec: AutoscalerSpec,
  { outcome, reason, from, to, settledMs: atMs }: EventRecord,
): boolean =>
  outcome !== "outside" ||
  withOutsideChange(NEW_WINDOWS, spec, { from, to, atMs, beside: reason === CHANGED_BESIDE })
    .memory !== NEW_WINDOWS.memory;

/**
 * The longest time from a decision to a clear answer: what is settled later is settled by another
 * sync.
 */
const OWN_MS_MAX = deadlineOf(0, DEFAULT_TIMING);
const isLate = ({ atMs, settledMs, outcome }: EventRecord): boolean =>
  outcome === "outside" || settledMs - atMs >= OWN_MS_MAX;

/**
 * A sync counts its own scales, also where their answers came after its instant; a later one counts
 * what it settles.
 */
const isCountedAt = (event: EventRecord, atMs: number): boolean =>
  (isLate(event) ? event.settledMs : event.atMs) <= atMs;

/**
 * As lib/stack/sync records it (windows-after.ts): a scale whose time is not known exactly gives no
 * room to the other direction.
 */
const changeOf = (event: EventRecord): ScaleChange => ({
  change: Math.abs(event.to - event.from),
  atMs: event.settledMs,
  earliestMs: isLate(event) ? 0 : event.atMs,
  eventId: event.id,
});
