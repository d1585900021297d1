import type { EventView } from "../../../lib/answers/views/event.ts";
import { DAY_MS } from "../../../lib/rules/model/time-text.ts";
import { JOURNAL_DAYS_KEPT } from "../../../lib/stack/store/history/journal.ts";
import { JOURNAL_EVERY_MS } from "../../../lib/stack/sync/keep/store-pages.ts";
import { decidedThen, isThere } from "./decided-then.ts";
import { isSeen, mayBeShown, mustBeShown } from "./judge-events.ts";
import {
  isJustRestored,
  isSameTime,
  newestOf,
  rowFault,
  type ShownOne,
  wantedFault,
} from "./judge-rows.ts";
import { type Judging, type Observation, timeOf } from "./observed.ts";
import { BEHIND_MS } from "./replicas.ts";
import type { Shown, WeekViolation } from "./shown.ts";
import { type Place, pathOf } from "./places.ts";
import { asOf, type StoredEvent, type WeekTruth } from "./truth.ts";

type Described = Extract<Observation, { kind: "describe" }>;
type Explained = Extract<Observation, { kind: "explain" }>;
type Decision = NonNullable<Explained["explanation"]>["decision"];

const CLOCKS_MS = 4_000;

/**
 * One autoscaler by itself has the state of a row, the newest decision that a sync has made of it,
 * and its newest events; an explanation of an instant has the newest decision of that instant.
 */
export const judgeLooks: Judging = (truth) => (seen) => {
  if (seen.kind !== "describe" && seen.kind !== "explain") return undefined;
  const { place } = seen;
  const sees = isSeen(truth, place, seen);
  const there = isThere(truth, place, seen);
  const isShown = (seen.kind === "describe" ? seen.description : seen.explanation) !== undefined;
  if (isShown && sees === false) return wrong(place, "it is shown to a tenant who may not see it");
  if (isShown && there === false && !isJustRestored(truth, seen))
    return wrong(place, "it is shown, and there is none");
  return lookFault(truth, seen, sees === true && there === true);
};

const lookFault = (
  truth: WeekTruth,
  seen: Described | Explained,
  mustBeThere: boolean,
): WeekViolation | undefined =>
  seen.kind === "describe"
    ? describedFault(truth, seen, mustBeThere)
    : explainedFault(truth, seen, mustBeThere);

const NEVER: Shown = "no reader is shown what was true at no moment since its request";
const DECIDED: Shown = "what one autoscaler is said to have decided, a sync has decided";
const wrong = (place: Place, why: string, invariant: Shown = NEVER): WeekViolation => ({
  invariant,
  message: `"${pathOf(place)}": ${why}`,
});

const describedFault = (
  truth: WeekTruth,
  seen: Described,
  mustBeThere: boolean,
): WeekViolation | undefined => {
  const { place, description } = seen;
  if (isJustRestored(truth, seen)) return undefined;
  if (!description) return mustBeThere ? wrong(place, "it is said not to be there") : undefined;
  const moment = { fromMs: seen.askedMs - BEHIND_MS, toMs: seen.answeredMs };
  const wanted = truth.wanted.get(pathOf(place))?.between(moment.fromMs, moment.toMs) ?? [];
  const row = description as unknown as ShownOne;
  return (
    wantedFault(place, { row, how: "shown" }, wanted, moment) ??
    stateFault(truth, seen, row, description.syncedAt) ??
    (description.decision && decisionFault(truth, seen, description.decision, seen.answeredMs)) ??
    eventsFault(truth, seen, description.events)
  );
};

/** Of which partition it is does not matter: each of the cluster may have had it. */
const stateFault = (
  truth: WeekTruth,
  { place, askedMs, answeredMs }: Described,
  row: ShownOne,
  syncedAt: string | undefined,
): WeekViolation | undefined => {
  const moment = { fromMs: askedMs - BEHIND_MS, toMs: answeredMs };
  const paths = [...truth.completed.keys()].filter((path) => path.startsWith(`${place.cluster}/`));
  const newest = paths
    .map((path) => newestOf(truth, path, moment))
    .flatMap(({ completed, begun }) => [...completed, ...begun]);
  const syncedMs = syncedAt === undefined ? undefined : Date.parse(syncedAt);
  if (syncedMs !== undefined && !newest.some(({ nowMs }) => isSameTime(nowMs, syncedMs)))
    return wrong(place, `it is shown as synced at ${syncedAt}`);
  return rowFault(truth, place.cluster, row, {
    ...{ newest, moment, fault: (why) => wrong(place, why) },
  });
};

