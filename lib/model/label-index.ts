import { matches, type Selector } from "./selector.ts";

/**
 * A list of labelled objects that many autoscalers select from. The first requirement of a selector with a value narrows the search through an index. It is
 * built on first use, so that a thousand autoscalers in one namespace do not each read every pod.
 */
export interface LabelIndex<Item> {
  readonly all: readonly Item[];
  /** The items that the selector matches, in the order of `all`. */
  readonly select: (selector: Selector) => readonly Item[];
  /** How many items `select` looks at. */
  readonly looksAt: (selector: Selector) => number;
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
  const candidatesFor = (selector: Selector): readonly Item[] => {
    const narrowing = selector.find(({ operator, values }) => operator === "=" || (operator === "in" && values.length === 1));
    return narrowing ? (bucketsOf(narrowing.key).get(narrowing.values[0]) ?? []) : all;
  };
  const isLabel = ([only, ...more]: Selector): boolean =>
    only !== undefined && more.length === 0 && (only.operator === "=" || (only.operator === "in" && only.values.length === 1));
  return {
    all,
    select: (selector) => {
      const candidates = candidatesFor(selector);
      return isLabel(selector) ? candidates : candidates.filter((item) => matches(selector, item.labels));
    },
    looksAt: (selector) => candidatesFor(selector).length,
  };
};
