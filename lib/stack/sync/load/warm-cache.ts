import type { PartitionRef } from "../../../rules/model/ids.ts";
import type { LoadedSpecs } from "../hand-over.ts";
import type { WarmCache, Remembered } from "../sync-ports.ts";

/**
 * Most autoscalers that one environment remembers. Each takes some 10 KB with spec, manifest and
 * windows, so that all stay well under the memory of the function.
 */
const AUTOSCALERS_MAX = 20_000;

/** Partitions whose sync failed that one environment remembers. */
const CONVERTED_MAX = 10;

/** A new, empty cache that drops the least recently used partitions. */
export const warmCache = (): WarmCache => {
  const byKey = new Map<string, Remembered>();
  /** Of partitions whose sync failed, or is under way. Of the others `byKey` has them. */
  const converted = new Map<string, LoadedSpecs>();
  const keyOf = ({ cluster, partition }: PartitionRef): string => `${cluster}/${partition}`;
  return {
    get: (partition) => byKey.get(keyOf(partition)),
    set: (partition, remembered) => {
      byKey.delete(keyOf(partition));
      converted.delete(keyOf(partition));
      byKey.set(keyOf(partition), remembered);
      let left = [...byKey.values()].reduce((sum, { specs }) => sum + specs.all.length, 0);
      for (const [key, { specs }] of byKey) {
        // The newest partition always stays, because the next message may need it.
        if (left <= AUTOSCALERS_MAX || byKey.size === 1) break;
        byKey.delete(key);
        left -= specs.all.length;
      }
    },
    forget: (partition) => {
      byKey.delete(keyOf(partition));
    },
    converted: (partition) => converted.get(keyOf(partition)),
    keepConverted: (partition, specs) => {
      if (converted.size >= CONVERTED_MAX) converted.clear();
      converted.set(keyOf(partition), specs);
    },
  };
};
