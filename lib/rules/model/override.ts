import type { ForecastState } from "./forecast.ts";
import type { Calendar } from "./schedule.ts";

/**
 * Where an override holds: everywhere, in a cluster, in a namespace of a cluster, or for one
 * autoscaler.
 */
export type OverrideScope = "fleet" | "cluster" | "namespace" | "autoscaler";

/**
 * What a person sets for some time, over schedule and manifest. An expired one is as if it were not
 * there.
 */
export interface Override {
  readonly id: string;
  /** With `scope: namespace`, its namespace: the override is stored with its cluster. */
  readonly namespace?: string;
  readonly set: OverrideSet;
  readonly fromMs: number;
  /** Absent only for a hold. */
  readonly untilMs?: number;
  readonly reason: string;
  readonly by: string;
  readonly atMs: number;
  /** True: goes before overrides of narrower scopes. */
  readonly force?: boolean;
}

/** A hold, or bounds. */
export interface OverrideSet {
  /** Nothing is written. */
  readonly hold?: boolean;
  readonly min?: number;
  readonly max?: number;
  /** Thousandths of the own minimum of each autoscaler. */
  readonly minFactorMilli?: number;
}

/** An override with the scope of the item that it is stored in. */
export interface ScopedOverride extends Override {
  readonly scope: OverrideScope;
}

/**
 * Most overrides of one item of the table: the fleet, a cluster with its namespaces, or an
 * autoscaler.
 */
export const OVERRIDES_MAX = 50;
/**
 * Most overrides of one namespace, and of all namespaces of a cluster. The rest of the item is for
 * overrides of the whole cluster: no tenant may use it up.
 */
export const NAMESPACE_OVERRIDES_MAX = 10;
export const NAMESPACES_OVERRIDES_MAX = 40;
export const REASON_CHARACTERS_MAX = 500;
/** How far ahead the end of bounds may lie. */
export const BOUNDS_MS_MAX = 30 * 86_400_000;
export const OVERRIDE_REPLICAS_MAX = 1_000_000;
export const MIN_FACTOR_MAX = 1_000;

/** What is stored of the overrides that may meet an autoscaler. */
interface OverrideItems {
  readonly fleet: { readonly overrides?: readonly Override[] };
  readonly cluster: { readonly overrides?: readonly Override[] };
  readonly record: { readonly namespace: string; readonly overrides?: readonly Override[] };
}

/**
 * All overrides of one autoscaler, from the three items that hold some. The fleet and the cluster
 * have few, so that they are searched for each autoscaler.
 */
export const overridesOf = ({
  fleet,
  cluster,
  record,
}: OverrideItems): readonly ScopedOverride[] => {
  if (!fleet.overrides && !cluster.overrides && !record.overrides) return NONE;
  const ofCluster = (wanted: string | undefined) =>
    cluster.overrides?.filter(({ namespace }) => namespace === wanted);
  return [
    ...scoped(fleet.overrides, "fleet"),
    ...scoped(ofCluster(undefined), "cluster"),
    ...scoped(ofCluster(record.namespace), "namespace"),
    ...scoped(record.overrides, "autoscaler"),
  ];
};

const NONE: readonly ScopedOverride[] = [];

const scoped = (
  overrides: readonly Override[] | undefined,
  scope: OverrideScope,
): readonly ScopedOverride[] => (overrides ?? NONE).map((override) => ({ ...override, scope }));

/** The record without its expired overrides, as each edit stores it. */
export const withoutExpired = <Holder extends { readonly overrides?: readonly Override[] }>(
  holder: Holder,
  nowMs: number,
): Holder => {
  if (!holder.overrides?.some((override) => isExpired(override, nowMs))) return holder;
  const { overrides: all, ...rest } = holder;
  const left = all.filter((override) => !isExpired(override, nowMs));
  return (left.length === 0 ? rest : { ...rest, overrides: left }) as Holder;
};

/** True from its beginning to its end; the end itself is outside. */
export const isActive = (
  { fromMs, untilMs }: Pick<Override, "fromMs" | "untilMs">,
  nowMs: number,
): boolean => fromMs <= nowMs && !isExpired({ untilMs }, nowMs);

export const isExpired = (
  { untilMs }: { readonly untilMs?: number | undefined },
  nowMs: number,
): boolean => untilMs !== undefined && untilMs <= nowMs;

/**
 * What people have set beside the manifest: overrides that may meet the autoscaler, and the
 * calendars of the fleet.
 */
export interface SetByPeople {
  readonly overrides: readonly ScopedOverride[];
  readonly calendars: readonly Calendar[];
}

/** Everything beside the manifest that has a say in its bounds. */
export interface SetBeside extends SetByPeople {
  /** Present where the manifest takes the advice of forecasts. */
  readonly forecast?: ForecastState;
}

export const NOTHING_SET: SetByPeople = { overrides: [], calendars: [] };

/** Where a bound comes from, and when that ends. */
export type BoundSource =
  | { readonly kind: "manifest" }
  /** `ramp`: the bound is on its way to the value of the entry, or from it. */
  | {
      readonly kind: "schedule";
      readonly name: string;
      readonly untilMs: number;
      readonly ramp?: "in" | "out";
    }
  | {
      readonly kind: "override";
      readonly id: string;
      readonly scope: OverrideScope;
      readonly by: string;
      readonly reason: string;
      /** Absent for a hold without an end. */
      readonly untilMs?: number;
    }
  /** The ceiling was below the floor, and follows it. */
  | { readonly kind: "floor" }
  | ({ readonly kind: "forecast" } & Pick<
      Extract<ForecastState, { readonly kind: "floor" }>,
      "quantile" | "metric" | "atMs" | "fromMs"
    >);

export interface Bound {
  readonly replicas: number;
  readonly source: BoundSource;
}

/** The bounds of an autoscaler at an instant. */
export interface EffectiveBounds {
  readonly min: Bound;
  readonly max: Bound;
  /** Present while an entry of the schedule pauses the autoscaler. */
  readonly paused?: Extract<BoundSource, { readonly kind: "schedule" }>;
  /** What holds the autoscaler: nothing is written while there is one. */
  readonly holds: readonly Extract<BoundSource, { readonly kind: "override" }>[];
  /**
   * Present where the schedule names a calendar that the fleet does not have: min, max and pause
   * are then a guess.
   */
  readonly unknownCalendar?: UnknownCalendar;
  /** What the forecast asks for, whether it raises the minimum or not. */
  readonly forecast?: ForecastState;
}

/** A calendar that is named and not there. */
export interface UnknownCalendar {
  readonly name: string;
  /** The path of the field that names it. */
  readonly field: string;
}
