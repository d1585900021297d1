/** Collects a stream that is known to be short. */
export const toArray = async <Item>(stream: AsyncIterable<Item> | Iterable<Item>): Promise<readonly Item[]> => {
  const items: Item[] = [];
  for await (const item of stream) items.push(item);
  return items;
};
