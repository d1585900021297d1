import type { ClusterClient } from "../cluster/cluster-client.ts";
import type { ClusterRecord } from "../../rules/model/records.ts";
import type { SourceClient } from "../source-client/source-client.ts";
import type { Head, Lease } from "../store/head/head.ts";
import type { InsertHistory } from "../store/history/item.ts";
import type { Tables } from "../store/table/tables.ts";
import type { SyncMessage, Timing } from "../plan/message.ts";
import type { PurePart } from "./pure-part.ts";
import type { RealTime } from "../report/sync-report.ts";
import type { LoadedSpecs, LoadedPage } from "./hand-over.ts";
import type { JournalBases } from "../store/history/journal.ts";
import type { SummaryBase } from "../../rules/model/summary.ts";
import type { PartitionRef } from "../../rules/model/ids.ts";

/** Everything that a sync waits for, and the clock. A test can hold, fail or delay each of them. */
export interface SyncPorts {
  readonly tables: Tables;
  readonly insert: InsertHistory;
  /**
   * Gives a client of the cluster; the caller keeps it warm. Throws when access fails: the sync
   * then reports a cluster that cannot be observed.
   */
  readonly connect: (cluster: ClusterRecord) => Promise<ClusterClient>;
  readonly rules: PurePart;
  readonly timing: Timing;
  readonly cache: WarmCache;
  /**
   * Real time in milliseconds, where the clock of the tables is virtual: the report of a sync then
   * says what it really took.
   */
  readonly realClock?: () => number;
  /**
   * What asks registered sources, loaded when the first metric needs it. Absent where none are
   * asked: their metrics are then missing.
   */
  readonly sources?: () => Promise<SourceClient>;
}

/**
 * Holds the lease of a running sync. Each write of the head replaces the lease, because a write
 * raises the write number.
 */
export interface LeaseHolder {
  lease: Lease;
}

export const leaseHolder = (
  { cluster, partition }: SyncMessage,
  { epoch, writeNumber }: Head,
): LeaseHolder => ({
  lease: { partition: { cluster, partition }, epoch, writeNumber },
});

/**
 * Milliseconds of each phase by name, on the injected clock. A phase that comes again adds to its
 * sum.
 */
export interface PhaseTimer {
  /** Ends a phase now. */
  readonly mark: (name: string) => void;
  readonly phase: <Result>(name: string, running: Promise<Result>) => Promise<Result>;
  readonly phasesMs: Readonly<Record<string, number>>;
  /** The same on the real clock, since it was begun; absent without a real clock. */
  readonly real: () => RealTime | undefined;
}

/** `realClock`: where `clock` is virtual. */
export const phaseTimer = (clock: () => number, realClock?: () => number): PhaseTimer => {
  const virtual = stopwatch(clock);
  const real = realClock && stopwatch(realClock);
  const mark = (name: string): void => {
    virtual.mark(name);
    real?.mark(name);
  };
  return {
    phasesMs: virtual.phasesMs,
    real: () => real && { tookMs: real.tookMs(), phasesMs: real.phasesMs },
    mark,
    phase: async (name, running) => {
      const result = await running;
      mark(name);
      return result;
    },
  };
};

const stopwatch = (clock: () => number) => {
  const phasesMs: Record<string, number> = {};
  const beganMs = clock();
  let lastMs = beganMs;
  const mark = (name: string): void => {
    const nowMs = clock();
    phasesMs[name] = (phasesMs[name] ?? 0) + nowMs - lastMs;
    lastMs = nowMs;
  };
  return { phasesMs, mark, tookMs: () => clock() - beganMs };
};

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
  /**
   * The specs that were converted last, also where the sync failed since. They say what a manifest
   * means and nothing of the head, so that they count for the same manifests only.
   */
  converted(partition: PartitionRef): LoadedSpecs | undefined;
  keepConverted(partition: PartitionRef, specs: LoadedSpecs): void;
}
