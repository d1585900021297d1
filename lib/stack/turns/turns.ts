/**
 * Fair turns between flows: fair queuing by flow, as the API server queues its requests (API
 * Priority and Fairness). A flow is a namespace. What a sync spends (calls, time, bytes, questions,
 * dollars, stores) is given in these turns and in no other order. Everything here is pure: the
 * place of a turn follows from the due time, so that it is the same in all environments of the
 * function, and nothing has to be remembered.
 */

/** The due time of a sync and its period, from which its turns follow. */
export interface DueTime {
  readonly dueMs: number;
  readonly periodMs: number;
}

/** The number of a sync. Each sync has the next one, whichever environment makes it. */
export const roundOf = ({ dueMs, periodMs }: DueTime): number => Math.floor(dueMs / periodMs);

/** The fractional part of the golden ratio. Its multiples spread most evenly over a circle. */
const GOLDEN = 0.618_033_988_749_894_9;

/**
 * The place of something among all that wait for the same: the lowest has its turn first. It is
 * another one in each round, so that where only a share has room, each is in that share within a
 * few rounds, and one that always fails keeps no other out.
 */
export const turnOf = (key: string, round: number): number =>
  (((hashOf(key) * SPREAD) % CIRCLE) / CIRCLE + round * GOLDEN) % 1;

/** True in one of so many rounds, which is another one for other keys. */
export const isTurn = (key: string, round: number, rounds: number): boolean =>
  round % rounds === hashOf(key) % rounds;

/** Neighbouring hashes get places far from each other (Knuth's multiplicative hash). */
const SPREAD = 2_654_435_761;
const CIRCLE = 2 ** 32;

const HASH_FACTOR = 31;
const HASH_MODULO = 1_000_003;

const hashOf = (text: string): number => {
  let hash = 0;
  for (const character of text)
    hash = (hash * HASH_FACTOR + (character.codePointAt(0) ?? 0)) % HASH_MODULO;
  return hash;
};

