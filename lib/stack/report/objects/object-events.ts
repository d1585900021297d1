import { isObject, type Json } from "../../../rules/model/json.ts";
import { listedConditions, METRICS_TIME, READY, wholeSecondText } from "./object-status.ts";
import { PODS_COUNTED } from "./pod-remarks.ts";
import type { EventRecord } from "../../../rules/model/scale-records.ts";
import { HOUR_MS } from "../../../rules/model/time-text.ts";

/**
 * One Event of Kubernetes about an object. Equal ids are one Event, however often they are
 * reported.
 */
export interface ObjectEvent {
  readonly id: string;
  /** Another text for each time that it happened. */
  readonly occurrence: string;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly note: string;
  readonly atMs: number;
}

const REASONS: Readonly<Record<EventRecord["outcome"], string>> = {
  applied: "SuccessfulRescale",
  refused: "FailedRescale",
  unknown: "UnknownRescale",
  outside: "ChangedOutside",
};
const SENTENCES: Readonly<Record<EventRecord["outcome"], (from: number, to: number) => string>> = {
  applied: (from, to) => `Scaled from ${from} to ${to}`,
  refused: (from, to) => `Tried to scale from ${from} to ${to}`,
  unknown: (from, to) => `Tried to scale from ${from} to ${to}`,
  outside: () => "",
};

/**
 * The Event of a scale, under the id of the scale event in the history: a repeat is the same Event.
 */
export const scaleObjectEvent = ({
  id,
  outcome,
  from,
  to,
  message,
  detail,
  settledMs,
}: EventRecord): ObjectEvent => ({
  id,
  occurrence: id,
  type: outcome === "applied" || outcome === "outside" ? "Normal" : "Warning",
  reason: REASONS[outcome],
  // The message is empty for the first scale of the watermark rules, which writes the count that is
  // there (watermark.md 2.18 a).
  note: [SENTENCES[outcome](from, to), [message, detail].filter(Boolean).join("; ")]
    .filter(Boolean)
    .join(": "),
  atMs: settledMs,
});

/** From so many dollars a month on an Event about the price of metrics is a warning. */
const MUCH_DOLLARS = 10;

/** The Event that says what the metrics of a spec cost: one for each generation of the object. */
export const costObjectEvent = (
  { uid, generation }: { readonly uid: string; readonly generation: number },
  { dollars, words }: { readonly dollars: number; readonly words: string },
  nowMs: number,
): ObjectEvent => ({
  id: `${uid}:cost:${generation}`,
  occurrence: `cost:${generation}`,
  type: dollars < MUCH_DOLLARS ? "Normal" : "Warning",
  reason: "MetricsCost",
  note: words,
  atMs: nowMs,
});

/** Conditions that are reported as Events. The others come and go with every value. */
const REPORTED: ReadonlySet<unknown> = new Set([
  READY,
  "AbleToScale",
  "ScalingActive",
  "ScalingBlocked",
  "Idle",
  PODS_COUNTED,
]);

/**
 * An Event for each condition with another status than in the cluster. A condition that comes and
 * goes is one Event an hour, with a count. The first status of an object reports nothing.
 */
export const conditionObjectEvents = (
  uid: string,
  wanted: Json,
  listed: Json,
  nowMs: number,
): readonly ObjectEvent[] => {
  const before = new Map(
    listedConditions(listed).map((condition) => [condition["type"], condition]),
  );
  if (before.size === 0) return [];
  const hour = Math.floor(nowMs / HOUR_MS);
  return listedConditions(wanted)
    .filter((condition) =>
      isNews(condition, before.get(condition["type"]) ?? ABSENT[String(condition["type"])]),
    )
    .map(({ type, status, reason, message }) => ({
      id: `${uid}:${type}:${status}:${reason}:${hour}`,
      occurrence: `${type}:${status}:${nowMs}`,
      type: isGood(type, status, reason) ? "Normal" : "Warning",
      reason: String(reason).replaceAll(/[^A-Za-z0-9]/g, ""),
      note: `${type} is ${status}: ${message}`,
      atMs: nowMs,
    }));
};

/**
 * How long an edit of a status is news. Its Event has the same name however often it is reported.
 */
const EDIT_NEWS_MS = 5 * 60_000;

/**
 * The Event that says of a status which another program or a person has written that it is written
 * again.
 */
export const statusEditEvents = (
  uid: string,
  edit: { readonly manager: string; readonly atMs: number } | undefined,
  nowMs: number,
): readonly ObjectEvent[] => {
  if (!edit || nowMs - edit.atMs > EDIT_NEWS_MS) return [];
  const editedText = wholeSecondText(edit.atMs);
  return [
    {
      id: `${uid}:status:${edit.manager}:${edit.atMs}`,
      occurrence: `status:${edit.manager}:${edit.atMs}`,
      type: "Warning",
      reason: "StatusOverwritten",
      note: `"${edit.manager}" wrote the status at ${editedText}, and Tidemark writes it again: the status is made from the decisions of Tidemark, and an edit of it changes none. Edit the spec instead`,
      atMs: nowMs,
    },
  ];
};

/** A condition that an object has only while it is False. */
const ABSENT: Readonly<Record<string, Json>> = { [PODS_COUNTED]: { status: "True" } };

/** A pause after a scale comes with every scale, whose Event names the pause. */
const isNews = (condition: Json, before: Json | undefined): boolean =>
  REPORTED.has(condition["type"]) &&
  before !== undefined &&
  before["status"] !== condition["status"] &&
  ![before, condition].some(({ reason }) => String(reason).startsWith(PAUSED));
const PAUSED = "Backoff";

const isGood = (type: unknown, status: unknown, reason: unknown): boolean =>
  type === "Idle" ||
  reason === "RolloutUnderWay" ||
  (type === "ScalingBlocked" ? status === "False" : status === "True");

/**
 * How a status differs from the one in the cluster. `values`: only in measured values, and in
 * sentences that name them.
 */
export type Moved = "nothing" | "values" | "state";

/** The fields that people and programs wait for. */
const STATE = [
  "observedGeneration",
  "currentReplicas",
  "desiredReplicas",
  "lastScaleTime",
  "scalingEventsCount",
];

export const movedOf = (wanted: Json, listed: Json): Moved => {
  if (STATE.some((field) => field in wanted && wanted[field] !== listed[field])) return "state";
  if (stateOf(wanted) !== stateOf(listed)) return "state";
  const isSame = Object.keys(wanted).every(
    (field) => field === METRICS_TIME || textOf(wanted[field]) === textOf(listed[field]),
  );
  return isSame && !isTimeOld(wanted, listed) ? "nothing" : "values";
};

/**
 * Values that stay the same are written again in this time with a newer time, so that a reader sees
 * that they are measured still.
 */
const SAME_VALUES_MS = 5 * 60_000;

const isTimeOld = (wanted: Json, listed: Json): boolean =>
  METRICS_TIME in wanted &&
  METRICS_TIME in listed &&
  Date.parse(String(wanted[METRICS_TIME])) - Date.parse(String(listed[METRICS_TIME])) >=
    SAME_VALUES_MS;

const stateOf = (status: Json): string =>
  JSON.stringify(
    listedConditions(status).map(({ type, status: state, reason, observedGeneration }) => [
      type,
      state,
      reason,
      observedGeneration,
    ]),
  );

/** Equal values give equal texts, in whatever order an API server writes their members. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_name, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(
          Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1)),
        )
      : member,
  ) ?? "";
