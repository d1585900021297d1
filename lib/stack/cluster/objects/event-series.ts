import type { NewEvent, UpdatedObject } from "../cluster-client.ts";

/** What becomes of one event. */
export type Correlated =
  /** It was written before. */
  | { readonly kind: "written" }
  /** The object has had too many Events lately. */
  | { readonly kind: "limited" }
  | { readonly kind: "create"; readonly key: string; readonly event: NewEvent }
  /** It repeats an Event that is there: `count` times so far, this one included. */
  | {
      readonly kind: "repeat";
      readonly key: string;
      readonly event: NewEvent;
      readonly count: number;
    };

interface Series {
  /** The id of the Event that is there. */
  readonly id: string;
  readonly occurrence: string;
  readonly count: number;
  readonly lastMs: number;
}

interface Lately {
  /** Notes of each type and reason, with when they were first reported. */
  readonly notes: Map<string, Map<string, number>>;
  tokens: number;
  filledMs: number;
  lastMs: number;
}

/** An API server forgets an Event after an hour; a repeat after that is a new one. */
const SERIES_MS = 60 * 60_000;
/** More different notes than this of one type and reason, within this time, become one Event. */
const SIMILAR_MAX = 10;
const SIMILAR_MS = 10 * 60_000;
/** Events of one object: so many at once, and then one each five minutes. */
const BURST = 25;
const TOKEN_MS = 5 * 60_000;
/** Objects and series that are remembered. What is an hour old goes first. */
const REMEMBERED_MAX = 10_000;

const COMBINED = "(combined from similar events): ";

/**
 * Joins and limits the Events of objects as the recorder of client-go does
 * (tools/record/events_cache.go), with its numbers: a repeat of the same text raises the count of
 * the Event that is there (`series`), many similar texts become one Event, and each object has a
 * burst and a rate. All of it is in memory: after a cold start counts begin anew.
 */
export class EventSeries {
  readonly #series = new Map<string, Series>();
  readonly #lately = new Map<string, Lately>();

  correlate({ uid }: Pick<UpdatedObject, "uid">, written: NewEvent): Correlated {
    const nowMs = written.atMs;
    const lately = this.#latelyOf(uid, nowMs);
    const event = combined(uid, lately, written);
    const key = JSON.stringify([uid, event.type, event.reason, event.isCombined ? "" : event.note]);
    const series = this.#series.get(key);
    const isRepeat = series !== undefined && nowMs - series.lastMs < SERIES_MS;
    if (isRepeat && series.occurrence === event.occurrence) return { kind: "written" };
    if (!takeToken(lately, nowMs)) return { kind: "limited" };
    return isRepeat
      ? { kind: "repeat", key, event: { ...event, id: series.id }, count: series.count + 1 }
      : { kind: "create", key, event };
  }

  /** The API server has the Event. */
  wrote({ key, event, ...rest }: Extract<Correlated, { kind: "create" | "repeat" }>): void {
    this.#series.delete(key);
    this.#series.set(key, {
      id: event.id,
      occurrence: event.occurrence,
      count: rest.kind === "repeat" ? rest.count : 1,
      lastMs: event.atMs,
    });
    dropOld(this.#series, event.atMs);
  }

  /** The API server has forgotten the Event. */
  forget(key: string): void {
    this.#series.delete(key);
  }

  #latelyOf(uid: string, nowMs: number): Lately {
    const lately = this.#lately.get(uid) ?? {
      notes: new Map(),
      tokens: BURST,
      filledMs: nowMs,
      lastMs: nowMs,
    };
    lately.lastMs = nowMs;
    this.#lately.delete(uid);
    this.#lately.set(uid, lately);
    dropOld(this.#lately, nowMs);
    return lately;
  }
}

/** The event itself, or the one that stands for all that are similar. */
const combined = (
  uid: string,
  { notes }: Lately,
  event: NewEvent,
): NewEvent & { readonly isCombined: boolean } => {
  const kind = `${event.type} ${event.reason}`;
  const ofKind = notes.get(kind) ?? new Map<string, number>();
  for (const [note, atMs] of ofKind) if (event.atMs - atMs >= SIMILAR_MS) ofKind.delete(note);
  if (!ofKind.has(event.note) && ofKind.size < SIMILAR_MAX) ofKind.set(event.note, event.atMs);
  notes.set(kind, ofKind);
  if (ofKind.has(event.note)) return { ...event, isCombined: false };
  const hour = Math.floor(event.atMs / SERIES_MS);
  return {
    ...event,
    id: `${uid}:${kind}:${hour}`,
    note: `${COMBINED}${event.note}`,
    isCombined: true,
  };
};

const takeToken = (lately: Lately, nowMs: number): boolean => {
  const filled = Math.floor((nowMs - lately.filledMs) / TOKEN_MS);
  if (filled > 0) {
    lately.tokens = Math.min(BURST, lately.tokens + filled);
    lately.filledMs += filled * TOKEN_MS;
  }
  if (lately.tokens <= 0) return false;
  lately.tokens -= 1;
  return true;
};

/** Entries are in the order of their last use. */
const dropOld = (entries: Map<string, { readonly lastMs: number }>, nowMs: number): void => {
  for (const [key, { lastMs }] of entries) {
    if (entries.size <= REMEMBERED_MAX && nowMs - lastMs < SERIES_MS) return;
    entries.delete(key);
  }
};
