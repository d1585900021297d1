import type { ClusterName } from "../../lib/rules/model/ids.ts";
import { WHOLE_CLUSTER } from "../../lib/rules/model/ids.ts";
import { DAY_COUNTS, MONTH_COUNTS } from "../../lib/stack/projections/counts.ts";
import { type Projection, project } from "../../lib/stack/projections/project.ts";
import type { InsertHistory } from "../../lib/stack/store/history/item.ts";
import { addedMs } from "../../lib/stack/store/history/scope-changes.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";

/** As of a cluster whose counts began with its retention, where no change says when it was added. */
const sinceEver = (projection: Projection, sinceMs: number): Projection => ({
  ...projection,
  places: async (turn) =>
    (await projection.places(turn)).map((place) => ({
      ...place,
      firstMs: async () => (await addedMs(turn.tables, turn.cluster.name)) ?? sinceMs,
    })),
});

/** One turn of the counts of a cluster. Returns the days that it counted. */
export const closeDays = async (
  tables: Tables,
  insert: InsertHistory,
  cluster: ClusterName,
  nowMs: number,
): Promise<readonly string[]> => {
  const days: string[] = [];
  const states = await project(
    {
      tables,
      insert: async (items) => {
        for (const { pk, sk } of items) if (pk.startsWith("days#")) days.push(sk);
        return insert(items);
      },
      cluster: { name: cluster, partitions: [{ name: WHOLE_CLUSTER, namespaces: [] }] },
      partition: WHOLE_CLUSTER,
      nowMs,
      beforeMs: 0,
      untilMs: Number.POSITIVE_INFINITY,
      memory: {},
    },
    [DAY_COUNTS, MONTH_COUNTS].map((one) => sinceEver(one, nowMs - one.reachMs)),
  );
  const failed = states.find(({ failure }) => failure !== undefined);
  if (failed) throw new Error(failed.failure);
  return days;
};
