import { setTimeout as wait } from "node:timers/promises";
import * as z from "zod";
import { changeEventOf } from "../../answers/cloud-events/change.ts";
import type { EventFilter } from "../../answers/cloud-events/event-filter.ts";
import {
  sendInOrder,
  type EventAnswer,
  type OutgoingEvent,
} from "../../answers/cloud-events/in-order.ts";
import { besides, type CloudEvent } from "../../answers/cloud-events/kinds.ts";
import { lookAround } from "../../answers/cloud-events/look.ts";
import { noticeEventOf } from "../../answers/cloud-events/notice.ts";
import { scaleEventOf } from "../../answers/cloud-events/scale.ts";
import type { Service } from "../../answers/service/service.ts";
import type { EventView } from "../../answers/views/event.ts";
import { foreignText } from "../../rules/model/foreign-text.ts";
import type { NoticeRecord } from "../../rules/model/notices.ts";
import { clusterName, autoscalerName, namespace } from "../../rules/model/ids.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";
import { noticesOfCluster } from "../../stack/store/history/notices.ts";
import type { InsertHistory } from "../../stack/store/history/item.ts";
import type { Tables } from "../../stack/store/table/tables.ts";
import type { LogLine } from "../../stack/report/log-lines.ts";
import { readJsonIfThere, writeWhole } from "../host/whole-file.ts";

/** Between two looks, in real time: at least so long, and so many times as long as a look took. */
const LOOK_EVERY_MS = 1_000;
const LOOK_SHARE = 20;
/** After a round in which the endpoint took nothing, each wait is twice as long, up to this one. */
const LONGEST_REST_MS = 30_000;
/**
 * An event is stored when its outcome is known, which can be minutes after its decision. Each look
 * goes back as far.
 */
const LOOK_BACK_MS = 10 * 60_000;
/** Events of one round, so that a long pause of the endpoint does not fill the memory. */
const ROUND_MAX = 500;
/** Requests under way at once, each of another subject. */
const AT_ONCE = 8;
const REQUEST_MS = 5_000;
const ATTEMPTS = 4;
const FIRST_WAIT_MS = 100;

/** What was sent: everything before `sinceMs`, and of the later events those that are named. */
const markSchema = z.object({
  sinceMs: z.number(),
  sent: z.array(z.tuple([z.string(), z.number()])),
});
type Mark = z.infer<typeof markSchema>;

export interface EventsSenderOptions {
  readonly url: string;
  /** An event is sent where one of them wants it; without any, each is. */
  readonly filters?: readonly EventFilter[];
  /** The file of the mark, in the folder of the run. */
  readonly path: string;
  readonly service: Pick<Service, "events" | "changes" | "clusters">;
  readonly tables: Tables;
  readonly insert: InsertHistory;
  readonly clock: () => number;
  /** The number of writes to the tables: without a new one they are not read again. */
  readonly writes: () => number;
  readonly log: (line: LogLine) => void;
}

export interface EventsSender {
  /** Sends until it is stopped. `say` prints a line for the person at the run. */
  readonly start: (say: (line: string) => void) => { readonly stop: () => Promise<void> };
}

interface PostedEvent extends OutgoingEvent {
  readonly event: CloudEvent;
}

/**
 * Posts the events of a run to an endpoint, in the structured mode of CloudEvents over HTTP: each
 * at least once, the events of one autoscaler in their order. A mark in the folder says what was
 * sent, so that the next run goes on. It runs beside the syncs, and no sync waits for it.
 */
export const eventsSender = (options: EventsSenderOptions): EventsSender => {
  const { path, clock, writes } = options;
  const kept: Mark = readJsonIfThere(path, markSchema) ?? { sinceMs: clock(), sent: [] };
  writeWhole(path, JSON.stringify(kept));
  return {
    start: (say) => {
      const ended = new AbortController();
      const round = roundOf(options, kept, say);
      const sending = sendUntil(ended.signal, round, writes);
      return {
        stop: async () => {
          ended.abort();
          await sending;
        },
      };
    },
  };
};

