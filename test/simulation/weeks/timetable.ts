import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../lib/rules/model/time-text.ts";
import { type Random, randomOf } from "../random.ts";
import { CLUSTERS, DIVIDED, NAMES, NAMESPACES, PLACES, type Place, READERS } from "./places.ts";
import { planLooks, planLooksBeside } from "./plan-looks.ts";

/** Two weeks of journal and some days more; a month ends within them. */
export const WEEKS_START_MS = Date.UTC(2026, 1, 13);
export const WEEKS_MS = 19 * DAY_MS;

/** What a person does. */
export type Deed =
  | { readonly verb: "apply"; readonly place: Place; readonly max: number }
  | { readonly verb: "delete"; readonly place: Place }
  | { readonly verb: "pause"; readonly place: Place; readonly forMs: number }
  | { readonly verb: "resume"; readonly place: Place }
  | { readonly verb: "pause cluster"; readonly cluster: string; readonly forMs: number }
  | { readonly verb: "freeze" }
  | { readonly verb: "thaw" }
  | { readonly verb: "partitions"; readonly cluster: string; readonly names: readonly string[] }
  | { readonly verb: "grant"; readonly namespaces: readonly string[] };

export type Question =
  | { readonly kind: "rows"; readonly with: "nothing" | "tag" | "marks" }
  | { readonly kind: "events"; readonly days: number; readonly place?: Place }
  | { readonly kind: "counts"; readonly days: number }
  | { readonly kind: "history"; readonly days: number; readonly place: Place }
  | { readonly kind: "changes"; readonly days: number }
  | { readonly kind: "describe"; readonly place: Place }
  | { readonly kind: "explain"; readonly place: Place; readonly agoMs?: number }
  | { readonly kind: "sparklines" }
  | { readonly kind: "series" };

export type Happening =
  | { readonly kind: "sync"; readonly cluster: string }
  | { readonly kind: "load"; readonly place: Place; readonly load: number }
  | { readonly kind: "touch"; readonly place: Place; readonly replicas: number }
  | { readonly kind: "deed"; readonly deed: Deed }
  | { readonly kind: "ask"; readonly reader: number; readonly question: Question }
  | { readonly kind: "copy" }
  | { readonly kind: "restore" }
  | { readonly kind: "adopt" };

/** No sync of a partition of the cluster in this time. */
export interface Outage {
  readonly cluster: string;
  /** Absent: of all of them. */
  readonly partition?: number;
  readonly fromMs: number;
  readonly untilMs: number;
  /** The sync with which it begins dies as its first PUT is on its way. */
  readonly dies?: true;
}

export interface WeekTimetable {
  readonly happenings: readonly { readonly atMs: number; readonly happening: Happening }[];
  readonly outages: readonly Outage[];
}

const TICKS = 150;
const ASKS = 300;
const DEEDS = 40;
const LOADS = 180;
const OUTAGES = 3;
const MAXES = [10, 20, 30];

export const newTimetable = (seed: number): WeekTimetable => {
  const random = randomOf(seed, "timetable");
  const happenings: { atMs: number; happening: Happening }[] = [];
  const put = (atMs: number, happening: Happening): void => {
    if (atMs < WEEKS_MS) happenings.push({ atMs, happening });
  };
  const ticks = planSyncs(random, put);
  for (let at = 0; at < LOADS; at++) {
    const place = random.pick(PLACES);
    const atMs = random.int(0, WEEKS_MS);
    if (random.chance(1 / 12)) put(atMs, { kind: "touch", place, replicas: random.int(1, 9) });
    else put(atMs, { kind: "load", place, load: random.int(1, 24) });
  }
  planAsks(random, ticks, put);
  for (let at = 0; at < DEEDS; at++) {
    const nearSync = random.chance(1 / 2);
    const atMs = nearSync
      ? random.pick(ticks) + random.int(-2_000, 4_000)
      : random.int(0, WEEKS_MS);
    put(Math.max(1, atMs), { kind: "deed", deed: deed(random) });
  }
  planLooks(seed, ticks, put);
  const restoredMs = planRestore(seed, put);
  if (restoredMs !== undefined) planLooksBeside(seed, restoredMs, put);
  const outages = [
    dying(random, ticks, put),
    ...Array.from({ length: OUTAGES }, () => outage(random)),
  ];
  return {
    happenings: happenings.toSorted((one, other) => one.atMs - other.atMs),
    outages,
  };
};

export type Put = (atMs: number, happening: Happening) => void;

