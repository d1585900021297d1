import type { EventRecord } from "../../../lib/rules/model/scale-records.ts";
import type { EventView } from "../../../lib/answers/views/event.ts";
import { type Judging, timeOf } from "./observed.ts";
import { type Observation, TENANT, TENANT_CLUSTER } from "./observed.ts";
import type { WeekViolation } from "./shown.ts";
import { BEHIND_MS } from "./replicas.ts";
import { pathOf } from "./places.ts";
import { asOf, type StoredEvent, type WeekTruth } from "./truth.ts";

const CLOCKS_MS = 4_000;
const COUNTED = ["ups", "added", "downs", "removed", "refused", "outside"] as const;
type Counts = Record<(typeof COUNTED)[number], number>;

/**
 * Lists of events have every event that was stored before the request, and none that was not stored
 * by the answer; counts are their sums; what one list has shown, later ones show; every edit that
 * was answered is among the changes.
 */
export const judgeEvents: Judging = (truth) => {
  const shownBefore = new Map<string, { readonly atMs: number; readonly seenMs: number }>();
  return (seen) => {
    switch (seen.kind) {
      case "events":
        return eventsFault(truth, seen) ?? lostFault(truth, seen, shownBefore);
      case "counts":
        return countsFault(truth, seen);
      case "changes":
        return changesFault(truth, seen);
      case "rows":
      case "history":
      case "describe":
      case "explain":
      case "sparklines":
      case "series":
        return undefined;
    }
  };
};

type Asked = Pick<Observation, "reader" | "askedMs" | "answeredMs" | "sinceMs" | "untilMs">;

const isIn = ({ atMs }: Pick<EventRecord, "atMs">, { sinceMs, untilMs }: Asked): boolean =>
  atMs >= sinceMs && atMs <= untilMs;

/** Whether the reader may see it; `undefined` where its rights change meanwhile. */
export const isSeen = (
  { granted }: WeekTruth,
  { cluster, namespace }: { readonly cluster: string; readonly namespace: string },
  { reader, askedMs, answeredMs }: Pick<Asked, "reader" | "askedMs" | "answeredMs">,
): boolean | undefined => {
  if (reader !== TENANT) return true;
  const all = granted
    .between(askedMs - BEHIND_MS, answeredMs)
    .map((namespaces) => cluster === TENANT_CLUSTER && namespaces.includes(namespace));
  return all.every((one) => one === all[0]) ? all[0] : undefined;
};

/** Both copies were stored, and were not lost by a restore. */
export const mustBeShown = (
  { ownMs, dayMs, lostMs }: StoredEvent,
  { askedMs, answeredMs }: Pick<Asked, "askedMs" | "answeredMs">,
): boolean =>
  ownMs !== undefined &&
  dayMs !== undefined &&
  Math.max(ownMs, dayMs) < askedMs - BEHIND_MS &&
  (lostMs === undefined || lostMs > answeredMs);

export const mayBeShown = (
  { ownMs, dayMs, lostMs }: StoredEvent,
  { askedMs, answeredMs }: Pick<Asked, "askedMs" | "answeredMs">,
): boolean =>
  Math.min(ownMs ?? Number.POSITIVE_INFINITY, dayMs ?? Number.POSITIVE_INFINITY) <= answeredMs &&
  (lostMs === undefined || lostMs >= askedMs - BEHIND_MS);

const wordsOf = ({ id, atMs, cluster, namespace, name }: EventRecord): string =>
  `the event ${id} of "${cluster}/${namespace}/${name}" at ${timeOf(atMs)}`;

type Events = Extract<Observation, { kind: "events" }>;

const isOf = (event: EventRecord, { question: { place } }: Events): boolean =>
  place === undefined || pathOf(place) === `${event.cluster}/${event.namespace}/${event.name}`;

const eventsFault = (truth: WeekTruth, seen: Events): WeekViolation | undefined => {
  const shown = new Map(seen.events.map((event) => [`${event.cluster}/${event.id}`, event]));
  if (shown.size !== seen.events.length)
    return {
      invariant: "no reader is shown what was true at no moment since its request",
      message: "an event is shown twice",
    };
  for (const [key, newest] of truth.events) {
    const stored = asOf(newest, seen.answeredMs);
    const { event } = stored;
    const isThere = shown.get(key);
    shown.delete(key);
    if (
      isThere &&
      (!mayBeShown(stored, seen) || isSeen(truth, event, seen) === false || !isSame(isThere, event))
    )
      return {
        invariant: "no reader is shown what was true at no moment since its request",
        message: `${wordsOf(event)} is shown, and was not stored, or not so`,
      };
    if (
      !isThere &&
      isIn(event, seen) &&
      isOf(event, seen) &&
      isSeen(truth, event, seen) &&
      mustBeShown(stored, seen)
    )
      return {
        invariant: "what was shown once is shown until it expires",
        message: `${wordsOf(event)} is missing`,
      };
  }
  const [more] = shown.keys();
  return more === undefined
    ? undefined
    : {
        invariant: "no reader is shown what was true at no moment since its request",
        message: `the event ${more} is shown, and nobody has stored it`,
      };
};

const isSame = (shown: EventView, { from, to, atMs }: EventRecord): boolean =>
  shown.from === from && shown.to === to && Date.parse(shown.at) === atMs;

