import type { PlannedCluster } from "../timetable.ts";
import type { Ledger } from "./ledger.ts";

/**
 * Syncs of one due time may come as much later than another one's as a message is late without
 * faults.
 */
const SLACK_MS = 1_000;
const PERIODS = 2;
/**
 * A partition that an edit has made is planned by the next call of the scheduler: the edits of a
 * seed plan nothing themselves.
 */
const CALL_MS = 60_000;

/**
 * Once the leases that the faults have left are over, and people are done with a cluster, each of
 * its partitions completes a sync within two periods, again and again.
 */
export const watchLiveness = (
  ledger: Ledger,
  clusters: readonly PlannedCluster[],
  calmMs: number,
): void => {
  for (const { name, periodMs, divided } of clusters) {
    const fromMs = Math.max(calmMs, (ledger.clusterWrites.get(name) ?? 0) + CALL_MS);
    for (const partition of divided ? ["default", "pay"] : ["default"]) {
      const completed = (ledger.releases.get(`partition#${name}#${partition}`) ?? []).filter(
        (ms) => ms >= fromMs,
      );
      const instants = [fromMs, ...completed, ledger.nowMs()];
      const gapMs = Math.max(...instants.slice(1).map((ms, at) => ms - (instants[at] ?? ms)));
      if (gapMs <= PERIODS * periodMs + SLACK_MS) continue;
      const words = `${name}/${partition} completed none for ${gapMs / 1_000} s, and its period is ${periodMs / 1_000} s`;
      ledger.violate("after faults stop, every partition syncs within two periods", words);
    }
  }
};
