import type { Neighbour, Pod } from "../../model/observation.ts";
import { matches, type Selector } from "../../model/selector.ts";
import { parseSelector } from "../../model/selector-text.ts";

/** Name of another autoscaler that also matches one of the pods. */
export const rivalOf = (pods: readonly Pod[], others: readonly Neighbour[], own: string): string | undefined => {
  if (others.length === 0) return undefined;
  const index = neighbourIndex(others);
  for (const { labels } of pods) {
    const rival = index.rivalFor(labels, own);
    if (rival !== undefined) return rival;
  }
  return undefined;
};

interface NeighbourIndex {
  readonly rivalFor: (labels: Readonly<Record<string, string>>, own: string) => string | undefined;
}

/** One index serves every autoscaler of a namespace, as they share the list. */
const INDEXES = new WeakMap<readonly Neighbour[], NeighbourIndex>();

const neighbourIndex = (others: readonly Neighbour[]): NeighbourIndex => {
  const known = INDEXES.get(others);
  if (known) return known;
  const index = buildIndex(others);
  INDEXES.set(others, index);
  return index;
};

interface Claim {
  readonly name: string;
  readonly selector: Selector;
}

/** Selectors that ask for one value of a label are found by it, so that a pod is compared with the few that could match and not with all of the namespace. */
const buildIndex = (others: readonly Neighbour[]): NeighbourIndex => {
  const byLabel = new Map<string, Claim[]>();
  const rest: Claim[] = [];
  for (const { name, selector: text } of others) {
    const reading = parseSelector(text);
    if (reading.kind === "invalid") continue;
    const { selector } = reading;
    const label = pinnedLabel(selector);
    if (label !== undefined) append(byLabel, label, { name, selector });
    else rest.push({ name, selector });
  }
  return {
    rivalFor: (labels, own) => {
      const isRival = ({ name, selector }: Claim): boolean => name !== own && matches(selector, labels);
      for (const key of Object.keys(labels)) {
        const rival = byLabel.get(labelKey(key, labels[key]))?.find(isRival);
        if (rival) return rival.name;
      }
      return rest.find(isRival)?.name;
    },
  };
};

/** The first label of which it asks for one value. */
const pinnedLabel = (selector: Selector): string | undefined => {
  const [label] = selector.flatMap(({ key, operator, values }) =>
    values.length === 1 && (operator === "=" || operator === "in") ? values.map((value) => labelKey(key, value)) : [],
  );
  return label;
};

const append = <Item>(lists: Map<string, Item[]>, key: string, item: Item): void => {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
};

/** A label's key never holds "=". */
const labelKey = (key: string, value: string | undefined): string => `${key}=${value}`;