/** Of one reader and one form of list, as a person would say: it was there yesterday. */
const lostFault = (
  truth: WeekTruth,
  seen: Events,
  before: Map<string, { readonly atMs: number; readonly seenMs: number }>,
): WeekViolation | undefined => {
  const form = `${seen.reader} ${seen.question.place ? pathOf(seen.question.place) : "all"} `;
  const shown = new Set(seen.events.map(({ cluster, id }) => `${form}${cluster}/${id}`));
  for (const [key, { atMs, seenMs }] of before) {
    if (!key.startsWith(form) || shown.has(key) || !isIn({ atMs }, seen)) continue;
    const newest = truth.events.get(key.slice(form.length));
    const stored = newest && asOf(newest, seen.answeredMs);
    const wasLost = stored?.lostMs !== undefined && stored.lostMs <= seen.answeredMs;
    if (
      seenMs < seen.askedMs - BEHIND_MS &&
      !wasLost &&
      stored &&
      isSeen(truth, stored.event, seen)
    )
      return {
        invariant: "what was shown once is shown until it expires",
        message: `${wordsOf(stored.event)} was shown at ${timeOf(seenMs)}, and is not any more`,
      };
  }
  for (const { cluster, id, at } of seen.events)
    before.set(`${form}${cluster}/${id}`, { atMs: Date.parse(at), seenMs: seen.answeredMs });
  return undefined;
};

const NOTHING: Counts = { ups: 0, added: 0, downs: 0, removed: 0, refused: 0, outside: 0 };

const add = (sums: Map<string, Counts>, { event }: StoredEvent): void => {
  const { cluster, namespace, name, atMs, outcome, from, to } = event;
  const key = `${timeOf(atMs).slice(0, 7)} ${cluster}/${namespace}/${name}`;
  const sum = sums.get(key) ?? { ...NOTHING };
  sums.set(key, sum);
  if (outcome === "refused" || outcome === "outside") sum[outcome]++;
  else if (to >= from) {
    sum.ups++;
    sum.added += to - from;
  } else {
    sum.downs++;
    sum.removed += from - to;
  }
};

const countsFault = (
  truth: WeekTruth,
  seen: Extract<Observation, { kind: "counts" }>,
): WeekViolation | undefined => {
  const { least, most, unsure } = sumsOf(truth, seen);
  const shown = new Map(
    seen.counts.map((one) => [`${one.month} ${one.cluster}/${one.namespace}/${one.name}`, one]),
  );
  const keys = [...new Set([...most.keys(), ...shown.keys()])];
  const wrong = keys.find((key) => {
    const [low, high, is] = [least, most, shown].map((sums) => sums.get(key) ?? NOTHING);
    return (
      !unsure.has(key.split(" ")[1] ?? "") &&
      COUNTED.some((name) => !low || !high || !is || is[name] < low[name] || is[name] > high[name])
    );
  });
  if (wrong === undefined) return undefined;
  const [is, low, high] = [shown, least, most].map((sums) => JSON.stringify(sums.get(wrong)));
  return {
    invariant: "counts are the sums of the events",
    message: `${wrong} from ${timeOf(seen.sinceMs)} to ${timeOf(seen.untilMs)}: ${is} is shown, and there was ${low} to ${high}`,
  };
};

/** What the events come to that must be counted, and those that may be. */
const sumsOf = (truth: WeekTruth, seen: Asked) => {
  const [least, most] = [new Map<string, Counts>(), new Map<string, Counts>()];
  const unsure = new Set<string>();
  for (const newest of truth.events.values()) {
    const stored = asOf(newest, seen.answeredMs);
    const { event } = stored;
    const sees = isSeen(truth, event, seen);
    if (!isIn(event, seen) || sees === false) continue;
    if (sees === undefined) unsure.add(`${event.cluster}/${event.namespace}/${event.name}`);
    if (mayBeShown(stored, seen)) add(most, stored);
    if (mustBeShown(stored, seen)) add(least, stored);
  }
  return { least, most, unsure };
};

const changesFault = (
  truth: WeekTruth,
  seen: Extract<Observation, { kind: "changes" }>,
): WeekViolation | undefined => {
  const shown = seen.changes.map(({ verb, at, cluster, namespace, name }) => ({
    verb,
    atMs: Date.parse(at),
    path: `${cluster}/${namespace}/${name}`,
  }));
  const missing = truth.edits.find(({ verb, path, begunMs, doneMs }) => {
    const [cluster = "", namespace = ""] = path.split("/");
    const wasLost = truth.restored.some(({ thenMs, atMs }) => doneMs > thenMs && begunMs < atMs);
    return (
      doneMs < seen.askedMs - BEHIND_MS &&
      begunMs - CLOCKS_MS > seen.sinceMs &&
      !wasLost &&
      isSeen(truth, { cluster, namespace }, seen) === true &&
      !shown.some(
        (one) =>
          one.verb === verb &&
          one.path === path &&
          one.atMs >= begunMs - CLOCKS_MS &&
          one.atMs <= doneMs + CLOCKS_MS,
      )
    );
  });
  return (
    missing && {
      invariant: "every edit is among the changes that are shown",
      message: `"${missing.verb}" of "${missing.path}" from ${timeOf(missing.begunMs)} is missing`,
    }
  );
};