/** A reader who asks while a sync writes, or a second after it, sees the most. */
const planAsks = (random: Random, ticks: readonly number[], put: Put): void => {
  for (let at = 0; at < ASKS; at++) {
    const tick = random.pick(ticks);
    const atMs = random.chance(2 / 3) ? tick + random.int(-1_000, 4_000) : random.int(0, WEEKS_MS);
    const reader = random.int(0, READERS - 1);
    const asked = (): void =>
      put(Math.max(1, atMs), { kind: "ask", reader, question: question(random) });
    asked();
    // Two requests of one environment at once.
    if (random.chance(1 / 3)) asked();
  }
};

/** Some a day, now and then several in a row, a minute apart. */
const planSyncs = (random: Random, put: Put): readonly number[] => {
  const ticks: number[] = [];
  for (let tick = 0; tick < TICKS; tick++) {
    const atMs = Math.floor(((tick + random.real()) * WEEKS_MS) / TICKS);
    const inRow = random.chance(1 / 8) ? 3 : 1;
    for (let at = 0; at < inRow; at++) ticks.push(atMs + at * MINUTE_MS);
  }
  for (const atMs of ticks) for (const cluster of CLUSTERS) put(atMs, { kind: "sync", cluster });
  return ticks;
};

const outage = (random: Random): Outage => {
  const fromMs = random.int(0, WEEKS_MS - 2 * DAY_MS);
  return {
    cluster: random.pick(CLUSTERS),
    ...(random.chance(2 / 3) && { partition: random.int(0, 1) }),
    fromMs,
    untilMs: fromMs + random.int(8 * HOUR_MS, 5 * DAY_MS),
  };
};

/**
 * One partition dies in the middle of a scale, and is away until the other one has counted the
 * events of that day: the event of this scale comes days late.
 */
const dying = (random: Random, ticks: readonly number[], put: Put): Outage => {
  const fromMs = ticks.find((atMs) => atMs > random.int(DAY_MS, 9 * DAY_MS)) ?? 0;
  for (const namespace of NAMESPACES)
    for (const name of NAMES)
      put(fromMs - 1, {
        ...{ kind: "load", place: { cluster: DIVIDED, namespace, name }, load: 25 },
      });
  const untilMs = fromMs + random.int(4 * DAY_MS, 5 * DAY_MS);
  return { cluster: DIVIDED, partition: 1, fromMs, untilMs, dies: true };
};

const question = (random: Random): Question => {
  const place = random.pick(PLACES);
  const days = random.pick([1, 3, 6, 12, 20]);
  const share = random.real();
  if (share < 0.6)
    return {
      kind: "rows",
      with: random.pick(["nothing", "tag", "tag", "marks", "marks"] as const),
    };
  if (share < 0.72) return { kind: "events", days, ...(random.chance(1 / 2) && { place }) };
  if (share < 0.82) return { kind: "counts", days };
  if (share < 0.93) return { kind: "history", days, place };
  return { kind: "changes", days };
};

const deed = (random: Random): Deed => {
  const place = random.pick(PLACES);
  const cluster = random.pick(CLUSTERS);
  const share = random.real();
  if (share < 0.3) return { verb: "apply", place, max: random.pick(MAXES) };
  if (share < 0.38) return { verb: "delete", place };
  if (share < 0.56) return { verb: "pause", place, forMs: random.int(MINUTE_MS, 2 * DAY_MS) };
  if (share < 0.62) return { verb: "resume", place };
  if (share < 0.7) return { verb: "pause cluster", cluster, forMs: random.int(MINUTE_MS, DAY_MS) };
  if (share < 0.78) return { verb: "freeze" };
  if (share < 0.88) return { verb: "thaw" };
  if (share < 0.92)
    return {
      verb: "partitions",
      cluster: DIVIDED,
      names: random.pick([
        ["a", "rest"],
        ["b", "rest"],
        ["rest", "a"],
      ]),
    };
  return { verb: "grant", namespaces: random.pick([["shop"], ["bank"], ["shop", "bank"]]) };
};

/**
 * In a third of the seeds both tables go back to an instant hours before, under their names, so
 * that the environments of syncs and of readers live on; a person adopts them a while later.
 */
const RESTORES = 3;
export const goesBack = (seed: number): boolean => seed % RESTORES === RESTORES - 1;

const planRestore = (seed: number, put: Put): number | undefined => {
  if (!goesBack(seed)) return undefined;
  const random = randomOf(seed, "accidents");
  const thenMs = random.int(2 * DAY_MS, 12 * DAY_MS);
  const atMs = thenMs + random.int(HOUR_MS, 2 * DAY_MS);
  put(thenMs, { kind: "copy" });
  put(atMs, { kind: "restore" });
  put(atMs + random.int(MINUTE_MS, DAY_MS), { kind: "adopt" });
  return atMs;
};
