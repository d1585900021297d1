import type { ClusterClient } from "../../stack/cluster/cluster-client.ts";
import type { PartitionRef } from "../../rules/model/ids.ts";
import type { ClusterRecord } from "../../rules/model/records.ts";
import { readHead } from "../../stack/store/head/head.ts";
import { intentBodies } from "../../stack/store/head/intent-codec.ts";
import { giveBack } from "../../stack/store/head/release.ts";
import { storeIntents, withdrawIntents } from "../../stack/store/head/store-intents.ts";
import type { Tables } from "../../stack/store/table/tables.ts";
import { isUntouched } from "../../stack/sync/load/open-intents.ts";
import type { Intent } from "../../rules/model/scale-records.ts";

export interface Dead {
  readonly tables: Tables;
  readonly clusters: readonly ClusterRecord[];
  readonly connect: (cluster: ClusterRecord) => Promise<ClusterClient>;
  readonly nowMs: number;
}

/** The unfinished work of the last run. */
export interface Unfinished {
  readonly leases: number;
  /** Attempts to scale that reached the cluster: the next sync stores their events. */
  readonly reached: number;
  /** Attempts that never left the process. The next sync decides them again. */
  readonly withdrawn: number;
}

export const NOTHING_UNFINISHED: Unfinished = { leases: 0, reached: 0, withdrawn: 0 };

const READ_TIMEOUT_MS = 10_000;

/**
 * Ends the leases and intents of the last run of a simulated cluster, so that interrupted syncs can
 * be done again at the same virtual time. On AWS a lease runs out and an intent waits for its
 * deadline, because no process can know whether the holder is dead and whether its PUT is under
 * way. Here the lock of the folder proves that the holder is dead. The simulated cluster died in
 * the same process, so it accepts no late PUT.
 */
export const endDeadLeases = async (dead: Dead): Promise<Unfinished> => {
  let all = NOTHING_UNFINISHED;
  for (const cluster of dead.clusters) {
    for (const { name: partition } of cluster.partitions) {
      const recovered = await endDeadLease(
        { ...dead, cluster },
        { cluster: cluster.name, partition },
      );
      all = {
        leases: all.leases + recovered.leases,
        reached: all.reached + recovered.reached,
        withdrawn: all.withdrawn + recovered.withdrawn,
      };
    }
  }
  return all;
};

type DeadOne = Omit<Dead, "clusters"> & { readonly cluster: ClusterRecord };

const endDeadLease = async (dead: DeadOne, partition: PartitionRef): Promise<Unfinished> => {
  const head = await readHead(dead.tables, partition);
  if (!head || head.leaseUntilMs === 0) return NOTHING_UNFINISHED;
  const never = await neverExecuted(dead, head.intents);
  const reached = head.intents.filter((intent) => !never.includes(intent));
  const withdrawn = await withdrawIntents(
    dead.tables,
    { partition, epoch: head.epoch, writeNumber: head.writeNumber },
    never.map(({ id }) => id),
  );
  const due = { ...head, intents: reached.map((intent) => dueAt(intent, dead.nowMs)) };
  await giveBack(
    dead.tables,
    await storeIntents(dead.tables, withdrawn, intentBodies(due), head.nowMs),
  );
  return { leases: 1, reached: reached.length, withdrawn: never.length };
};

/** Moves the deadline of executed attempts into the past, so that the next sync settles them. */
const dueAt = (intent: Intent, nowMs: number): Intent => ({
  ...intent,
  deadlineMs: Math.min(intent.deadlineMs, nowMs - 1),
});

const neverExecuted = async (
  { connect, cluster }: DeadOne,
  intents: readonly Intent[],
): Promise<readonly Intent[]> => {
  if (intents.length === 0) return [];
  const client = await connect(cluster);
  const never: Intent[] = [];
  for (const intent of intents) {
    const reading = await client.readScale(intent.namespace, intent.target, READ_TIMEOUT_MS);
    if (isUntouched(intent, reading)) never.push(intent);
  }
  return never;
};
