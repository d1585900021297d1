import { asList, asObject, type Json } from "../../../model/json.ts";
import type { Detail } from "../finding.ts";
import { passOver } from "../ledger.ts";
import {
  changed,
  writtenCount,
  type Entry,
  entriesOf,
  isUnread,
  lost,
  writtenName,
  writtenNamespace,
  type Timed,
  type TimedFor,
  textOf,
  atTime,
  cronTimes,
  minuteOfDay,
  type WeeklySpan,
  spansBetween,
  type Unread,
  type WeekMinute,
  weekdaysIn,
  weeklyWindows,
  withoutEffect,
} from "./timed.ts";

/*
 * kube-downscaler and kube-green bring workloads to zero outside working hours. A bound of a
 * schedule is 1 at least, so the entries hold one pod: what the workloads cost then is said, and
 * nothing has to be woken.
 */

const ONE = 1;
const toOne = (of: string, replicas: number): readonly Detail[] =>
  replicas < ONE ? [changed(of, "it keeps 1 pod, and not 0: no bound of a schedule is 0")] : [];

/** A SleepInfo of kube-green: all workloads of its namespace sleep from `sleepAt` to `wakeUpAt`. */
export const sleepInfo = (raw: Json): Timed => {
  const spec = asObject(raw["spec"]);
  const { weekdays, sleepAt, wakeUpAt, timeZone, excludeRef } = spec;
  passOver(asList(excludeRef).map((each) => NAMED_BY.map((field) => asObject(each)[field])));
  const except = asList(excludeRef)
    .map(asObject)
    .flatMap(({ kind, name }) =>
      textOf(name) === undefined ? [] : `${String(kind)}/${String(name)}`,
    );
  const whom: TimedFor = { kind: "namespace", namespace: writtenNamespace(raw), except };
  const [sleeps, wakes] = [sleepAt, wakeUpAt].map((clock) =>
    kubeGreenTimes(String(weekdays), clock),
  );
  const unread = [sleeps, wakes].flatMap((times) =>
    times && isUnread(times) ? [lost("spec", times.unread)] : [],
  );
  if (!sleeps || !wakes || isUnread(sleeps) || isUnread(wakes))
    return { for: whom, entries: [], details: unread };
  const windows = weeklyWindows(spansBetween(sleeps, wakes));
  if (isUnread(windows)) return { for: whom, entries: [], details: [lost("spec", windows.unread)] };
  const entries = entriesOf(windows, {
    name: writtenName(raw),
    timeZone: textOf(timeZone) ?? "Etc/UTC",
    minReplicas: ONE,
    maxReplicas: ONE,
  });
  const others = OTHER_FIELDS.flatMap(([field, applies, say, message]) => {
    passOver(spec[field]);
    return applies(spec[field]) ? [say(`spec.${field}`, message)] : [];
  });
  const byLabels = asList(excludeRef).some((each) => asObject(each)["matchLabels"] !== undefined);
  const excluded = byLabels
    ? [lost("spec.excludeRef", "it excludes by labels; convert with the names of what is excluded")]
    : [];
  return { for: whom, entries, details: [...toOne("spec.sleepAt", 0), ...others, ...excluded] };
};

/** Only the name of what is excluded counts; labels are refused. */
const NAMED_BY = ["apiVersion", "kind", "matchLabels"];
const APART = "convert their autoscalers in files of their own";

type OtherField = readonly [
  field: string,
  applies: (value: unknown) => boolean,
  say: (of: string, message: string) => Detail,
  message: string,
];
const isWritten = (value: unknown): boolean => value !== undefined;
const isFalse = (value: unknown): boolean => value === false;

/** Fields that a SleepInfo has beside times and exceptions. */
const OTHER_FIELDS: readonly OtherField[] = [
  ["suspendDeployments", isFalse, lost, `its Deployments do not sleep; ${APART}`],
  ["suspendStatefulSets", isFalse, lost, `its StatefulSets do not sleep; ${APART}`],
  ["includeRef", isWritten, lost, `only what it names sleeps; ${APART}`],
  ["suspendCronJobs", isWritten, withoutEffect, "a CronJob has no count of pods"],
  ["patches", isWritten, lost, `they change objects in another way than by a count; ${APART}`],
];

