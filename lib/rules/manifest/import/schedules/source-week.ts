import { asList, asObject, type Json } from "../../../model/json.ts";
import { DAY_MS, MINUTE_MS, weekdayOf } from "../../../model/time-text.ts";
import { offsetAt } from "../../../model/time-zone.ts";
import { zoneOfKeda } from "./actions.ts";
import {
  cronTimes,
  isUnread,
  minuteOfDay,
  type OwnBounds,
  textOf,
  type WeekMinute,
  weekdaysIn,
  writtenCount,
} from "./timed.ts";

/*
 * What the controller of an object does at each minute of a week, by its own rule and not by the
 * windows that a conversion makes of it. It is only there to compare a conversion with.
 */

/** The bounds that a controller has set at a local minute of the week. */
type BoundsAt = (minute: WeekMinute, own: OwnBounds) => OwnBounds;

/** A rule of a controller, and the clock that it follows. */
export interface SourceRule {
  readonly timeZone: string;
  readonly boundsAt: BoundsAt;
  /** The count that a controller sets once at this minute, from which metrics go on. */
  readonly countAt?: (minute: WeekMinute) => number | undefined;
}

const WEEK = 7 * 1_440;

/** The minute of the week on the clock of a zone. */
export const weekMinuteAt = (timeZone: string, atMs: number): WeekMinute => {
  const wallMs = atMs + offsetAt(timeZone, atMs);
  const day = Math.floor(wallMs / DAY_MS);
  return weekdayOf(day) * 1_440 + Math.floor((wallMs - day * DAY_MS) / MINUTE_MS);
};

const instantsOf = (line: unknown, sunday: 0 | 1 = 0): readonly WeekMinute[] => {
  const times = cronTimes(String(line), sunday);
  return isUnread(times) ? [] : times;
};

/** Minutes to the next instant after this minute. */
const untilNext = (instants: readonly WeekMinute[], minute: WeekMinute): number =>
  Math.min(...instants.map((instant) => (instant - minute + WEEK - 1) % WEEK));
/** Minutes since the last instant at or before this minute. */
const sinceLast = (instants: readonly WeekMinute[], minute: WeekMinute): number =>
  Math.min(...instants.map((instant) => (minute - instant + WEEK) % WEEK));

const atLeast = (own: OwnBounds, count: number): OwnBounds => ({
  ...own,
  least: Math.min(own.most, Math.max(own.least, count)),
});

/** The triggers cron of a ScaledObject; none of another object. */
export const kedaRules = (raw: Json): readonly SourceRule[] =>
  raw["kind"] === "ScaledObject"
    ? asList(asObject(raw["spec"])["triggers"])
        .map(asObject)
        .filter(({ type }) => type === "cron")
        .map(({ metadata }) => kedaRule(asObject(metadata)))
    : [];

/** A trigger cron of KEDA asks for its count while its next instant is an end. */
const kedaRule = (metadata: Json): SourceRule => {
  const [starts, ends] = [instantsOf(metadata["start"]), instantsOf(metadata["end"])];
  const count = writtenCount(metadata["desiredReplicas"]) ?? 0;
  return {
    timeZone: zoneOfKeda(metadata["timezone"]),
    boundsAt: (minute, own) =>
      untilNext(ends, minute) <= untilNext(starts, minute) ? atLeast(own, count) : own,
  };
};

interface SetAt {
  readonly instants: readonly WeekMinute[];
  readonly least?: number | undefined;
  readonly most?: number | undefined;
}

/** Each bound is what the last action set that sets it; a bound that none sets is the own one. */
const byLastAction =
  (actions: readonly SetAt[]): BoundsAt =>
  (minute, own) => {
    const last = (bound: "least" | "most"): number => {
      const [newest] = actions
        .filter((action) => action[bound] !== undefined && action.instants.length > 0)
        .map((action) => ({ value: action[bound], ago: sinceLast(action.instants, minute) }))
        .toSorted((one, other) => one.ago - other.ago);
      return newest?.value ?? own[bound];
    };
    return { least: last("least"), most: last("most") };
  };

/** The count that a rule sets once is no bound: metrics go on from there. */
const karmadaRules = (raw: Json): readonly SourceRule[] => {
  const rules = asList(asObject(raw["spec"])["rules"])
    .map(asObject)
    .filter(({ suspend }) => suspend !== true);
  const timeZone = textOf(rules[0]?.["timeZone"]) ?? "Etc/UTC";
  const actions = rules.map((rule) => ({
    instants: instantsOf(rule["schedule"]),
    least: writtenCount(rule["targetMinReplicas"]),
    most: writtenCount(rule["targetMaxReplicas"]),
  }));
  const counts = rules.map((rule) => ({
    instants: instantsOf(rule["schedule"]),
    count: writtenCount(rule["targetReplicas"]),
  }));
  const countAt: SourceRule["countAt"] = (minute) =>
    counts.find(({ count, instants }) => count !== undefined && instants.includes(minute))?.count;
  return [{ timeZone, boundsAt: byLastAction(actions), countAt }];
};