/** The same items in the order of their places. */
export const byPlace = <Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  round: number,
): readonly Item[] =>
  items
    .map((item) => ({ item, place: turnOf(keyOf(item), round) }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item);

export interface Order<Item> {
  readonly flowOf: (item: Item) => string;
  readonly costOf: (item: Item) => number;
  /** Absent where the items of one turn keep their order. */
  readonly round?: number;
  /**
   * What decides the turn of an item: what its own flow spends before it, or with it. By "end", a
   * flow that asks for no more than its share of a limit always gets all of it. By "start", the
   * first item of a flow is among the first however large it is.
   */
  readonly by: "start" | "end";
}

/*
 *  team-a   ████████ ████████ ████████
 *         one after the other: an item begins where what its own flow spends before it ends
 *  team-b   ██
 *         so the one small item of team-b is among the first, however many team-a has
 */

/** The items in fair turns. Within a flow they keep their order. */
export const inFairTurns = <Item>(
  items: readonly Item[],
  { flowOf, costOf, round, by }: Order<Item>,
): readonly Item[] =>
  placedIn(items, flowOf, round)
    .map(({ item, flow }) => {
      const start = flow.spent;
      flow.spent += costOf(item);
      return { item, at: by === "start" ? start : flow.spent, place: flow.place };
    })
    .toSorted((one, other) => one.at - other.at || one.place - other.place)
    .map(({ item }) => item);

/** Each item with its flow, and the place of the flow in this round. */
const placedIn = <Item>(
  items: readonly Item[],
  flowOf: (item: Item) => string,
  round: number | undefined,
): readonly { readonly item: Item; readonly flow: { spent: number; readonly place: number } }[] => {
  const flows = new Map<string, { spent: number; readonly place: number }>();
  return items.map((item) => {
    const name = flowOf(item);
    const flow = flows.get(name) ?? {
      spent: 0,
      place: round === undefined ? 0 : turnOf(name, round),
    };
    flows.set(name, flow);
    return { item, flow };
  });
};

/**
 * The share of each flow of a limit: the most that a flow may have, so that all have no more than
 * the limit together. What flows that ask for less leave is for the others (max-min fairness).
 */
export const shareOf = (wanted: Iterable<number>, limit: number): number => {
  const ascending = [...wanted].toSorted((one, other) => one - other);
  let left = limit;
  for (const [at, amount] of ascending.entries()) {
    const share = left / (ascending.length - at);
    if (amount > share) return share;
    left -= amount;
  }
  return Number.POSITIVE_INFINITY;
};

export interface Sharing<Item> {
  readonly flowOf: (item: Item) => string;
  readonly keyOf: (item: Item) => string;
  /** What the item asks for, by key. What several ask for is spent once, and all carry a part. */
  readonly costsOf: (item: Item) => ReadonlyMap<string, number>;
  readonly limit: number;
  readonly round: number;
}

/** How much a flow may have, and how much it asks for. */
export interface OverShare {
  readonly share: number;
  readonly wanted: number;
}

type Costs = ReadonlyMap<string, number>;

/**
 * The items that have no room, because their flow asks for more than its share of a limit. The
 * items of such a flow take turns; the other flows have all that they ask for.
 */
export const overShare = <Item>(
  items: readonly Item[],
  { flowOf, keyOf, costsOf, limit, round }: Sharing<Item>,
): ReadonlyMap<Item, OverShare> => {
  const partsOf = partsByFlow(items, flowOf, costsOf);
  const flows = Map.groupBy(items, flowOf);
  const wanted = new Map(
    [...flows].map(([flow, own]) => [
      flow,
      sumOf(new Map(own.flatMap((item) => [...partsOf(item)]))),
    ]),
  );
  const share = shareOf(wanted.values(), limit) + ROUNDING;
  return new Map(
    [...flows].flatMap(([flow, own]) => {
      const asked = wanted.get(flow) ?? 0;
      if (asked <= share) return [];
      const over = { share, wanted: asked };
      return withoutRoom(byPlace(own, keyOf, round), partsOf, share).map(
        (item) => [item, over] as const,
      );
    }),
  );
};

/** What each item asks for. What several flows ask for is spent once: each carries a part of it. */
const partsByFlow = <Item>(
  items: readonly Item[],
  flowOf: (item: Item) => string,
  costsOf: (item: Item) => Costs,
): ((item: Item) => Costs) => {
  const costs = new Map(items.map((item) => [item, costsOf(item)]));
  const askers = new Map<string, Set<string>>();
  for (const [item, own] of costs)
    for (const key of own.keys())
      askers.set(key, (askers.get(key) ?? new Set<string>()).add(flowOf(item)));
  return (item) =>
    new Map(
      [...(costs.get(item) ?? [])].map(([key, cost]) => [key, cost / (askers.get(key)?.size ?? 1)]),
    );
};

/** The items that do not fit. One that does not fit takes nothing, so that smaller ones have room. */
const withoutRoom = <Item>(
  items: readonly Item[],
  partsOf: (item: Item) => Costs,
  share: number,
): readonly Item[] => {
  const admitted = new Set<string>();
  let spent = 0;
  return items.filter((item) => {
    const more = new Map([...partsOf(item)].filter(([key]) => !admitted.has(key)));
    const cost = sumOf(more);
    if (spent + cost > share) return true;
    spent += cost;
    for (const key of more.keys()) admitted.add(key);
    return false;
  });
};

/** Parts of a whole, such as thirds, add up to a little more or less than the whole. */
const ROUNDING = 1e-6;

const sumOf = (costs: Costs): number =>
  [...costs.values()].reduce((sum, amount) => sum + amount, 0);

/**
 * What waits and is under way, by flow. The next one is of the flow with the fewest under way; of
 * equal ones, of the flow that has spent least; of equal ones, of the flow that has waited longest
 * for its turn. So a flow whose work is slow gets what the others leave, and no more than a flow
 * that is by itself.
 */
export interface FairQueue<Work> {
  readonly add: (flow: string, work: Work) => void;
  /** Takes the next one, which is under way from then on. Absent where none may begin. */
  readonly next: () => { readonly flow: string; readonly work: Work } | undefined;
  /** Ends one that was under way, with what it has spent. */
  readonly end: (flow: string, spent: number) => void;
}

interface Flow<Work> {
  readonly waiting: Work[];
  underWay: number;
  spent: number;
}

/** `mostOfFlow`: how many of one flow may be under way. */
export const fairQueue = <Work>(mostOfFlow: number): FairQueue<Work> => {
  const flows = new Map<string, Flow<Work>>();
  /** The flows that wait, in the order of their next turn. */
  const waiting = new Map<string, Flow<Work>>();
  /**
   * What the flow had spent whose turn was last. A flow that was idle begins there: it has saved
   * nothing up.
   */
  let reached = 0;
  let open = 0;
  const isBefore = (one: Flow<Work>, other: Flow<Work> | undefined): boolean =>
    other === undefined ||
    one.underWay < other.underWay ||
    (one.underWay === other.underWay && one.spent < other.spent);
  return {
    add: (flow, work) => {
      const known = flows.get(flow) ?? { waiting: [], underWay: 0, spent: 0 };
      if (known.waiting.length + known.underWay === 0) known.spent = Math.max(known.spent, reached);
      flows.set(flow, known);
      known.waiting.push(work);
      waiting.set(flow, known);
      open++;
    },
    next: () => {
      let best: Flow<Work> | undefined;
      let name = "";
      for (const [flow, state] of waiting) {
        if (state.underWay >= mostOfFlow || !isBefore(state, best)) continue;
        best = state;
        name = flow;
      }
      const work = best?.waiting.shift();
      if (best === undefined || work === undefined) return undefined;
      best.underWay++;
      reached = Math.max(reached, best.spent);
      // The others have the next turn.
      waiting.delete(name);
      if (best.waiting.length > 0) waiting.set(name, best);
      return { flow: name, work };
    },
    end: (flow, spent) => {
      const known = flows.get(flow);
      if (known) {
        known.underWay--;
        known.spent += spent;
      }
      // Nothing waits and nothing is under way: what was spent counts no longer.
      if (--open === 0) {
        flows.clear();
        reached = 0;
      }
    },
  };
};
