import {
  type Bound,
  type BoundSource,
  type EffectiveBounds,
  type SetBeside,
  type UnknownCalendar,
  isActive,
  type OverrideScope,
  type ScopedOverride,
} from "../../model/override.ts";
import type { ForecastState } from "../../model/forecast.ts";
import type { Calendar, ScheduleEntry } from "../../model/schedule.ts";
import type { AutoscalerSpec } from "../../model/spec.ts";
import { type ScheduleWindow, windowsAround } from "./windows.ts";

type OwnBounds = Pick<AutoscalerSpec, "minReplicas" | "maxReplicas" | "schedule">;

const MANIFEST = { kind: "manifest" } as const;

/**
 * True where nothing but the manifest can set a bound now: such an autoscaler is decided as if
 * there were no schedules, no overrides and no forecasts.
 */
export const isByManifest = (
  { schedule }: OwnBounds,
  { overrides, forecast }: SetBeside,
  nowMs: number,
): boolean =>
  schedule === undefined &&
  forecast === undefined &&
  !overrides.some((override) => isActive(override, nowMs));

/**
 * The bounds that hold at an instant: per field an override goes before the schedule, and that
 * before the manifest. A forecast raises the minimum that they come to, within the maximum. It is a
 * function of its arguments: nothing is stored, and nothing fires. So the first sync after any
 * outage has the right bounds, and a ramp goes on at the value of now.
 */
export const effectiveBounds = (
  spec: OwnBounds,
  { overrides, calendars, forecast }: SetBeside,
  nowMs: number,
): EffectiveBounds => {
  const own = scheduledBounds(spec, calendars, nowMs);
  const active = overrides.filter((override) => isActive(override, nowMs));
  const min = overridden(own.min, active, ({ set: { min: ownMin, minFactorMilli } }) =>
    ownMin === undefined && minFactorMilli !== undefined
      ? Math.ceil((own.min.replicas * minFactorMilli) / 1000)
      : ownMin,
  );
  const max = overridden(own.max, active, ({ set }) => set.max);
  const held = uncrossed({ min, max }, active);
  const unknown = unknownCalendars(spec, calendars).find(({ entry }) =>
    movesBounds(entry, held, active),
  );
  return {
    ...raised(held, forecast),
    ...(own.paused && { paused: own.paused }),
    holds: active.filter(({ set }) => set.hold).map(sourceOf),
    ...(unknown && { unknownCalendar: { name: unknown.name, field: unknown.field } }),
    ...(forecast && { forecast }),
  };
};

/** A forecast never lowers a minimum and never goes past a maximum, of whatever source. */
const raised = (
  held: Pick<EffectiveBounds, "min" | "max">,
  forecast: ForecastState | undefined,
): Pick<EffectiveBounds, "min" | "max"> => {
  if (forecast?.kind !== "floor") return held;
  const replicas = Math.min(forecast.replicas, held.max.replicas);
  if (replicas <= held.min.replicas) return held;
  const { quantile, metric, atMs, fromMs } = forecast;
  return {
    min: { replicas, source: { kind: "forecast", quantile, metric, atMs, fromMs } },
    max: held.max,
  };
};

/**
 * False where overrides set what the entry would: so an override of both bounds acts, whatever a
 * calendar says.
 */
const movesBounds = (
  { paused, minReplicas, maxReplicas }: ScheduleEntry,
  { min, max }: Pick<EffectiveBounds, "min" | "max">,
  active: readonly ScopedOverride[],
): boolean => {
  const isSet = ({ source }: Bound, field: "min" | "max"): boolean =>
    source.kind === "override" &&
    active.some(({ id, set }) => id === source.id && set[field] !== undefined);
  return (
    paused === true ||
    (minReplicas !== undefined && !isSet(min, "min")) ||
    (maxReplicas !== undefined && !isSet(max, "max"))
  );
};

