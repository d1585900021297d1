import { matches, type Selector } from "./selector.ts";

/**
 * A list of labelled objects that many autoscalers select from. The first requirement of a selector with a value narrows the search through an index. It is
 * built on first use, so that a thousand autoscalers in one namespace do not each read every pod.
 */
export interface LabelIndex<Item> {
  readonly all: readonly Item[];
  /** The items that the selector matches, in the order of `all`. */
  readonly select: (selector: Selector) => readonly Item[];
}

export const labelIndex = <Item extends { readonly labels: Readonly<Record<string, string>> }>(all: readonly Item[]): LabelIndex<Item> => {
  const byKey = new Map<string, Map<string | undefined, Item[]>>();
  const bucketsOf = (key: string): Map<string | undefined, Item[]> => {
    const known = byKey.get(key);
    if (known) return known;
    const labelled = all.filter((item) => Object.hasOwn(item.labels, key));
    const buckets = Map.groupBy(labelled, (item) => item.labels[key]);
    byKey.set(key, buckets);
    return buckets;
  };
  return {
    all,
    select: (selector) => {
      const narrowing = selector.find(({ operator, values }) => operator === "=" || (operator === "in" && values.length === 1));
      if (!narrowing) return all.filter((item) => matches(selector, item.labels));
      const candidates = bucketsOf(narrowing.key).get(narrowing.values[0]) ?? [];
      return selector.length === 1 ? candidates : candidates.filter((item) => matches(selector, item.labels));
    },
  };
};
