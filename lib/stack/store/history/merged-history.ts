import { QueryCommand, type QueryCommandInput } from "@aws-sdk/client-dynamodb";
import { repeat } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";
import { mapWithLimit, REQUESTS_AT_ONCE } from "../table/wait-for-all.ts";
import { type HistoryItem, historyItemOf } from "./item.ts";

/**
 * Items that are planned to be in memory at once. Of days that nobody counted there may be more,
 * page by page.
 */
export const ITEMS_IN_MEMORY = 2_000;
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

/** What has a place in a merged list: its time, then its cluster, then its id. */
export interface Placed {
  readonly atMs: number;
  readonly cluster: string;
  readonly id: string;
}

/** One query whose items are in order, and how many it has as far as that is known. */
export interface HistoryRead<Item extends Placed> {
  readonly params: QueryCommandInput;
  readonly expected: number;
  /** Its first page has so many at least; absent: 25. */
  readonly least?: number;
  readonly itemOf: (item: HistoryItem) => Item;
}

/**
 * Comes before the next requests of a search: all items before `atMs` were given, and of that
 * instant those up to the last one given.
 */
export interface SearchPause {
  readonly atMs: number;
  readonly requests: number;
}

/** A read that has begun: what was read and not given yet, and where it goes on. */
interface Opened<Item extends Placed> {
  readonly read: HistoryRead<Item>;
  readonly limit: number;
  readonly items: readonly Item[];
  readonly from: QueryCommandInput["ExclusiveStartKey"];
}

/**
 * Compares text as DynamoDB sorts it, in every locale, so that a list can continue after any event.
 */
export const inOrder = (one: string, other: string): number =>
  one < other ? -1 : one > other ? 1 : 0;
export const placedBefore = (one: Placed, other: Placed): number =>
  one.atMs - other.atMs || inOrder(one.cluster, other.cluster) || inOrder(one.id, other.id);

/**
 * The items of all reads in one order: of time, then of cluster and id. Every read gives a page at
 * first; what lies before the end of the first page that ends is complete. Then reads go on
 * together (`goingOn`), those that ended with twice as much.
 */
export async function* mergedHistory<Item extends Placed>(
  tables: Tables,
  reads: readonly HistoryRead<Item>[],
  rounds: Rounds,
): AsyncGenerator<Item | SearchPause> {
  const share = ITEMS_IN_MEMORY / reads.reduce((sum, { expected }) => sum + expected, 1);
  const first = reads.map((read) => ({
    read,
    limit: Math.max(read.least ?? 0, pageOf(Math.ceil(read.expected * share) + 1)),
    items: [],
    from: undefined,
  }));
  let opened = await rounds.all<Opened<Item>, Opened<Item>>(first, (one) => nextPage(tables, one));
  for (;;) {
    const end = firstEnd(opened);
    const ready = opened
      .flatMap(({ items }) => (end ? items.filter((one) => placedBefore(one, end) <= 0) : items))
      .sort(placedBefore);
    yield* ready;
    if (!end) return;
    const held = opened.reduce((sum, { items }) => sum + items.length, 0) - ready.length;
    const rest = opened.flatMap((one) => remaining(one, end, held < ITEMS_IN_MEMORY));
    const { next, later } = goingOn(
      rest,
      held < ITEMS_IN_MEMORY ? Number.POSITIVE_INFINITY : end.atMs,
    );
    yield { atMs: end.atMs, requests: next.length };
    opened = [...later, ...(await rounds.all(next, (one) => nextPage(tables, one)))];
  }
}

/**
 * Which reads go on together: those that are near the end of their page; and where these are few,
 * those whose pages end next, so many that they give as many items as fit into memory. Otherwise
 * the items of one instant, which are in order of cluster, would be read one cluster after the
 * other. No read goes on that has items until after `aheadMs`: a long search would hold all that is
 * ahead of it.
 *
 *  a  ...TTT|        near its end
 *  b     TTTTTT|     has nothing after the instant T: its turn comes when the items of a are given
 *  c     TTTTTT|     the same
 */
const goingOn = <Item extends Placed>(
  opened: readonly Opened<Item>[],
  aheadMs: number,
): { readonly next: readonly Opened<Item>[]; readonly later: readonly Opened<Item>[] } => {
  const [unfinished, ended] = partedBy(opened, ({ from }) => from !== undefined);
  const [near, others] = partedBy(unfinished, ({ items, limit }) => items.length < limit / 2);
  const most = Math.max(0, ...near.map(({ limit }) => limit));
  const room = ITEMS_IN_MEMORY - near.reduce((sum, { limit }) => sum + limit, 0);
  const inTurn = others
    .filter(({ items }) => (items.at(-1)?.atMs ?? 0) <= aheadMs)
    .toSorted(byEnd)
    .map((one) => ({ ...one, limit: Math.max(most, one.limit) }));
  const beside = Math.max(0, Math.floor(room / Math.max(1, most)));
  return {
    next: [...near, ...inTurn.slice(0, beside)],
    later: [
      ...ended,
      ...others.filter(({ items }) => (items.at(-1)?.atMs ?? 0) > aheadMs),
      ...inTurn.slice(beside),
    ],
  };
};

const partedBy = <Item>(
  items: readonly Item[],
  isFirst: (item: Item) => boolean,
): readonly [readonly Item[], readonly Item[]] => [
  items.filter(isFirst),
  items.filter((item) => !isFirst(item)),
];

const byEnd = <Item extends Placed>(one: Opened<Item>, other: Opened<Item>): number => {
  const [end, otherEnd] = [one.items.at(-1), other.items.at(-1)];
  return end && otherEnd ? placedBefore(end, otherEnd) : 0;
};

/** The last item of the page that ends first, of those that go on. */
const firstEnd = <Item extends Placed>(opened: readonly Opened<Item>[]): Item | undefined =>
  opened
    .flatMap(({ from, items }) => (from ? items.slice(-1) : []))
    .reduce<Item | undefined>(
      (least, one) => (least && placedBefore(least, one) <= 0 ? least : one),
      undefined,
    );

const pageOf = (items: number): number => Math.min(PAGE_MOST, Math.max(PAGE_LEAST, items));

const remaining = <Item extends Placed>(
  one: Opened<Item>,
  end: Item,
  hasMemory: boolean,
): readonly Opened<Item>[] => {
  const items = one.items.filter((item) => placedBefore(item, end) > 0);
  if (!one.from && items.length === 0) return [];
  return [
    { ...one, items, limit: hasMemory && items.length === 0 ? pageOf(2 * one.limit) : one.limit },
  ];
};

/** Reads on until there is an item: a page may have only items that have expired. */
const nextPage = async <Item extends Placed>(
  tables: Tables,
  one: Opened<Item>,
): Promise<Opened<Item>> => {
  let { from } = one;
  const items: Item[] = [];
  do {
    const input = {
      ...one.read.params,
      Limit: one.limit,
      ...(from && { ExclusiveStartKey: from }),
    };
    const page = await repeat(tables, "read the history", () =>
      tables.client.send(new QueryCommand(input)),
    );
    items.push(...(page.Items ?? []).map((item) => one.read.itemOf(historyItemOf(item))));
    from = page.LastEvaluatedKey;
  } while (from && items.length === 0);
  return { ...one, items: [...one.items, ...items], from };
};
