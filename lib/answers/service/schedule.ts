import { TidemarkError } from "../../rules/model/errors.ts";
import {
  type AutoscalerRef,
  autoscalerName,
  clusterName,
  namespace as namespaceOf,
} from "../../rules/model/ids.ts";
import type { FleetRecord } from "../../rules/model/records.ts";
import { present } from "../../rules/model/json.ts";
import { isExpired, overridesOf, type SetByPeople } from "../../rules/model/override.ts";
import { CHANGES_AHEAD_MAX, type ScheduleEntry } from "../../rules/model/schedule.ts";
import type { AutoscalerSpec } from "../../rules/model/spec.ts";
import { DAY_MS, MINUTE_MS } from "../../rules/model/time-text.ts";
import { type ClockChange, clockChanges, localText } from "../../rules/model/time-zone.ts";
import { effectiveBounds, unknownCalendars } from "../../rules/policy/bounds/effective-bounds.ts";
import { laneOf, type LaneWindow } from "../../rules/policy/bounds/lanes.ts";
import { type BoundsChange, changesAhead } from "../../rules/policy/bounds/outlook.ts";
import { getAutoscalers } from "../../stack/store/records/autoscalers.ts";
import { getFleet, readFleet } from "../../stack/store/records/clusters.ts";
import type {
  BoundsChangeView,
  ClockChangeView,
  ScheduleLaneView,
  SchedulesView,
  ScheduleView,
  ScheduleWindowView,
} from "../views/schedule.ts";
import { type QueryContext, sees } from "./context.ts";
import { findAutoscaler, type LocatedAutoscaler } from "./find-autoscaler.ts";
import { invalid } from "./refusals.ts";
import type { SchedulesQuery } from "./requests.ts";
import type { AutoscalerCursor, ScheduleQuery } from "./service.ts";
import { storedSpec } from "./stored-spec.ts";
import { rfc3339 } from "./times.ts";
import { wholeName } from "./whole-name.ts";
import { boundsView, overridePlaceOf, overrideView } from "./views/holds-view.ts";

/** Two weeks hold every weekday twice, and the change of the clock that comes next month is seen. */
const LANES_MS = 14 * DAY_MS;
/** Lanes of a year would draw nothing that a person can read. */
const LANES_MS_MAX = 62 * DAY_MS;
const CHANGES = 10;

/**
 * The bounds of an autoscaler at an instant, the changes that its schedule and the overrides make
 * after it, and the windows of each entry. Nothing is evaluated: what the syncs read is read, and
 * the rules say the rest.
 */
export const schedule = async (
  context: QueryContext,
  { fromMs, untilMs, most, ...query }: ScheduleQuery,
): Promise<ScheduleView> => {
  const asked = askedOf(context, { fromMs, untilMs, most });
  const [located, fleet] = await Promise.all([
    findAutoscaler(context, query),
    getFleet(context.tables),
  ]);
  return viewOf({ ...located, fleet, spec: mustHaveSpec(located) }, asked);
};

/**
 * The same of the autoscalers of one screen, whose records are read together. A name that nothing
 * has, or that the caller may not look at, is not in the answer.
 */
export const schedules = async (
  context: QueryContext,
  { names, ...times }: SchedulesQuery,
): Promise<SchedulesView> => {
  const asked = askedOf(context, times);
  refuseTogether(names.length, asked.most);
  const wanted = names.map(wholeName).filter((name) => sees(context, name.cluster, name.namespace));
  const [{ fleet, clusters }, items] = await Promise.all([
    readFleet(context.tables),
    getAutoscalers(context.tables, wanted.map(refOf)),
  ]);
  const known = new Map(
    clusters.flatMap((item) => (item.kind === "read" ? [[item.record.name, item.record]] : [])),
  );
  const found: ScheduleView[] = [];
  const unread: SchedulesView["unread"][number][] = [];
  for (const [at, name] of wanted.entries()) {
    const item = items[at];
    const cluster = known.get(clusterName(name.cluster));
    if (!item || !cluster) continue;
    const stored = item.kind === "read" ? storedSpec(item.record) : item;
    if (item.kind === "read" && stored.kind === "spec")
      found.push(viewOf({ cluster, record: item.record, fleet: fleet(), ...stored }, asked));
    else if (stored.kind !== "spec") unread.push({ ...name, message: stored.message });
  }
  return { schedules: found, unread };
};

/** A change of 64 overlapping entries takes some milliseconds: all names share the changes of one. */
const refuseTogether = (names: number, most: number): void => {
  if (names * most > CHANGES_AHEAD_MAX)
    throw invalid(
      `Cannot list ${most} changes of each of ${names} schedules: an answer has at most ${CHANGES_AHEAD_MAX}; ask for at most ${Math.floor(CHANGES_AHEAD_MAX / names)} of each, or for fewer schedules`,
      { names, most },
    );
};

const refOf = ({ cluster, namespace, name }: AutoscalerCursor): AutoscalerRef => ({
  cluster: clusterName(cluster),
  namespace: namespaceOf(namespace),
  name: autoscalerName(name),
});

