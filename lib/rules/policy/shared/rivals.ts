import type { Neighbour, Pod } from "../../model/observation.ts";
import { type Labels, selects, type Selector, wantsOneValue } from "../../model/selector.ts";
import { parseSelector } from "../../model/selector-text.ts";

/** Name of another autoscaler that also matches one of the pods. */
export const rivalOf = (
  pods: readonly Pod[],
  others: readonly Neighbour[],
  own: string,
): string | undefined => {
  if (others.length === 0) return undefined;
  const rivalFor = rivalsAmong(others);
  for (const { labels } of pods) {
    const rival = rivalFor(labels, own);
    if (rival !== undefined) return rival;
  }
  return undefined;
};

/** The name of an autoscaler, beside the own one, that selects a pod with these labels. */
type RivalFor = (labels: Labels, own: string) => string | undefined;

/** One index serves every autoscaler of a namespace, as they share the list. */
const INDEXES = new WeakMap<readonly Neighbour[], RivalFor>();

const rivalsAmong = (others: readonly Neighbour[]): RivalFor => {
  const known = INDEXES.get(others);
  if (known) return known;
  const index = indexOf(others);
  INDEXES.set(others, index);
  return index;
};

interface Claim {
  readonly name: string;
  readonly selector: Selector;
}

/**
 * Selectors that ask for one value of a label are found by it, so that a pod is compared with the
 * few that could match and not with all of the namespace.
 */
const indexOf = (others: readonly Neighbour[]): RivalFor => {
  const claims = others.flatMap(({ name, selector: text }): readonly Claim[] => {
    const reading = parseSelector(text);
    return reading.kind === "invalid" ? [] : [{ name, selector: reading.selector }];
  });
  const byLabel = Map.groupBy(claims, ({ selector }) => pinnedLabel(selector));
  const rest = byLabel.get(undefined);
  return (labels, own) => {
    const isRival = ({ name, selector }: Claim): boolean =>
      name !== own && selects(selector, labels);
    for (const key of Object.keys(labels)) {
      const rival = byLabel.get(labelKey(key, labels[key]))?.find(isRival);
      if (rival) return rival.name;
    }
    return rest?.find(isRival)?.name;
  };
};

/** The first label of which it asks for one value. */
const pinnedLabel = (selector: Selector): string | undefined => {
  const pinned = selector.find(wantsOneValue);
  return pinned && labelKey(pinned.key, pinned.values[0]);
};

/** A label's key never holds "=". */
const labelKey = (key: string, value: string | undefined): string => `${key}=${value}`;
