import { isTidemarkError, TidemarkError } from "../../model/errors.ts";
import type { PartitionName, PartitionRef } from "../../model/ids.ts";
import type { ClusterRecord } from "../../model/records.ts";
import { readHead } from "../../store/head/head.ts";
import type { ServiceContext } from "../context.ts";
import { giveAllBack, type Leases, leaseAll } from "./leases.ts";

type Partitions = Pick<ClusterRecord, "name" | "partitions">;

/** The partitions of a cluster that have a head. One without was never claimed, so it never had windows or an intent. */
export const everSynced = async (context: ServiceContext, { name, partitions }: Partitions): Promise<readonly PartitionRef[]> => {
  const refs = partitions.map((partition) => ({ cluster: name, partition: partition.name }));
  const heads = await Promise.all(refs.map((ref) => readHead(context.tables, ref)));
  return refs.filter((_, at) => heads[at] !== undefined);
};

/** Runs `work` under the leases of these partitions of one cluster. `action` completes the message "Cannot …". Throws `service.busy` when the leases are not free, or were lost. */
export const whileNoSyncs = async <Result>(
  context: ServiceContext,
  action: string,
  partitions: readonly PartitionRef[],
  work: (leases: Leases) => Promise<Result>,
): Promise<Result> => {
  const leases = await leaseAll(context, { action, partitions, settled: new Set<PartitionName>() });
  try {
    return await work(leases);
  } catch (error) {
    if (!isTidemarkError(error, "store.lease-lost")) throw error;
    throw new TidemarkError("service.busy", `Cannot ${action}: it took longer than its lease; try again`, {
      cluster: partitions[0]?.cluster ?? "",
    });
  } finally {
    await giveAllBack(context, leases);
  }
};
