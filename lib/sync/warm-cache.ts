import type { PartitionRef } from "../model/ids.ts";
import type { LoadedPage } from "./load-pages.ts";
import type { LoadedSpecs } from "./loaded-specs.ts";

/** What an environment remembers of a partition between two syncs: a saving, never a source of truth. Which of it counts is decided against the head at every load. */
export interface Remembered {
  readonly specs: LoadedSpecs;
  readonly pages: readonly LoadedPage[];
  /** Of the pages, also while there are none. */
  readonly pageGeneration: number;
}

export interface WarmCache {
  get(partition: PartitionRef): Remembered | undefined;
  set(partition: PartitionRef, remembered: Remembered): void;
  forget(partition: PartitionRef): void;
}

/** Autoscalers remembered by one environment: with spec, manifest and windows some 10 KB each, well under the memory of the function. */
const AUTOSCALERS_MAX = 20_000;

/** A new, empty cache that drops what was used longest ago. */
export const warmCache = (): WarmCache => {
  const byKey = new Map<string, Remembered>();
  const keyOf = ({ cluster, partition }: PartitionRef): string => `${cluster}/${partition}`;
  return {
    get: (partition) => byKey.get(keyOf(partition)),
    set: (partition, remembered) => {
      byKey.delete(keyOf(partition));
      byKey.set(keyOf(partition), remembered);
      let left = [...byKey.values()].reduce((sum, { specs }) => sum + specs.all.length, 0);
      for (const [key, { specs }] of byKey) {
        // The newest is always kept: it is what the next message may need.
        if (left <= AUTOSCALERS_MAX || byKey.size === 1) break;
        byKey.delete(key);
        left -= specs.all.length;
      }
    },
    forget: (partition) => {
      byKey.delete(keyOf(partition));
    },
  };
};