/**
 * The calendars that a schedule names and the fleet does not have, by entry. A suspended entry sets
 * nothing, so that nothing hangs on its calendar.
 */
export const unknownCalendars = (
  { schedule = [] }: Pick<OwnBounds, "schedule">,
  calendars: readonly Calendar[],
): readonly (UnknownCalendar & { readonly index: number; readonly entry: ScheduleEntry })[] =>
  schedule.flatMap((entry, index) => {
    const { exceptFrom, suspended } = entry;
    if (suspended || exceptFrom === undefined || calendars.some(({ name }) => name === exceptFrom))
      return [];
    return [{ name: exceptFrom, field: `spec.schedule[${index}].exceptFrom`, index, entry }];
  });

/**
 * Of bounds that cross, a ceiling follows the floor. Only the ceiling of an override goes before a
 * floor that is weaker: of the manifest, of a schedule, or of an override that comes after it. So a
 * cap in an incident caps, and a schedule does not lift it in the morning.
 */
const uncrossed = (
  { min, max }: { readonly min: Bound; readonly max: Bound },
  active: readonly ScopedOverride[],
) => {
  if (max.replicas >= min.replicas) return { min, max };
  return isCap(max, min, active)
    ? { min: { replicas: max.replicas, source: max.source }, max }
    : { min, max: { replicas: min.replicas, source: { kind: "floor" } as const } };
};

const isCap = (max: Bound, min: Bound, active: readonly ScopedOverride[]): boolean => {
  const behind = ({ source }: Bound): ScopedOverride | undefined =>
    source.kind === "override" ? active.find(({ id }) => id === source.id) : undefined;
  const [cap, floor] = [behind(max), behind(min)];
  return cap !== undefined && (!floor || floor.id === cap.id || rankOf(cap) < rankOf(floor));
};

const sourceOf = ({
  id,
  scope,
  by,
  reason,
  untilMs,
}: ScopedOverride): Extract<BoundSource, { readonly kind: "override" }> => ({
  kind: "override",
  id,
  scope,
  by,
  reason,
  ...(untilMs !== undefined && { untilMs }),
});

const WIDTH: Readonly<Record<OverrideScope, number>> = {
  autoscaler: 0,
  namespace: 1,
  cluster: 2,
  fleet: 3,
};

/**
 * Forced overrides first, the widest scope before all others; then the others, the narrowest first.
 */
const rankOf = ({ force, scope }: ScopedOverride): number =>
  force ? -WIDTH[scope] : WIDTH[scope] + 1;

/**
 * Of overrides with equal rank the one that allows most replicas counts, whichever was set first.
 */
const overridden = (
  own: Bound,
  active: readonly ScopedOverride[],
  replicasOf: (override: ScopedOverride) => number | undefined,
): Bound => {
  const setting = active.flatMap((override) => {
    const replicas = replicasOf(override);
    return replicas === undefined ? [] : [{ override, replicas }];
  });
  const [best] = setting.toSorted(byRank);
  return best ? { replicas: best.replicas, source: sourceOf(best.override) } : own;
};

type Valued = { readonly override: ScopedOverride; readonly replicas: number };

const byRank = (one: Valued, other: Valued): number =>
  rankOf(one.override) - rankOf(other.override) ||
  other.replicas - one.replicas ||
  (one.override.id < other.override.id ? -1 : 1);

/** An entry at an instant: inside a window, or on a ramp with the share of its value that holds. */
interface Standing {
  readonly entry: ScheduleEntry;
  readonly phase: "inside" | "in" | "out";
  /** 0 to 1 on a ramp. */
  readonly share: number;
  readonly untilMs: number;
}