const explainedFault = (
  truth: WeekTruth,
  seen: Explained,
  mustBeThere: boolean,
): WeekViolation | undefined => {
  const { place, explanation, atMs = seen.answeredMs } = seen;
  if (explanation?.stored === "event") return ofEventFault(truth, seen, explanation.decision);
  if (explanation) return decisionFault(truth, seen, explanation.decision, atMs);
  const { must } = decidedThen(truth, place, seen, keptUntil(seen, atMs));
  return mustBeThere && must.length > 0
    ? wrong(
        place,
        `nothing is said of ${timeOf(atMs)}, and ${must.length} syncs had decided`,
        DECIDED,
      )
    : undefined;
};

/**
 * Evaluations are kept for days; one on the edge may be gone. A reader reads until its own time when
 * it was asked, which may be behind the time of a sync.
 */
const keptUntil = ({ askedMs }: Explained | Described, toMs: number) => ({
  fromMs: askedMs - (JOURNAL_DAYS_KEPT - 1) * DAY_MS,
  toMs: Math.min(toMs, askedMs) - CLOCKS_MS,
});

const decisionFault = (
  truth: WeekTruth,
  seen: Explained | Described,
  { at, from }: Decision,
  untilMs: number,
): WeekViolation | undefined => {
  const { place } = seen;
  const atMs = Date.parse(at);
  const fault = (why: string): WeekViolation =>
    wrong(place, `the decision of ${at} at ${from} ${why}`, DECIDED);
  if (atMs > untilMs + CLOCKS_MS) return fault(`is later than ${timeOf(untilMs)}`);
  const { may } = decidedThen(truth, place, seen, { fromMs: atMs, toMs: atMs });
  if (!may.some((one) => one.from === from)) return fault("was made by no sync that is not lost");
  const { must } = decidedThen(truth, place, seen, keptUntil(seen, untilMs));
  const newest = must.at(-1);
  // What has not changed is kept once a minute.
  return newest && atMs < newest.nowMs - JOURNAL_EVERY_MS - CLOCKS_MS
    ? fault(`is not the newest: a sync decided at ${timeOf(newest.nowMs)}`)
    : undefined;
};

/** Where the journal has nothing any more, an event explains the count. */
const ofEventFault = (
  truth: WeekTruth,
  seen: Explained,
  { at, from, to }: Decision,
): WeekViolation | undefined => {
  const { place, atMs = seen.answeredMs } = seen;
  const found = storedThen(truth, seen).some(
    (stored) =>
      pathOf(stored.event) === pathOf(place) &&
      stored.event.atMs === Date.parse(at) &&
      stored.event.from === from &&
      stored.event.to === to &&
      mayBeShown(stored, seen),
  );
  if (!found) return wrong(place, `no event of ${at} went from ${from} to ${to}`, DECIDED);
  const { must } = decidedThen(truth, place, seen, keptUntil(seen, atMs));
  const newest = must.at(-1);
  return newest && newest.nowMs > Date.parse(at) + JOURNAL_EVERY_MS + CLOCKS_MS
    ? wrong(
        place,
        `it is explained by an event of ${at}, and a sync decided at ${timeOf(newest.nowMs)}`,
        DECIDED,
      )
    : undefined;
};

const storedThen = (
  { events }: WeekTruth,
  { answeredMs }: Pick<Observation, "answeredMs">,
): readonly StoredEvent[] => [...events.values()].map((newest) => asOf(newest, answeredMs));

const SHOWN_EVENTS = 10;

const eventsFault = (
  truth: WeekTruth,
  seen: Described,
  shown: readonly EventView[],
): WeekViolation | undefined => {
  const own = storedThen(truth, seen).filter(({ event }) => pathOf(event) === pathOf(seen.place));
  const ids = new Set(shown.map(({ id }) => id));
  const unknown = shown.find(
    (view) => !own.some((stored) => stored.event.id === view.id && mayBeShown(stored, seen)),
  );
  if (unknown) return wrong(seen.place, `the event ${unknown.id} is shown, and was not stored`);
  const oldest =
    shown.length < SHOWN_EVENTS ? 0 : Math.min(...shown.map(({ at }) => Date.parse(at)));
  const missing = own.find(
    (stored) =>
      !ids.has(stored.event.id) &&
      stored.event.atMs > oldest &&
      stored.event.atMs < seen.askedMs - CLOCKS_MS &&
      mustBeShown(stored, seen),
  );
  return (
    missing &&
    wrong(
      seen.place,
      `the event ${missing.event.id} of ${timeOf(missing.event.atMs)} is missing`,
      LASTS,
    )
  );
};
const LASTS: Shown = "what was shown once is shown until it expires";
