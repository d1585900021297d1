import * as z from "zod";
import { compress, readIfKnown } from "../table/compressed.ts";
import { closedTimeOf } from "../table/keys.ts";
import { readAll } from "../table/read-many.ts";
import type { Tables } from "../table/tables.ts";
import { type HistoryItem, historyItemOf, itemsBetween, LAST } from "./item.ts";
import type { EventRecord } from "../../../rules/model/scale-records.ts";

/**
 * In the order in which they are stored. `outside`: changes of the count that this stack did not
 * make.
 */
const COUNTED = ["ups", "added", "downs", "removed", "refused", "outside"] as const;

/** The scale events of an autoscaler in some time. */
export type EventCounts = Readonly<Record<(typeof COUNTED)[number], number>>;

/** What happened in some time, by NAMESPACE/NAME. */
export type CountsByPath = ReadonlyMap<string, EventCounts>;

export const countedPath = ({
  namespace,
  name,
}: {
  readonly namespace: string;
  readonly name: string;
}): string => `${namespace}/${name}`;

/** How many events the counts are of. */
export const eventsIn = ({ ups, downs, refused, outside }: EventCounts): number =>
  ups + downs + refused + outside;

const countsBy = (count: (name: keyof EventCounts, at: number) => number): EventCounts =>
  Object.fromEntries(COUNTED.map((name, at) => [name, count(name, at)])) as unknown as EventCounts;

const NOTHING = countsBy(() => 0);

const countsOf = ({
  from,
  to,
  outcome,
}: Pick<EventRecord, "from" | "to" | "outcome">): EventCounts => {
  if (outcome === "refused") return { ...NOTHING, refused: 1 };
  if (outcome === "outside") return { ...NOTHING, outside: 1 };
  return to >= from
    ? { ...NOTHING, ups: 1, added: to - from }
    : { ...NOTHING, downs: 1, removed: from - to };
};

export class CountsSum {
  readonly byPath = new Map<string, EventCounts>();

  add(counts: CountsByPath): void {
    for (const [path, some] of counts) this.#add(path, some);
  }

  addEvent(event: EventRecord): void {
    this.#add(countedPath(event), countsOf(event));
  }

  #add(path: string, some: EventCounts): void {
    const before = this.byPath.get(path) ?? NOTHING;
    this.byPath.set(
      path,
      countsBy((name) => before[name] + some[name]),
    );
  }
}

const stored = z.record(z.string(), z.array(z.number()).length(COUNTED.length));

/** Counts as they are stored: six numbers for each path. */
export const storedCounts = (byPath: CountsByPath): z.infer<typeof stored> =>
  Object.fromEntries(
    [...byPath].map(([path, counts]) => [path, COUNTED.map((name) => counts[name])]),
  );

export const readCounts = (value: unknown): CountsByPath =>
  new Map(
    Object.entries(stored.parse(value)).map(([path, counts]) => [
      path,
      countsBy((_, at) => counts[at] ?? 0),
    ]),
  );

const VERSION = 1;

export const encodeClosed = (value: unknown): Uint8Array => compress(VERSION, value);

/**
 * `undefined` for damage, or a later version: what is not read as closed is asked for its events.
 */
export const decodeClosed = <Closed>(
  body: HistoryItem["body"],
  read: (value: unknown) => Closed,
): Closed | undefined => readIfKnown(body as Uint8Array, VERSION, read);

export interface ClosedRange {
  readonly pk: string;
  /** The first and the last day or month. */
  readonly first: string;
  readonly last: string;
}

/**
 * The items of closed days or months, in order. The item of a late event follows the item of its
 * day or month.
 */
export async function* closedItems(tables: Tables, { pk, first, last }: ClosedRange) {
  const params = itemsBetween(tables.historyTable, pk, [first, `${last}${LAST}`]);
  for await (const item of readAll(tables, `read the counts of events in "${pk}"`, params)) {
    const { sk, body } = historyItemOf(item);
    yield { ...closedTimeOf(sk), body };
  }
}

/**
 * What is closed in a range, by date. On doubt a day or month is left out: it is not closed yet, an
 * event of it came late, or its item cannot be read.
 */
export const closedIn = async <Closed>(
  tables: Tables,
  range: ClosedRange,
  read: (value: unknown) => Closed,
): Promise<ReadonlyMap<string, Closed>> => {
  const closed = new Map<string, Closed>();
  for await (const { time, late, body } of closedItems(tables, range)) {
    const value = late ? undefined : decodeClosed(body, read);
    if (value === undefined) closed.delete(time);
    else closed.set(time, value);
  }
  return closed;
};