/** Round after round, and once more at the end, for what was stored last. */
const sendUntil = async (
  ended: AbortSignal,
  round: () => Promise<Round>,
  writes: () => number,
): Promise<void> => {
  let [restMs, readAt] = [LOOK_EVERY_MS, Number.NaN];
  while (!ended.aborted) {
    const [now, startedAt] = [writes(), performance.now()];
    const { all, taken } = now === readAt ? NOTHING : await round();
    if (all) readAt = now;
    const lookMs = Math.max(LOOK_EVERY_MS, LOOK_SHARE * (performance.now() - startedAt));
    restMs = taken ? lookMs : Math.min(restMs * 2, LONGEST_REST_MS);
    await wait(restMs, undefined, { signal: ended }).catch(() => undefined);
  }
  await round();
};

interface Round {
  /** Everything that is stored was sent. */
  readonly all: boolean;
  /** False where the endpoint took nothing at all. */
  readonly taken: boolean;
}
const NOTHING: Round = { all: true, taken: true };

const roundOf = (
  options: EventsSenderOptions,
  first: Mark,
  say: (line: string) => void,
): (() => Promise<Round>) => {
  const { url, path, clock, log } = options;
  let mark = first;
  let isDown = false;
  let lookedAt = Number.NaN;
  /** Once a minute, as the stack does it. */
  const look = async (): Promise<void> => {
    const minute = Math.floor(clock() / MINUTE_MS);
    if (minute === lookedAt) return;
    lookedAt = minute;
    await lookAround(options);
  };
  const setAside = async ({ event }: PostedEvent, why: string): Promise<void> => {
    log({
      level: "error",
      message: "An event was refused for good, and is not sent again",
      fields: { id: event.id, subject: event.subject, why },
    });
    say(`Event ${event.id} of ${event.subject} was refused by ${placeOf(url)}: ${why}`);
  };
  const news = (why: string | undefined): void => {
    if (why !== undefined && !isDown)
      say(`${placeOf(url)} takes no events: ${why}; they are sent again until it does`);
    if (why === undefined && isDown) say(`${placeOf(url)} takes events again`);
    isDown = why !== undefined;
  };
  return async () => {
    try {
      await look();
      const { events, untilMs, passedOver } = await unsent(options, mark);
      const { left, why } = await sendInOrder(events, {
        limits: { events: AT_ONCE, bytes: Number.POSITIVE_INFINITY },
        send: (some) => Promise.all(some.map(({ event }) => post(url, event))),
        setAside,
        attempts: ATTEMPTS,
        wait: (attempt) => wait(FIRST_WAIT_MS * 2 ** attempt),
      });
      news(why);
      if (events.length > 0 || (passedOver > 0 && clock() - mark.sinceMs > 2 * LOOK_BACK_MS)) {
        mark = markAfter(mark, { events, left, untilMs, nowMs: clock() });
        writeWhole(path, JSON.stringify(mark));
      }
      return { all: left.length === 0 && untilMs === undefined, taken: why === undefined };
    } catch (error) {
      // The tables could not be read, or the mark not be written: the next round begins at the same
      // mark.
      const thrown = error instanceof Error ? error : new Error(String(error));
      log({ level: "error", message: "Cannot send events", fields: { error: thrown } });
      news(thrown.message);
      return { all: false, taken: false };
    }
  };
};

const timeOf = ({ event }: PostedEvent): number => Date.parse(event.time);

interface Unsent {
  readonly events: readonly PostedEvent[];
  /** There are more from this time on. */
  readonly untilMs?: number;
  /** Events that no filter wants. */
  readonly passedOver: number;
}

/** The events after the mark, in order of time. */
const unsent = async (
  options: EventsSenderOptions,
  { sinceMs: fromMs, sent }: Mark,
): Promise<Unsent> => {
  const { service, tables, clock, filters = [] } = options;
  const known = new Set(sent.map(([id]) => id));
  let passedOver = 0;
  const isUnsent = (event: CloudEvent): boolean => {
    if (known.has(event.id)) return false;
    const isWanted = filters.length === 0 || filters.some((wants) => wants(event));
    if (!isWanted) passedOver++;
    return isWanted;
  };
  const nowMs = clock();
  // A clock that was set back asks for no future.
  const sinceMs = Math.min(fromMs, nowMs);
  const lists = [
    await firstOf(service.events({ sinceMs }), sentScale(tables), isUnsent),
    await firstOf(service.changes({ sinceMs }), changeEventOf, isUnsent),
    await firstOf(noticesIn(options, { sinceMs, untilMs: nowMs }), noticeEventOf, isUnsent),
  ];
  const events = lists
    .flatMap(({ events: some }) => some)
    .toSorted((one, other) => timeOf(one) - timeOf(other));
  // Events after the end of one list, or after the beginning of the look, wait: an earlier one of
  // the other list may not have been read.
  const untilMs = Math.min(nowMs, ...lists.flatMap(({ endMs }) => endMs ?? []));
  if (events.every((event) => timeOf(event) <= untilMs) && lists.every(({ endMs }) => !endMs))
    return { events, passedOver };
  return { events: events.filter((event) => timeOf(event) <= untilMs), untilMs, passedOver };
};

