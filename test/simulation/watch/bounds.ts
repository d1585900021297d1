import type { ScheduleEntry } from "../../../lib/rules/model/schedule.ts";
import type { AutoscalerSpec } from "../../../lib/rules/model/spec.ts";
import type { Item } from "./head.ts";

/** An override as its item says it. */
export interface StoredOverride {
  readonly id: string;
  readonly scope: "autoscaler" | "namespace" | "cluster" | "fleet";
  readonly namespace: string | undefined;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly force: boolean;
  readonly hold: boolean;
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly minFactorMilli: number | undefined;
}

/** The overrides of an item of the table, read without lib/stack/store. */
export const overridesIn = (
  item: Item | undefined,
  place: "autoscaler" | "cluster" | "fleet",
): readonly StoredOverride[] =>
  (item?.["overrides"]?.L ?? []).map(({ M: one }) => {
    const numberIn = (fields: Item | undefined, name: string): number | undefined =>
      fields?.[name]?.N === undefined ? undefined : Number(fields[name].N);
    const set = one?.["set"]?.M;
    const namespace = one?.["namespace"]?.S;
    return {
      id: one?.["id"]?.S ?? "",
      scope: place === "cluster" && namespace !== undefined ? "namespace" : place,
      namespace,
      fromMs: numberIn(one, "fromMs") ?? 0,
      untilMs: numberIn(one, "untilMs") ?? Number.POSITIVE_INFINITY,
      force: one?.["force"]?.BOOL === true,
      hold: set?.["hold"]?.BOOL === true,
      min: numberIn(set, "min"),
      max: numberIn(set, "max"),
      minFactorMilli: numberIn(set, "minFactorMilli"),
    };
  });

/**
 * Why this count must not be written at an instant, worked out anew from spec and overrides;
 * undefined where it may be.
 */
export const outsideOf = (
  spec: AutoscalerSpec,
  overrides: readonly StoredOverride[],
  nowMs: number,
  replicas: number,
): string | undefined => {
  const pausing = (spec.schedule ?? []).find(
    (entry) => entry.paused && shareOf(entry, nowMs)?.phase === "inside",
  );
  if (pausing) return `the entry "${pausing.name}" pauses`;
  const own = {
    min: scheduled(spec, "minReplicas", nowMs),
    max: scheduled(spec, "maxReplicas", nowMs),
  };
  const floor = firstOf(
    overrides,
    ({ min, minFactorMilli }) =>
      min ?? (minFactorMilli && Math.ceil((own.min * minFactorMilli) / 1_000)),
  );
  const { min, max } = uncrossed(
    own,
    floor,
    firstOf(overrides, (one) => one.max),
  );
  // An idle workload goes below the minimum of its manifest, and below no other.
  const rest =
    spec.dialect === "native" && !floor && own.min === spec.minReplicas
      ? spec.idle?.replicas
      : undefined;
  return (replicas >= min && replicas <= max) || (replicas === rest && replicas <= max)
    ? undefined
    : `${min} to ${max} are allowed (${JSON.stringify({ overrides, schedule: spec.schedule })})`;
};

type Valued = { readonly by: StoredOverride; readonly value: number } | undefined;

/**
 * A ceiling follows the floor, unless an override caps: one that sets both, or that goes before
 * what sets the floor.
 */
const uncrossed = (
  own: { readonly min: number; readonly max: number },
  floor: Valued,
  ceiling: Valued,
) => {
  const [min, max] = [floor?.value ?? own.min, ceiling?.value ?? own.max];
  if (max >= min) return { min, max };
  const caps =
    ceiling && (!floor || floor.by === ceiling.by || orderOf(ceiling.by) < orderOf(floor.by));
  return caps ? { min: max, max } : { min, max: min };
};

/** Forced overrides go first, the widest of them before the others; then the narrowest. */
const orderOf = ({ force, scope }: StoredOverride): number => {
  const width = ["autoscaler", "namespace", "cluster", "fleet"].indexOf(scope);
  return force ? -width : 10 + width;
};

/** Of overrides with one rank the largest value counts. */
const firstOf = (
  overrides: readonly StoredOverride[],
  countOf: (one: StoredOverride) => number | undefined,
) =>
  overrides
    .flatMap((by) => {
      const value = countOf(by);
      return value === undefined ? [] : [{ by, value }];
    })
    .toSorted((one, other) => orderOf(one.by) - orderOf(other.by) || other.value - one.value)[0];

/** A bound by manifest and schedule (docs/pod-autoscaler.md, "Schedules"). */
const scheduled = (
  spec: AutoscalerSpec,
  field: "minReplicas" | "maxReplicas",
  nowMs: number,
): number => {
  const setting = (spec.schedule ?? []).flatMap((entry) => {
    const [value, holds] = [entry[field], shareOf(entry, nowMs)];
    return value === undefined || !holds ? [] : [{ value, priority: entry.priority, ...holds }];
  });
  const inside = setting.filter(({ phase }) => phase === "inside");
  const highest = Math.max(Number.NEGATIVE_INFINITY, ...inside.map(({ priority }) => priority));
  const base =
    inside.length === 0
      ? spec[field]
      : Math.max(
          ...inside.filter(({ priority }) => priority === highest).map(({ value }) => value),
        );
  const ramps = setting.filter(
    ({ phase, priority }) =>
      phase !== "inside" && priority >= highest && !(phase === "in" && field === "maxReplicas"),
  );
  return Math.max(
    base,
    ...ramps.map(({ value, share }) =>
      value > base ? base + Math.ceil((value - base) * share) : base,
    ),
  );
};

interface Share {
  readonly phase: "inside" | "in" | "out";
  readonly share: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * Where an instant is in an entry of one day, by the clock that the runtime formats. The windows of
 * the seeds do not pass midnight.
 */
const shareOf = (entry: ScheduleEntry, nowMs: number): Share | undefined => {
  const wall = wallAt(entry.timeZone, nowMs);
  const [fromMs, toMs] = [entry.fromMinute * MINUTE_MS, entry.toMinute * MINUTE_MS];
  if (!startsOn(entry, wall.day)) return undefined;
  const { clockMs } = wall;
  if (clockMs >= fromMs && clockMs < toMs) return { phase: "inside", share: 1 };
  const [inMs, outMs] = [fromMs - entry.rampInMs, toMs + entry.rampOutMs];
  if (clockMs >= inMs && clockMs < fromMs)
    return { phase: "in", share: (clockMs - inMs) / (fromMs - inMs) };
  return clockMs >= toMs && clockMs < outMs
    ? { phase: "out", share: (outMs - clockMs) / (outMs - toMs) }
    : undefined;
};

const startsOn = ({ on }: ScheduleEntry, day: number): boolean =>
  on.kind === "dates"
    ? on.dates.some(({ first, last }) => first <= day && day <= last)
    : on.weekdays.some(({ weekday }) => weekday === (new Date(day * DAY_MS).getUTCDay() + 6) % 7);

const FORMATS = new Map<string, Intl.DateTimeFormat>();

const wallAt = (
  timeZone: string,
  atMs: number,
): { readonly day: number; readonly clockMs: number } => {
  const format =
    FORMATS.get(timeZone) ??
    new Intl.DateTimeFormat("sv", { timeZone, dateStyle: "short", timeStyle: "medium" });
  FORMATS.set(timeZone, format);
  const wallMs = Date.parse(`${format.format(atMs).replace(" ", "T")}Z`) + (atMs % 1_000);
  return { day: Math.floor(wallMs / DAY_MS), clockMs: wallMs % DAY_MS };
};
