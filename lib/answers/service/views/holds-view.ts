import { LATEST_MS } from "../../../rules/model/time-text.ts";
import type { AutoscalerRecord, ClusterRecord, FleetRecord } from "../../../rules/model/records.ts";
import type {
  FrozenView,
  PauseView,
  BoundSourceView,
  BoundsView,
  OverrideSetView,
  OverrideView,
} from "../../views/holds.ts";
import { nonEmpty, present } from "../../../rules/model/json.ts";
import { rfc3339 } from "../times.ts";
import {
  type BoundSource,
  type EffectiveBounds,
  isActive,
  isExpired,
  type Override,
  type OverrideScope,
  type ScopedOverride,
  overridesOf,
} from "../../../rules/model/override.ts";
import type { BoundsInForce } from "../../../rules/model/windows.ts";
import type { ForecastState } from "../../../rules/model/forecast.ts";
import { forecastText } from "../../../rules/policy/forecast-text.ts";
import { effectiveBounds, isByManifest } from "../../../rules/policy/bounds/effective-bounds.ts";
import type { AutoscalerView } from "../../views/autoscaler.ts";
import type { Evaluated } from "../facts/journals.ts";
import type { StoredSpec } from "../stored-spec.ts";
import { invalid } from "../refusals.ts";

/** The pause if it is still active. A pause ends at its time without an edit. */
export const pauseView = (
  paused: AutoscalerRecord["paused"],
  nowMs: number,
): PauseView | undefined => {
  if (!paused || (paused.untilMs !== undefined && paused.untilMs <= nowMs)) return undefined;
  return present({ by: paused.by, at: rfc3339(paused.atMs), until: endText(paused.untilMs) });
};

export const frozenView = ({
  by,
  atMs,
  reason,
}: NonNullable<FleetRecord["frozen"]>): FrozenView => ({ by, at: rfc3339(atMs), reason });

/**
 * Checks the end of a pause before it is stored. `what`: `"web"`, `cluster "eu-1"`. Throws
 * `service.invalid`.
 */
export const checkPauseEnd = (what: string, untilMs: number | undefined, nowMs: number): void => {
  if (untilMs === undefined || (untilMs > nowMs && untilMs <= LATEST_MS)) return;
  const problem =
    untilMs <= nowMs
      ? `its end has passed, it is ${rfc3339(nowMs)}`
      : `the latest end is ${rfc3339(LATEST_MS)}`;
  throw invalid(`Cannot pause ${what}: ${problem}`, { untilMs });
};

/**
 * Where an override is stored: in the item of the fleet, of a cluster (with its namespaces), or of
 * an autoscaler.
 */
export interface OverridePlace {
  readonly scope: OverrideScope;
  readonly cluster?: string;
  readonly namespace?: string;
  readonly name?: string;
}

const FACTOR = 1000;

/** What an override sets, with the factor in thousandths. */
export const overrideSet = ({
  hold,
  min,
  max,
  minFactor,
}: { readonly [Field in keyof OverrideSetView]: OverrideSetView[Field] | undefined }) =>
  present({
    hold,
    min,
    max,
    minFactorMilli: minFactor === undefined ? undefined : Math.round(minFactor * FACTOR),
  });

export const overrideView = (
  { scope, cluster, namespace, name }: OverridePlace,
  override: Override,
  nowMs: number,
): OverrideView => {
  const state = isExpired(override, nowMs)
    ? "expired"
    : isActive(override, nowMs)
      ? "active"
      : "ahead";
  return present({
    id: override.id,
    scope,
    cluster,
    namespace,
    name,
    state,
    ...overrideFields(override),
  });
};

/** An override as all documents show it: with times in RFC 3339. */
export const overrideFields = ({
  set: { minFactorMilli, hold, min, max },
  ...override
}: Override): Omit<OverrideView, keyof OverridePlace | "id" | "state"> => {
  const { fromMs, untilMs, reason, by, atMs, force } = override;
  const minFactor = minFactorMilli === undefined ? undefined : minFactorMilli / FACTOR;
  return present({
    hold,
    min,
    max,
    minFactor,
    from: rfc3339(fromMs),
    until: endText(untilMs),
    reason,
    by,
    at: rfc3339(atMs),
    force,
  });
};

const untilText = (untilMs: number): string => rfc3339(Math.min(untilMs, LATEST_MS));
const endText = (untilMs: number | undefined): string | undefined =>
  untilMs === undefined ? undefined : untilText(untilMs);