/** Weekdays as in a cron line, with 0 for Sunday, at a clock time. */
const kubeGreenTimes = (weekdays: string, clock: unknown): readonly WeekMinute[] | Unread => {
  const [hour, minute] = String(clock).split(":");
  return clock === undefined
    ? { unread: "it never wakes: it has no wakeUpAt; pause the autoscalers instead" }
    : cronTimes(`${minute} ${hour} * * ${weekdays}`);
};

const placeOf = (name: string): string => `metadata.annotations["downscaler/${name}"]`;

const isTrue = (value: unknown): boolean => String(value).toLowerCase() === "true";

const BOTH = "it runs inside uptime and outside downtime; write the hours of both in one of them";
const INSTEAD = "a schedule does not say it; pause or override the autoscaler instead";

/** What else kube-downscaler reads of an object. The count that it goes back to is no rule. */
const OTHERS: readonly (readonly [
  name: string,
  say: (of: string, message: string) => Detail,
  message: string,
])[] = [
  ["force-uptime", lost, INSTEAD],
  ["force-downtime", lost, INSTEAD],
  ["upscale-period", lost, "write the hours as uptime, which the object then has all the time"],
  ["downscale-period", lost, "write the hours as downtime, which the object then has all the time"],
  ["exclude-until", changed, `it is not carried over: ${INSTEAD}`],
  ["original-replicas", withoutEffect, "it is the count to which kube-downscaler goes back"],
];

/** True for an object with annotations of kube-downscaler that say when it runs. */
export const hasDowntime = (raw: Json): boolean => {
  const annotations = asObject(asObject(raw["metadata"])["annotations"]);
  return "downscaler/uptime" in annotations || "downscaler/downtime" in annotations;
};

/**
 * Annotations of kube-downscaler, on a workload, an HPA or a namespace. Their entries hold outside
 * `uptime`, or inside `downtime`.
 */
export const kubeDownscaler = (raw: Json): Timed => {
  const annotations = asObject(asObject(raw["metadata"])["annotations"]);
  const whom = annotatedOf(raw);
  const { "downscaler/uptime": up, "downscaler/downtime": down } = annotations;
  const isUptime = up !== undefined;
  const of = placeOf(isUptime ? "uptime" : "downtime");
  if (isTrue(annotations["downscaler/exclude"])) {
    passOver(annotations);
    const message = "kube-downscaler leaves the object alone, so that it has no schedule";
    return { for: whom, entries: [], details: [withoutEffect(placeOf("exclude"), message)] };
  }
  const read = downtimesIn(String(up ?? down));
  const others = [
    ...(isUptime && down !== undefined ? [lost(placeOf("downtime"), BOTH)] : []),
    ...OTHERS.flatMap(([name, say, message]) =>
      annotations[`downscaler/${name}`] === undefined ? [] : [say(placeOf(name), message)],
    ),
  ];
  if (isUnread(read))
    return { for: whom, entries: [], details: [lost(of, read.unread), ...others] };
  const windows = weeklyWindows(isUptime ? outside(read.spans) : read.spans);
  if (isUnread(windows))
    return { for: whom, entries: [], details: [lost(of, windows.unread), ...others] };
  const replicas = writtenCount(annotations["downscaler/downtime-replicas"]) ?? 0;
  const bounds = { minReplicas: Math.max(ONE, replicas), maxReplicas: Math.max(ONE, replicas) };
  return {
    for: whom,
    entries: entriesOf(windows, { name: "downtime", timeZone: read.timeZone, ...bounds }),
    details: [...toOne(of, replicas), ...others],
  };
};

const annotatedOf = (raw: Json): TimedFor => {
  const kind = String(raw["kind"]);
  if (kind === "Namespace") return { kind: "namespace", namespace: writtenName(raw), except: [] };
  const named = { namespace: writtenNamespace(raw), name: writtenName(raw) };
  return kind === "HorizontalPodAutoscaler"
    ? { kind: "autoscaler", ...named }
    : { kind: "workload", workload: kind, ...named };
};

/** From each end of the uptime to its next beginning. */
const outside = (spans: readonly WeeklySpan[]): readonly WeeklySpan[] =>
  spansBetween(
    spans.map(({ start, minutes }) => (start + minutes) % (7 * 1_440)),
    spans.map(({ start }) => start),
  );

