/** Every item of a stream at once, for lists whose length is known to be small. */
export const toArray = async <Item>(stream: AsyncIterable<Item>): Promise<readonly Item[]> => {
  const items: Item[] = [];
  for await (const item of stream) items.push(item);
  return items;
};
