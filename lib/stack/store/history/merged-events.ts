import { QueryCommand, type QueryCommandInput } from "@aws-sdk/client-dynamodb";
import { repeat } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";
import { mapWithLimit, REQUESTS_AT_ONCE } from "../table/wait-for-all.ts";
import { eventOf } from "./events.ts";
import { historyItemOf } from "./item.ts";
import type { EventRecord } from "../../../rules/model/scale-records.ts";

/**
 * Events that are planned to be in memory at once. Of days that nobody counted there may be more,
 * page by page.
 */
export const EVENTS_IN_MEMORY = 2_000;
const PAGE_LEAST = 25;
const PAGE_MOST = 1_000;

/** Sends requests at once, and counts how many of them are one after the other. */
export class Rounds {
  #used = 0;

  get used(): number {
    return this.#used;
  }

  /** Of each item, with as many requests in a row as `of` says: one, unless it is given. */
  async all<Item, Result>(
    items: readonly Item[],
    work: (item: Item) => Promise<Result>,
    of: (result: Result) => number = () => 1,
  ): Promise<readonly Result[]> {
    const results = await mapWithLimit(items, REQUESTS_AT_ONCE, work);
    const inRow = results.map(of);
    const requests = inRow.reduce((sum, some) => sum + some, 0);
    this.#used += Math.max(0, ...inRow, Math.ceil(requests / REQUESTS_AT_ONCE));
    return results;
  }
}

/** One query of events, and how many it has as far as that is known. */
export interface EventRead {
  readonly params: QueryCommandInput;
  readonly expected: number;
}

/**
 * Comes before the next requests of a search: all events before `atMs` were given, and of that
 * instant those up to the last one given.
 */
export interface Pause {
  readonly atMs: number;
  readonly requests: number;
}

/** A read that has begun: what was read and not given yet, and where it goes on. */
interface Opened {
  readonly read: EventRead;
  readonly limit: number;
  readonly events: readonly EventRecord[];
  readonly from: QueryCommandInput["ExclusiveStartKey"];
}

/**
 * Compares text as DynamoDB sorts it, in every locale, so that a list can continue after any event.
 */
export const inOrder = (one: string, other: string): number =>
  one < other ? -1 : one > other ? 1 : 0;
const byTime = (one: EventRecord, other: EventRecord): number =>
  one.atMs - other.atMs || inOrder(one.cluster, other.cluster) || inOrder(one.id, other.id);

/**
 * The events of all reads in one order: of time, then of cluster and id. Every read gives a page at
 * first; what lies before the end of the first page that ends is complete. Then all reads that are
 * near the end of theirs go on together, those that ended with twice as much.
 */
export async function* mergedEvents(
  tables: Tables,
  reads: readonly EventRead[],
  rounds: Rounds,
): AsyncGenerator<EventRecord | Pause> {
  const share = EVENTS_IN_MEMORY / reads.reduce((sum, { expected }) => sum + expected, 1);
  const first = reads.map((read) => ({
    read,
    limit: pageOf(Math.ceil(read.expected * share) + 1),
    events: [],
    from: undefined,
  }));
  let opened = await rounds.all<Opened, Opened>(first, (one) => nextPage(tables, one));
  for (;;) {
    const end = firstEnd(opened);
    const ready = opened
      .flatMap(({ events }) => (end ? events.filter((event) => byTime(event, end) <= 0) : events))
      .sort(byTime);
    yield* ready;
    if (!end) return;
    const held = opened.reduce((sum, { events }) => sum + events.length, 0) - ready.length;
    const rest = opened.flatMap((one) => remaining(one, end, held < EVENTS_IN_MEMORY));
    const { near = [], far = [] } = Object.groupBy(rest, ({ from, events, limit }) =>
      from && events.length < limit / 2 ? "near" : "far",
    );
    yield { atMs: end.atMs, requests: near.length };
    opened = [...far, ...(await rounds.all(near, (one) => nextPage(tables, one)))];
  }
}

/** The last event of the page that ends first, of those that go on. */
const firstEnd = (opened: readonly Opened[]): EventRecord | undefined =>
  opened
    .flatMap(({ from, events }) => (from ? events.slice(-1) : []))
    .reduce<EventRecord | undefined>(
      (least, one) => (least && byTime(least, one) <= 0 ? least : one),
      undefined,
    );

const pageOf = (events: number): number => Math.min(PAGE_MOST, Math.max(PAGE_LEAST, events));

const remaining = (one: Opened, end: EventRecord, hasMemory: boolean): readonly Opened[] => {
  const events = one.events.filter((event) => byTime(event, end) > 0);
  if (!one.from && events.length === 0) return [];
  return [
    { ...one, events, limit: hasMemory && events.length === 0 ? pageOf(2 * one.limit) : one.limit },
  ];
};

/** Reads on until there is an event: a page may have only events that have expired. */
const nextPage = async (tables: Tables, one: Opened): Promise<Opened> => {
  let { from } = one;
  const events: EventRecord[] = [];
  do {
    const input = {
      ...one.read.params,
      Limit: one.limit,
      ...(from && { ExclusiveStartKey: from }),
    };
    const page = await repeat(tables, "read the scale events", () =>
      tables.client.send(new QueryCommand(input)),
    );
    events.push(...(page.Items ?? []).map((item) => eventOf(historyItemOf(item))));
    from = page.LastEvaluatedKey;
  } while (from && events.length === 0);
  return { ...one, events: [...one.events, ...events], from };
};
