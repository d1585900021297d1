import type { PartitionRef } from "../model/ids.ts";
import type { LoadedPage } from "./load-pages.ts";
import type { LoadedSpecs } from "./load-specs.ts";

/** What an environment remembers of a partition between two syncs: a saving, never a source of truth. Which of it counts is decided against the head at every load. */
export interface Remembered {
  readonly specs: LoadedSpecs;
  readonly pages: readonly LoadedPage[];
}

export interface WarmCache {
  get(partition: PartitionRef): Remembered | undefined;
  set(partition: PartitionRef, remembered: Remembered): void;
  forget(partition: PartitionRef): void;
}

/** Partitions held by one environment: with 5,000 autoscalers each of 5 KB that is 200 MB, under the memory of the function. */
const PARTITIONS_MAX = 8;

/** A new, empty cache that drops what was used longest ago. */
export const warmCache = (): WarmCache => {
  const byKey = new Map<string, Remembered>();
  const keyOf = ({ cluster, partition }: PartitionRef): string => `${cluster}/${partition}`;
  return {
    get: (partition) => byKey.get(keyOf(partition)),
    set: (partition, remembered) => {
      byKey.delete(keyOf(partition));
      byKey.set(keyOf(partition), remembered);
      for (const oldest of [...byKey.keys()].slice(0, Math.max(0, byKey.size - PARTITIONS_MAX))) byKey.delete(oldest);
    },
    forget: (partition) => {
      byKey.delete(keyOf(partition));
    },
  };
};