const awsRules = (raw: Json): readonly SourceRule[] => {
  const actions = asList(raw["ScheduledActions"]).map(asObject);
  const read = actions.map((action): SetAt => {
    const fields = /^cron\((.+)\)$/.exec(String(action["Schedule"]))?.[1]?.split(" ").slice(0, 5);
    const { MinCapacity, MaxCapacity } = asObject(action["ScalableTargetAction"]);
    return {
      instants: instantsOf(fields?.join(" "), 1),
      least: writtenCount(MinCapacity),
      most: writtenCount(MaxCapacity),
    };
  });
  const timeZone = textOf(actions[0]?.["Timezone"]) ?? "Etc/UTC";
  return [{ timeZone, boundsAt: byLastAction(read) }];
};

const fixed = (count: number): OwnBounds => ({ least: count, most: count });

/** kube-green brings workloads to 0 from `sleepAt` to `wakeUpAt`. */
const sleepRules = (raw: Json): readonly SourceRule[] => {
  const { weekdays, sleepAt, wakeUpAt, timeZone } = asObject(raw["spec"]);
  const at = (clock: unknown): readonly WeekMinute[] => {
    const [hour, minute] = String(clock).split(":");
    return instantsOf(`${minute} ${hour} * * ${String(weekdays)}`);
  };
  const [sleeps, wakes] = [at(sleepAt), at(wakeUpAt)];
  return [
    {
      timeZone: textOf(timeZone) ?? "Etc/UTC",
      boundsAt: (minute, own) =>
        sinceLast(sleeps, minute) < sinceLast(wakes, minute) ? fixed(0) : own,
    },
  ];
};

const TIMES = /^([A-Za-z-]+)\s+(\d{1,2}:\d{2})-(\d{1,2}:\d{2})\s+(\S+)$/;

/** kube-downscaler looks at each minute whether it is inside one of its times. */
const downscalerRules = (raw: Json): readonly SourceRule[] => {
  const annotations = asObject(asObject(raw["metadata"])["annotations"]);
  const up = textOf(annotations["downscaler/uptime"]);
  const written = String(up ?? annotations["downscaler/downtime"]).split(",");
  const times = written.map((part) => {
    const [, days = "", from = "", to = "", zone = "Etc/UTC"] = TIMES.exec(part.trim()) ?? [];
    return {
      days: weekdaysIn(days) ?? [],
      from: minuteOfDay(from) ?? 0,
      to: minuteOfDay(to) ?? 0,
      zone,
    };
  });
  const isInside = (minute: WeekMinute): boolean =>
    times.some(({ days, from, to }) => {
      const [day, clock] = [Math.floor(minute / 1_440), minute % 1_440];
      if (to > from) return days.includes(day) && clock >= from && clock < to;
      return (days.includes(day) && clock >= from) || (days.includes((day + 6) % 7) && clock < to);
    });
  const count = writtenCount(annotations["downscaler/downtime-replicas"]) ?? 0;
  return [
    {
      timeZone: times[0]?.zone ?? "Etc/UTC",
      boundsAt: (minute, own) => (isInside(minute) === (up !== undefined) ? own : fixed(count)),
    },
  ];
};

/** A ScalingSchedule asks for its value by the target of the metric, without its ramps. */
export const scalingScheduleRules = (raw: Json, target: number): readonly SourceRule[] =>
  asList(asObject(raw["spec"])["schedules"])
    .map(asObject)
    .map(({ period, value, durationMinutes }): SourceRule => {
      const { startTime, endTime, days, timezone } = asObject(period);
      const from = minuteOfDay(String(startTime)) ?? 0;
      const end = minuteOfDay(String(endTime));
      const long = Math.max(
        writtenCount(durationMinutes) ?? 0,
        end === undefined ? 0 : (end - from + 1_440) % 1_440 || 1_440,
      );
      const starts = asList(days)
        .flatMap((day) => weekdaysIn(String(day)) ?? [])
        .map((day) => day * 1_440 + from);
      return {
        timeZone: textOf(timezone) ?? "Etc/UTC",
        boundsAt: (minute, own) =>
          sinceLast(starts, minute) < long ? atLeast(own, Math.ceil(Number(value) / target)) : own,
      };
    });

const BY_KIND: Readonly<Record<string, (raw: Json) => readonly SourceRule[]>> = {
  CronFederatedHPA: karmadaRules,
  SleepInfo: sleepRules,
};

/** What the controller of a timed object does; a ScalingSchedule is read with its HPA. */
export const timedRules = (raw: Json): readonly SourceRule[] => {
  if ("ScheduledActions" in raw) return awsRules(raw);
  const read = BY_KIND[String(raw["kind"])];
  if (read) return read(raw);
  const annotations = asObject(asObject(raw["metadata"])["annotations"]);
  const isAnnotated = "downscaler/uptime" in annotations || "downscaler/downtime" in annotations;
  return isAnnotated ? downscalerRules(raw) : [];
};
