import type { PartitionRef } from "../../../rules/model/ids.ts";
import type { SummaryBase } from "../../../rules/model/summary.ts";
import type { JournalBases } from "../../store/history/journal.ts";
import type { LoadedPage } from "./load-pages.ts";
import type { LoadedSpecs } from "./load-specs.ts";

/**
 * What an environment remembers of a partition between two syncs. It only saves reads: each load
 * compares it with the head, and uses what still counts.
 */
export interface Remembered {
  /** The ids of the tables that it was read from. */
  readonly tables: string;
  readonly specs: LoadedSpecs;
  readonly pages: readonly LoadedPage[];
  /** Generation of the pages, also while there are none. */
  readonly pageGeneration: number;
  /**
   * Journal pages that this environment inserted, and from which the next ones say the difference.
   */
  readonly journalBases: JournalBases;
  /**
   * The summary item that this environment wrote or read last. It counts while the head names it.
   */
  readonly summary?: SummaryBase;
}

export interface WarmCache {
  get(partition: PartitionRef): Remembered | undefined;
  set(partition: PartitionRef, remembered: Remembered): void;
  forget(partition: PartitionRef): void;
}

/**
 * Most autoscalers that one environment remembers. Each takes some 10 KB with spec, manifest and
 * windows, so that all stay well under the memory of the function.
 */
const AUTOSCALERS_MAX = 20_000;

/** A new, empty cache that drops the least recently used partitions. */
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
        // The newest partition always stays, because the next message may need it.
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
