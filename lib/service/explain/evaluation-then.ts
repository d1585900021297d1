import limited from "p-limit";
import { readHead } from "../../store/head/head.ts";
import { journalPageOf } from "../../store/pages/plan.ts";
import { partitionOf } from "../../store/records/clusters.ts";
import type { QueryContext } from "../context.ts";
import { earlierStreams, newestIn, silenceMsOf } from "../partitions/read-samples.ts";
import type { Evaluated, AutoscalerSnapshot } from "../partitions/partition-data.ts";

/** Queries at once. A silence may need some for each partition that its namespace was in. */
const PARALLEL = 16;

/**
 * The newest evaluation at or before an instant, where the present journal of the autoscaler is silent for longer than syncs are: its namespace may have been in another partition then, or the
 * partition divided otherwise. Falls back to what the present journal has.
 */
export const evaluationThen = async (context: QueryContext, snapshot: AutoscalerSnapshot, atMs: number): Promise<Evaluated | undefined> => {
  const { evaluated, cluster, record, nowMs } = snapshot;
  const stretch = { sinceMs: evaluated ? evaluated.atMs + 1 : record.createdMs, untilMs: Math.min(atMs, nowMs) };
  const partition = partitionOf(cluster, record.namespace);
  if (partition === undefined || (evaluated && stretch.untilMs - evaluated.atMs <= silenceMsOf(cluster))) return evaluated;
  const ref = { cluster: cluster.name, partition };
  const head = await readHead(context.tables, ref);
  const present = { ref, page: journalPageOf(record.uid, head?.pages.length ?? 0) };
  const streams = await earlierStreams(context, snapshot, present, stretch);
  const limit = limited(PARALLEL);
  const earlier = await Promise.all(streams.map((stream) => limit(() => newestIn(context, record.uid, stream, stretch))));
  return [evaluated, ...earlier].reduce((newest, other) => (other && (!newest || other.atMs > newest.atMs) ? other : newest), undefined);
};