const standingOf = (
  entry: ScheduleEntry,
  windows: readonly ScheduleWindow[],
  nowMs: number,
): readonly Standing[] => {
  const inside = windows.filter(({ startMs, endMs }) => startMs <= nowMs && nowMs < endMs);
  if (inside.length > 0)
    return [
      { entry, phase: "inside", share: 1, untilMs: Math.max(...inside.map(({ endMs }) => endMs)) },
    ];
  return windows.flatMap(({ rampInMs, startMs, endMs, rampOutMs }): readonly Standing[] => {
    if (rampInMs <= nowMs && nowMs < startMs)
      return [
        { entry, phase: "in", share: (nowMs - rampInMs) / (startMs - rampInMs), untilMs: startMs },
      ];
    if (endMs <= nowMs && nowMs < rampOutMs)
      return [
        {
          entry,
          phase: "out",
          share: (rampOutMs - nowMs) / (rampOutMs - endMs),
          untilMs: rampOutMs,
        },
      ];
    return [];
  });
};

/** The bounds by manifest and schedule. */
const scheduledBounds = (
  { minReplicas, maxReplicas, schedule = [] }: OwnBounds,
  calendars: readonly Calendar[],
  nowMs: number,
) => {
  const standing = schedule.flatMap((entry) =>
    entry.suspended ? [] : standingOf(entry, windowsAround(entry, calendars, nowMs), nowMs),
  );
  const paused = standing
    .filter(({ entry, phase }) => phase === "inside" && entry.paused)
    .toSorted(longestFirst)[0];
  return {
    min: scheduledBound({ replicas: minReplicas, source: MANIFEST }, standing, "minReplicas"),
    max: scheduledBound({ replicas: maxReplicas, source: MANIFEST }, standing, "maxReplicas"),
    ...(paused && {
      paused: { kind: "schedule", name: paused.entry.name, untilMs: paused.untilMs } as const,
    }),
  };
};

const longestFirst = (one: Standing, other: Standing): number =>
  other.untilMs - one.untilMs || (one.entry.name < other.entry.name ? -1 : 1);

/**
 * One bound: of the windows that hold, those with the highest priority count, and of these the
 * largest value. A ramp of an entry with no lower priority leads from what holds without it to its
 * value, or back. It never lowers a bound. A ceiling only ramps out: before its window nothing is
 * there that it must make room for.
 */
const scheduledBound = (
  manifest: Bound,
  standing: readonly Standing[],
  field: "minReplicas" | "maxReplicas",
): Bound => {
  const setting = standing.flatMap((each) => {
    const value = each.entry[field];
    return value === undefined ? [] : [{ ...each, value }];
  });
  const inside = setting.filter(({ phase }) => phase === "inside");
  const highest = inside.reduce(
    (most, { entry }) => Math.max(most, entry.priority),
    Number.NEGATIVE_INFINITY,
  );
  let bound = manifest;
  for (const { entry, value, untilMs } of inside) {
    if (entry.priority !== highest) continue;
    bound = larger(bound.source.kind === "manifest" ? undefined : bound, {
      replicas: value,
      source: { kind: "schedule", name: entry.name, untilMs },
    });
  }
  const base = bound.replicas;
  let ramped: Bound | undefined;
  for (const { entry, value, phase, share, untilMs } of setting) {
    if (
      phase === "inside" ||
      entry.priority < highest ||
      value <= base ||
      (phase === "in" && field === "maxReplicas")
    )
      continue;
    // Rounded up: never fewer pods than on the line.
    const replicas = base + Math.ceil((value - base) * share);
    ramped = larger(ramped, {
      replicas,
      source: { kind: "schedule", name: entry.name, untilMs, ramp: phase },
    });
  }
  return ramped && ramped.replicas > base ? ramped : bound;
};

/**
 * The larger bound; of equal ones the one with the first name, so that the order of the entries
 * says nothing.
 */
const larger = (one: Bound | undefined, other: Bound): Bound => {
  if (!one || other.replicas > one.replicas) return other;
  if (other.replicas < one.replicas) return one;
  return nameOf(other) < nameOf(one) ? other : one;
};

const nameOf = ({ source }: Bound): string => (source.kind === "schedule" ? source.name : "");