const SPEC = /^([A-Za-z]{3,9}(?:-[A-Za-z]{3,9})?)\s+(\d{1,2}:\d{2})-(\d{1,2}:\d{2})\s+(\S+)$/;

/** "Mon-Fri 07:30-18:00 Europe/Berlin", and several of these. */
const downtimesIn = (
  text: string,
): { readonly spans: readonly WeeklySpan[]; readonly timeZone: string } | Unread => {
  const read = text.split(",").map((part) => SPEC.exec(part.trim()) ?? []);
  const spans = read.map(([, days = "", from = "", to = ""]) => {
    const [weekdays, start, end] = [weekdaysIn(days), minuteOfDay(from), minuteOfDay(to)];
    if (!weekdays || start === undefined || end === undefined) return undefined;
    return atTime(weekdays, start).map(
      (at): WeeklySpan => ({ start: at, minutes: end > start ? end - start : end - start + 1_440 }),
    );
  });
  const zones = [...new Set(read.map(([, , , , zone = ""]) => zone))];
  const [timeZone = ""] = zones;
  if (spans.some((each) => each === undefined))
    return {
      unread: `"${text}" is not read, only days and times such as Mon-Fri 07:30-18:00 Europe/Berlin`,
    };
  if (zones.length > 1) return { unread: `"${text}" follows several clocks` };
  return { spans: spans.flatMap((each) => each ?? []), timeZone };
};

/**
 * A ScalingSchedule of kube-metrics-adapter, with the entries that a value of its metric comes to:
 * `value` divided by the target of the metric.
 */
export const scalingSchedule = (raw: Json, target: number): Omit<Timed, "for"> => {
  const { schedules, scalingWindowDurationMinutes } = asObject(raw["spec"]);
  const ramp = writtenCount(scalingWindowDurationMinutes) ?? DEFAULT_RAMP_MINUTES;
  const read = asList(schedules).map((each, index) =>
    scheduleEntry(asObject(each), {
      of: `spec.schedules[${index}]`,
      name: `${writtenName(raw)}-${index}`,
      target,
    }),
  );
  return {
    entries: read.flatMap(({ entries }) =>
      entries.map((entry) =>
        ramp > 0 ? { ...entry, rampMinutes: { in: ramp, out: ramp } } : entry,
      ),
    ),
    details: [
      ...read.flatMap(({ details }) => details),
      ...(ramp > 0
        ? [changed("spec.scalingWindowDurationMinutes", "its ramps are lines, and not steps")]
        : []),
    ],
  };
};

const DEFAULT_RAMP_MINUTES = 10;

const scheduleEntry = (
  { type, period, value, durationMinutes, date }: Json,
  { of, name, target }: { readonly of: string; readonly name: string; readonly target: number },
): Omit<Timed, "for"> => {
  const refused = (message: string) => ({ entries: [], details: [lost(of, message)] });
  if (type !== "Repeating")
    return refused(`it is once, at ${String(date)}; write an entry with dates and times`);
  const { startTime, endTime, days, timezone } = asObject(period);
  const [start, end, duration] = [
    minuteOfDay(String(startTime)),
    endTime === undefined ? undefined : minuteOfDay(String(endTime)),
    writtenCount(durationMinutes),
  ];
  const weekdays = asList(days).flatMap((day) => weekdaysIn(String(day)) ?? []);
  const replicas = Math.ceil(Number(value) / target);
  if (start === undefined || weekdays.length === 0)
    return refused("its startTime or its days cannot be read");
  if (!(replicas >= 1))
    return refused(`its value ${String(value)} comes to no pod at the target ${target}`);
  // The later end counts, as in the adapter.
  const minutes = Math.max(
    duration ?? 0,
    end === undefined ? 0 : (end - start + 1_440) % 1_440 || 1_440,
  );
  if (minutes < 1 || minutes > 7 * 1_440) return refused("its length must be a minute to a week");
  const windows = weeklyWindows(
    atTime(weekdays, start).map((at): WeeklySpan => ({ start: at, minutes })),
  );
  if (isUnread(windows)) return refused(windows.unread);
  const entry: Entry = { name, timeZone: textOf(timezone) ?? "Etc/UTC", minReplicas: replicas };
  return { entries: entriesOf(windows, entry), details: [] };
};
