import { setImmediate } from "node:timers/promises";

/**
 * Autoscalers that are looked at in one turn of the event loop: what a sync does for each takes
 * less than 0.1 ms.
 */
export const AUTOSCALERS_A_TURN = 100;

/**
 * Maps a list, and lets the event loop go on before each part of a long one: deadlines, answers and
 * other clusters wait meanwhile. A list of one part is mapped at once.
 */
export const mapYielding = async <Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
  itemsATurn: number = AUTOSCALERS_A_TURN,
): Promise<readonly Result[]> => {
  if (items.length <= itemsATurn) return items.map((item) => map(item));
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += itemsATurn) {
    await setImmediate();
    for (const item of items.slice(from, from + itemsATurn)) results.push(map(item));
  }
  return results;
};

/**
 * Gives the items of an async list on, and lets the event loop go on after each part: items of one
 * answer would otherwise come one after the other without a turn.
 */
export async function* inTurns<Item>(
  items: AsyncIterable<Item>,
  itemsATurn: number,
): AsyncGenerator<Item> {
  let count = 0;
  for await (const item of items) {
    if (count > 0 && count % itemsATurn === 0) await setImmediate();
    count++;
    yield item;
  }
}
