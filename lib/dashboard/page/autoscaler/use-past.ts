import type { ChangeView } from "../../../answers/views/change.ts";
import type { EventView } from "../../../answers/views/event.ts";
import type { HistoryView } from "../../../answers/views/over-time.ts";
import { useNow } from "../data/facts.ts";
import type { Api, Outcome } from "../data/request.ts";
import { type Ask, type Known, usePolled, useSource } from "../data/use-document.ts";
import type { Place } from "../route.ts";
import type { ShownPast } from "./past.ts";
import {
  addressInstant,
  firstPartSinceMs,
  type ShownRange,
  stepSecondsOf,
  stretchOf,
} from "./range.ts";

const HISTORY = "/v1/autoscaler/history";
const EVENTS = "/v1/events";
const CHANGES = "/v1/changes";
/** Most answers of one list: a stretch with more is drawn as far as they reach. */
const PAGES_MAX = 40;

/**
 * The past of a range. The points of its last minutes come first, and then the others. Of a range
 * that moves, later questions ask for what came since the last answer only; one that has ended is
 * asked for once.
 */
export const usePast = (
  place: Place,
  range: ShownRange,
): Known<ShownPast> & { readonly again: () => void } => {
  const { api, refreshMs } = useSource();
  const nowMs = useNow();
  const moves = !("sinceMs" in range) || range.untilMs >= nowMs;
  const ask: Ask<ShownPast> = async (before, signal) => {
    if (before?.pointsSinceMs !== undefined)
      return earlierPoints(api, place, { ...before, pointsSinceMs: before.pointsSinceMs }, signal);
    const stretch = stretchOf(range, nowMs);
    const read = before ? await newPart(api, place, { ...before, ...stretch }, signal) : undefined;
    return read ?? readPast(api, place, stretch, signal);
  };
  const key = `past ${JSON.stringify([place, range])}`;
  return usePolled(key, ask, moves ? refreshMs : undefined);
};

interface Stretch {
  readonly sinceMs: number;
  readonly untilMs: number;
}

const readPast = async (
  api: Api,
  place: Place,
  stretch: Stretch,
  signal: AbortSignal,
): Promise<Outcome<ShownPast>> => {
  const stepMs = 1_000 * stepSecondsOf(stretch.untilMs - stretch.sinceMs);
  const pointsSinceMs = firstPartSinceMs(stretch, stepMs);
  const part = await readPart(api, place, { ...stretch, stepMs, pointsSinceMs }, signal);
  if (part.kind !== "answer") return part;
  const value = { ...stretch, stepMs, ...part.value };
  return pointsSinceMs === undefined
    ? { ...part, value }
    : { ...part, value: { ...value, pointsSinceMs }, isPart: true };
};

/** The points before those that are there. */
const earlierPoints = async (
  api: Api,
  place: Place,
  { pointsSinceMs, ...before }: ShownPast & { readonly pointsSinceMs: number },
  signal: AbortSignal,
): Promise<Outcome<ShownPast>> => {
  const question = {
    ...{ ...place, since: addressInstant(before.sinceMs), until: addressInstant(pointsSinceMs) },
    step: before.stepMs / 1_000,
  };
  const earlier = await wholeHistory(api, question, signal);
  if (earlier.kind !== "answer") return earlier;
  // The first step of what is there begins at the instant until which was asked.
  const points = earlier.value.filter(({ at }) => Date.parse(at) < pointsSinceMs);
  return { ...earlier, value: { ...before, points: [...points, ...before.points] } };
};

/**
 * What came after the last point of an answer, joined to it. The last point is asked for again,
 * because its step may have gone on. Undefined where a whole answer is cheaper: there is no point
 * yet, or the clock went back.
 */
const newPart = async (
  api: Api,
  place: Place,
  before: ShownPast,
  signal: AbortSignal,
): Promise<Outcome<ShownPast> | undefined> => {
  const last = before.points.at(-1);
  const lastMs = last === undefined ? Number.NaN : Date.parse(last.at);
  if (!(lastMs > before.sinceMs && lastMs <= before.untilMs)) return undefined;
  const sinceMs = lastMs - before.stepMs;
  const part = await readPart(api, place, { ...before, sinceMs }, signal);
  if (part.kind !== "answer") return part;
  const isKept = ({ at }: { readonly at: string }): boolean =>
    Date.parse(at) >= before.sinceMs && Date.parse(at) < sinceMs;
  const value: ShownPast = {
    ...before,
    points: [...before.points.filter(isKept), ...part.value.points],
    events: [...before.events.filter(isKept), ...part.value.events],
    changes: [...before.changes.filter(isKept), ...part.value.changes],
  };
  return { kind: "answer", value, tag: undefined };
};

interface PartAsked extends Stretch, Pick<ShownPast, "stepMs"> {
  /** Points are read from here on only. */
  readonly pointsSinceMs?: number | undefined;
}

const readPart = async (
  api: Api,
  place: Place,
  { sinceMs, untilMs, stepMs, pointsSinceMs = sinceMs }: PartAsked,
  signal: AbortSignal,
): Promise<Outcome<Pick<ShownPast, "points" | "events" | "changes">>> => {
  const query = { ...place, since: addressInstant(sinceMs) };
  const until = addressInstant(untilMs);
  const [history, events, changes] = await Promise.all([
    wholeHistory(
      api,
      { ...query, since: addressInstant(pointsSinceMs), until, step: stepMs / 1_000 },
      signal,
    ),
    wholeList<EventView>(api, EVENTS, { ...query, until }, signal),
    wholeList<ChangeView>(api, CHANGES, query, signal),
  ]);
  if (history.kind !== "answer") return history;
  if (events.kind !== "answer") return events;
  if (changes.kind !== "answer") return changes;
  const value = {
    points: history.value,
    events: events.value,
    changes: changes.value.filter(({ at, made }) => made !== false && Date.parse(at) <= untilMs),
  };
  return { kind: "answer", value, tag: undefined };
};

type Question = Place & { readonly since: string; readonly until?: string; readonly step?: number };

const wholeHistory = async (
  api: Api,
  question: Question,
  signal: AbortSignal,
): Promise<Outcome<HistoryView["points"]>> => {
  const points: HistoryView["points"][number][] = [];
  let since: string | undefined = question.since;
  for (let pages = 0; since !== undefined && pages < PAGES_MAX; pages++) {
    const outcome: Outcome<HistoryView> = await api.get(
      HISTORY,
      { ...question, since },
      { signal },
    );
    if (outcome.kind !== "answer") return outcome;
    points.push(...outcome.value.points);
    since = outcome.value.next;
  }
  return { kind: "answer", value: points, tag: undefined };
};

const wholeList = async <Item>(
  api: Api,
  path: string,
  question: Question,
  signal: AbortSignal,
): Promise<Outcome<readonly Item[]>> => {
  const items: Item[] = [];
  let page: string | undefined;
  let pages = 0;
  do {
    const outcome: Outcome<{ readonly items: readonly Item[]; readonly next?: string }> =
      await api.get(path, { ...question, page }, { signal });
    if (outcome.kind !== "answer") return outcome;
    items.push(...outcome.value.items);
    page = outcome.value.next;
  } while (page !== undefined && ++pages < PAGES_MAX);
  return { kind: "answer", value: items, tag: undefined };
};