/** With what a stack says of it beside. */
const sentScale = (tables: Tables): ((view: EventView) => Promise<CloudEvent>) => {
  const { labels, inStorm } = besides(tables);
  return async (view) => {
    const cluster = clusterName(view.cluster);
    const [inside, name] = [namespace(view.namespace), autoscalerName(view.name)];
    const besidesIt = {
      labels: await labels({ cluster, namespace: inside, name }),
      inStorm: await inStorm({ cluster, atMs: Date.parse(view.at), id: view.id }),
    };
    return scaleEventOf(view, besidesIt);
  };
};

/** The notices of all clusters, in order of time. */
async function* noticesIn(
  { service, tables }: EventsSenderOptions,
  stretch: { readonly sinceMs: number; readonly untilMs: number },
): AsyncGenerator<NoticeRecord> {
  const all: NoticeRecord[] = [];
  for await (const { name } of service.clusters())
    for await (const notice of noticesOfCluster(tables, name, stretch)) all.push(notice);
  yield* all.sort((one, other) => one.atMs - other.atMs);
}

const firstOf = async <View>(
  views: AsyncIterable<View>,
  eventOf: (view: View) => CloudEvent | Promise<CloudEvent>,
  isUnsent: (event: CloudEvent) => boolean,
): Promise<{ readonly events: readonly PostedEvent[]; readonly endMs?: number }> => {
  const events: PostedEvent[] = [];
  for await (const view of views) {
    const event = await eventOf(view);
    if (!isUnsent(event)) continue;
    events.push({ event, subject: event.subject, bytes: 0 });
    if (events.length === ROUND_MAX) return { events, endMs: Date.parse(event.time) };
  }
  return { events };
};

/**
 * The mark never passes an event that was not taken, nor the time from which an event can still
 * come.
 */
const markAfter = (
  mark: Mark,
  {
    events,
    left,
    untilMs = Number.POSITIVE_INFINITY,
    nowMs,
  }: {
    readonly events: readonly PostedEvent[];
    readonly left: readonly PostedEvent[];
    readonly untilMs: number | undefined;
    readonly nowMs: number;
  },
): Mark => {
  const waiting = new Set(left);
  const sent = [
    ...mark.sent,
    ...events
      .filter((event) => !waiting.has(event))
      .map((event): [string, number] => [event.event.id, timeOf(event)]),
  ];
  const sinceMs = Math.max(
    mark.sinceMs,
    Math.min(nowMs - LOOK_BACK_MS, untilMs, ...left.map(timeOf)),
  );
  return { sinceMs, sent: sent.filter(([, atMs]) => atMs >= sinceMs) };
};

/** Answers after which the same request can be taken later. */
const LATER: ReadonlySet<number> = new Set([408, 425, 429]);
const SERVER_ERROR = 500;

const post = async (url: string, event: CloudEvent): Promise<EventAnswer> => {
  try {
    const { status, ok, body } = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/cloudevents+json; charset=utf-8" },
      body: JSON.stringify(event),
      // An endpoint that moved is named anew by its owner: a redirect could lead anywhere.
      redirect: "manual",
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    await body?.cancel();
    if (ok) return { kind: "accepted" };
    const why = `it answered ${status}`;
    return { kind: LATER.has(status) || status >= SERVER_ERROR ? "later" : "never", why };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return {
      kind: "later",
      why: foreignText(cause instanceof Error ? cause.message : "no answer"),
    };
  }
};

/** Without path and query, which can hold a secret of the endpoint. */
const placeOf = (url: string): string => new URL(url).origin;
