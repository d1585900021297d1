/** Groups items into batches of at most `size`, so that a list of any length is printed in constant memory. */
export async function* batches<Item>(items: AsyncIterable<Item> | Iterable<Item>, size: number): AsyncGenerator<readonly Item[]> {
  let batch: Item[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