interface Asked {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly most: number;
}

const askedOf = (
  { clock }: QueryContext,
  {
    fromMs = clock(),
    untilMs = fromMs + LANES_MS,
    most = CHANGES,
  }: { readonly [Key in keyof Asked]?: number | undefined },
): Asked => {
  refuseStretch(fromMs, untilMs);
  return { fromMs, untilMs, most };
};

interface Read extends LocatedAutoscaler {
  readonly fleet: FleetRecord;
  readonly spec: AutoscalerSpec;
}

const viewOf = (
  { cluster, record, fleet, spec }: Read,
  { fromMs, untilMs, most }: Asked,
): ScheduleView => {
  const calendars = fleet.calendars ?? [];
  const overrides = overridesOf({ fleet, cluster, record }).filter(
    (override) => !isExpired(override, fromMs),
  );
  const people: SetByPeople = { overrides, calendars };
  const stretch = { fromMs, untilMs };
  const entries = spec.schedule ?? [];
  return {
    ...{ cluster: cluster.name, namespace: record.namespace, name: record.name },
    ...{ at: rfc3339(fromMs), until: rfc3339(untilMs) },
    ...boundsView(effectiveBounds(spec, people, fromMs)),
    changes: changesAhead(spec, people, { fromMs, most }).map(changeView),
    lanes: entries.map((entry) => laneView(entry, laneOf(entry, calendars, stretch))),
    overrides: overrides
      .filter((override) => override.fromMs < untilMs)
      .map((override) => overrideView(overridePlaceOf(record, override), override, fromMs)),
    clockChanges: [...new Set(entries.map(({ timeZone }) => timeZone))]
      .flatMap((zone) => clockChanges(zone, stretch).map((change) => clockView(zone, change)))
      .toSorted((one, other) => one.at.localeCompare(other.at)),
    missingCalendars: missingOf(spec, calendars),
  };
};

const refuseStretch = (fromMs: number, untilMs: number): void => {
  if (untilMs > fromMs && untilMs - fromMs <= LANES_MS_MAX) return;
  throw invalid(
    `Cannot show the schedule until ${rfc3339(untilMs)}: the end must be after ${rfc3339(fromMs)} and at most ${LANES_MS_MAX / DAY_MS} days after it`,
    { field: "until", fromMs, untilMs },
  );
};

const mustHaveSpec = ({ record }: LocatedAutoscaler): AutoscalerSpec => {
  const stored = storedSpec(record);
  if (stored.kind === "spec") return stored.spec;
  const { cluster, namespace, name } = record;
  throw new TidemarkError(
    "store.unreadable",
    `Cannot show the schedule of "${cluster}/${namespace}/${name}": ${stored.message}`,
    { cluster, namespace, name },
  );
};

const missingOf = (
  spec: AutoscalerSpec,
  calendars: SetByPeople["calendars"],
): ScheduleView["missingCalendars"] => {
  const missing = new Map<string, string>();
  for (const { name, field } of unknownCalendars(spec, calendars))
    if (!missing.has(name)) missing.set(name, field);
  return [...missing].map(([name, field]) => ({ name, field }));
};

const changeView = ({ atMs, timeZone, bounds, climb }: BoundsChange): BoundsChangeView => ({
  at: rfc3339(atMs),
  local: localText(timeZone, atMs),
  timeZone,
  ...boundsView(bounds),
  ...(climb && { climbsTo: climb.to, climbsUntil: rfc3339(climb.untilMs) }),
});

const laneView = (
  { name, timeZone, minReplicas, maxReplicas, paused, suspended }: ScheduleEntry,
  windows: readonly LaneWindow[],
): ScheduleLaneView =>
  present({
    name,
    timeZone,
    minReplicas,
    maxReplicas,
    paused,
    suspended: suspended || undefined,
    windows: windows.map(windowView),
  });

const windowView = ({
  rampInMs,
  startMs,
  endMs,
  rampOutMs,
  exceptedBy,
}: LaneWindow): ScheduleWindowView =>
  present({
    rampFrom: rampInMs < startMs ? rfc3339(rampInMs) : undefined,
    from: rfc3339(startMs),
    until: rfc3339(endMs),
    rampUntil: rampOutMs > endMs ? rfc3339(rampOutMs) : undefined,
    exceptedBy,
  });

const clockView = (
  timeZone: string,
  { atMs, beforeMs, afterMs }: ClockChange,
): ClockChangeView => ({
  at: rfc3339(atMs),
  timeZone,
  before: offsetText(beforeMs),
  after: offsetText(afterMs),
});

const MINUTES_AN_HOUR = 60;

/** "+01:00", as RFC 3339 writes it. */
const offsetText = (offsetMs: number): string => {
  const minutes = Math.round(Math.abs(offsetMs) / MINUTE_MS);
  const [hours, rest] = [Math.floor(minutes / MINUTES_AN_HOUR), minutes % MINUTES_AN_HOUR];
  return `${offsetMs < 0 ? "-" : "+"}${String(hours).padStart(2, "0")}:${String(rest).padStart(2, "0")}`;
};