/** An override as the rules take it, from its view. */
export const overrideOf = ({
  id,
  scope,
  from,
  until,
  reason,
  by,
  at,
  force,
  ...set
}: OverrideView): ScopedOverride => {
  const untilMs = until === undefined ? undefined : Date.parse(until);
  return present({
    id,
    scope,
    set: overrideSet(set),
    fromMs: Date.parse(from),
    untilMs,
    reason,
    by,
    atMs: Date.parse(at),
    force,
  });
};

export const sourceView = (source: BoundSource): BoundSourceView => {
  switch (source.kind) {
    case "manifest":
    case "floor":
      return { kind: source.kind };
    case "schedule": {
      const { kind, name, untilMs, ramp } = source;
      return { kind, name, until: untilText(untilMs), ...(ramp && { ramp }) };
    }
    case "override": {
      const { kind, id, scope, by, reason, untilMs } = source;
      return present({ kind, id, scope, by, reason, until: endText(untilMs) });
    }
    case "forecast": {
      const { kind, quantile, metric, atMs, fromMs } = source;
      return { kind, quantile, metric, at: untilText(atMs), from: untilText(fromMs) };
    }
  }
};

export const boundsView = ({
  min,
  max,
  paused,
  holds,
  unknownCalendar,
  forecast,
}: EffectiveBounds): BoundsView =>
  present({
    min: { replicas: min.replicas, by: sourceView(min.source) },
    max: { replicas: max.replicas, by: sourceView(max.source) },
    paused: paused && sourceView(paused),
    holds: nonEmpty(holds.map(sourceView)),
    unknownCalendar,
    forecast: forecast && forecastView(forecast),
  });

/** The place of an override that meets an autoscaler. */
export const overridePlaceOf = (
  { cluster, namespace, name }: Pick<AutoscalerRecord, "cluster" | "namespace" | "name">,
  { scope }: Pick<ScopedOverride, "scope">,
): OverridePlace => ({
  scope,
  ...(scope !== "fleet" && { cluster }),
  ...((scope === "namespace" || scope === "autoscaler") && { namespace }),
  ...(scope === "autoscaler" && { name }),
});

const forecastView = (state: ForecastState): NonNullable<BoundsView["forecast"]> => ({
  ...(state.kind === "floor" && { replicas: state.replicas }),
  text: forecastText(state),
});

interface Snapshot {
  readonly spec: StoredSpec;
  readonly fleet: FleetRecord;
  readonly cluster: ClusterRecord;
  readonly record: AutoscalerRecord;
  readonly evaluated?: Evaluated | undefined;
  readonly nowMs: number;
}

/**
 * The bounds of an autoscaler now, and the overrides that meet it. The forecast is the one that the
 * last evaluation took.
 */
export const overridesView = ({
  spec,
  fleet,
  cluster,
  record,
  evaluated,
  nowMs,
}: Snapshot): { readonly bounds?: BoundsView; readonly overrides?: readonly OverrideView[] } => {
  const overrides = overridesOf({ fleet, cluster, record }).filter(
    (override) => !isExpired(override, nowMs),
  );
  const forecast = evaluated?.evaluation.bounds?.forecast;
  const beside = { overrides, calendars: fleet.calendars ?? [], ...(forecast && { forecast }) };
  return present({
    bounds:
      spec.kind === "spec" && !isByManifest(spec.spec, beside, nowMs)
        ? boundsView(effectiveBounds(spec.spec, beside, nowMs))
        : undefined,
    overrides: nonEmpty(
      overrides.map((override) => overrideView(overridePlaceOf(record, override), override, nowMs)),
    ),
  });
};

/** The bounds that hold now: the bounds of a schedule or an override, else of the manifest. */
export const boundsInForce = ({
  bounds,
  minReplicas,
  maxReplicas,
}: Pick<AutoscalerView, "bounds" | "minReplicas" | "maxReplicas">): {
  readonly min?: number;
  readonly max?: number;
} => {
  return present({
    min: bounds?.min.replicas ?? minReplicas,
    max: bounds?.max.replicas ?? maxReplicas,
  });
};

/** The bounds of an evaluation; undefined where nothing says that any but the manifest set them. */
export const boundsThen = (bounds: BoundsInForce | undefined): BoundsView | undefined => {
  if (!bounds) return undefined;
  const { min, max, minBy, maxBy, paused, forecast, holds = [] } = bounds;
  if (!minBy && !maxBy && !paused && !forecast && holds.length === 0) return undefined;
  const manifest = { kind: "manifest" } as const;
  const [least, most] = [
    { replicas: min, source: minBy ?? manifest },
    { replicas: max, source: maxBy ?? manifest },
  ];
  return boundsView(present({ min: least, max: most, paused, holds, forecast }));
};
