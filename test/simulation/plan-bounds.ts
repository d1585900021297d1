import { WEEKDAYS } from "../../lib/rules/model/time-text.ts";
import { PODS_MAX } from "./manifests/bounds.ts";
import type { PlannedOrder } from "./orders.ts";
import type { Random } from "./random.ts";
import type { Happening, PlannedAutoscaler, Timetable } from "./timetable.ts";

/**
 * A share of the seeds has schedules, and two editors of overrides. By the seed, so that nothing
 * else that is drawn depends on it.
 */
const BOUNDS_SEEDS = 5;
export const hasBounds = (seed: number): boolean => seed % BOUNDS_SEEDS === BOUNDS_SEEDS - 1;

const SCHEDULED = 1 / 2;
/** Of the edits of an autoscaler with a schedule, some take the schedule away for a while. */
const KEEPS_SCHEDULE = 3 / 4;
const ENTRIES_MOST = 2;
/** The last window and its ramp have ended when nothing happens any more. */
const LAST_MINUTE = 4;
const MINUTE_MS = 60_000;
/** Above the maximum of every manifest, so that a bound that has ended shows in the counts. */
const FLOOR_MOST = PODS_MAX + 2;

/** Zones on both sides of UTC, with offsets of whole hours and of parts of an hour. */
const ZONES = [
  "Etc/UTC",
  "America/New_York",
  "Asia/Kathmandu",
  "Australia/Lord_Howe",
  "Pacific/Apia",
] as const;

/**
 * The same timetable with schedules in manifests that may have one, and with overrides by two
 * editors.
 */
export const withBounds = (timetable: Timetable, random: Random, startMs: number): Timetable => {
  const schedules = timetable.autoscalers.map(({ manifest }) =>
    isPodAutoscaler(manifest) && random.chance(SCHEDULED)
      ? newSchedule(random, startMs)
      : undefined,
  );
  const autoscalers = timetable.autoscalers.map((planned, at) => ({
    ...planned,
    manifest: scheduled(planned.manifest, schedules[at]),
  }));
  const happenings = timetable.happenings.map((happening): Happening => {
    const schedule = schedules[happening.workload];
    if (happening.kind !== "edit" || happening.edit.verb !== "apply" || schedule === undefined)
      return happening;
    // What an autoscaler is at first it is at the end.
    const own = timetable.autoscalers[happening.workload]?.manifest === happening.edit.manifest;
    if (!own && !random.chance(KEEPS_SCHEDULE)) return happening;
    return {
      ...happening,
      edit: { verb: "apply", manifest: scheduled(happening.edit.manifest, schedule) },
    };
  });
  const orders = [
    ...timetable.orders,
    ...overrideOrders(random, autoscalers, "operator"),
    ...overrideOrders(random, autoscalers, "deputy"),
  ];
  return {
    ...timetable,
    autoscalers,
    happenings,
    orders: orders.sort((one, other) => one.atMs - other.atMs),
  };
};

const isPodAutoscaler = (manifest: object): boolean =>
  (manifest as { readonly kind: string }).kind === "PodAutoscaler";

const scheduled = (manifest: object, schedule: readonly object[] | undefined): object => {
  if (schedule === undefined) return manifest;
  const { spec, ...rest } = manifest as { readonly spec: object };
  return { ...rest, spec: { ...spec, schedule } };
};

const newSchedule = (random: Random, startMs: number): readonly object[] =>
  Array.from({ length: random.int(1, ENTRIES_MOST) }, (_, at) =>
    newEntry(random, `entry-${at}`, startMs),
  );

const newEntry = (random: Random, name: string, startMs: number): object => {
  const timeZone = random.pick(ZONES);
  const first = random.int(0, LAST_MINUTE - 2);
  const end = random.int(first + 1, LAST_MINUTE - 1);
  const [from, to] = [
    wallAt(timeZone, startMs + first * MINUTE_MS),
    wallAt(timeZone, startMs + end * MINUTE_MS),
  ];
  const floor = random.int(1, FLOOR_MOST);
  const set = random.pick([
    { minReplicas: floor },
    { minReplicas: floor },
    { maxReplicas: floor },
    { minReplicas: floor, maxReplicas: floor },
    { paused: true },
  ]);
  return {
    name,
    timeZone,
    ...random.pick([
      {},
      { days: [from.weekday] },
      { dates: [from.date] },
      { except: ["2026-12-25"] },
    ]),
    from: from.clock,
    to: to.clock,
    ...set,
    ...(!("paused" in set) &&
      random.chance(1 / 2) && { rampMinutes: { in: random.int(0, 2), out: random.int(0, 1) } }),
    ...(random.chance(1 / 3) && { priority: random.int(-1, 1) }),
  };
};

/** Date, weekday and clock of a place, as the runtime formats them. */
const wallAt = (timeZone: string, atMs: number) => {
  const format = new Intl.DateTimeFormat("sv", {
    timeZone,
    dateStyle: "short",
    timeStyle: "short",
  });
  const [date = "", clock = ""] = format.format(atMs).split(" ");
  return { date, clock, weekday: WEEKDAYS[(new Date(date).getUTCDay() + 6) % 7] ?? "Mon" };
};

const OVERRIDES_MOST = 3;
const EARLIEST_MS = 20_000;
const LATEST_MS = 170_000;

/**
 * Overrides of one editor, set beside those of the other one, extended or cleared; some end by
 * themselves.
 */
const overrideOrders = (
  random: Random,
  autoscalers: readonly PlannedAutoscaler[],
  by: "operator" | "deputy",
): readonly PlannedOrder[] =>
  Array.from({ length: random.int(1, OVERRIDES_MOST) }, (): readonly PlannedOrder[] => {
    const atMs = random.int(EARLIEST_MS, LATEST_MS);
    const until = { forMs: random.int(10_000, 60_000) };
    const ahead = random.chance(1 / 3) ? { inMs: random.int(1_000, 20_000) } : {};
    const order: PlannedOrder = {
      atMs,
      by,
      verb: "override",
      place: placeOf(random, autoscalers),
      set: newSet(random),
      ...until,
      ...ahead,
    };
    const after = random.pick(["nothing", "extend overrides", "clear overrides"] as const);
    const laterMs = atMs + random.int(1, 40_000);
    if (after === "nothing") return [order];
    return [
      order,
      after === "clear overrides"
        ? { atMs: laterMs, by, verb: after }
        : { atMs: laterMs, by, verb: after, forMs: random.int(5_000, 60_000) },
    ];
  }).flat();

const placeOf = (random: Random, autoscalers: readonly PlannedAutoscaler[]) => {
  const { cluster, namespace, name } = random.pick(autoscalers);
  const force = random.chance(1 / 4) ? { force: true } : {};
  return random.pick([
    { cluster, namespace, name },
    { cluster, namespace, name },
    { cluster, namespace, ...force },
    { cluster, ...force },
    { ...force },
  ]);
};

const newSet = (random: Random) => {
  const [count, more] = [random.int(2, FLOOR_MOST), random.int(2, 3)];
  return random.pick([
    { hold: true } as const,
    { min: count },
    { max: count },
    { min: count, max: count },
    { minFactor: more },
    { min: FLOOR_MOST, max: FLOOR_MOST },
  ]);
};
