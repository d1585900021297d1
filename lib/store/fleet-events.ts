import type { ClusterName } from "../model/ids.ts";
import type { ScaleEventRecord } from "../model/records.ts";
import { allDone } from "./all-done.ts";
import { eventsOfCluster, type Stretch } from "./events.ts";
import type { Tables } from "./tables.ts";

/** Events held per cluster while the fleet's are merged: memory grows with the clusters, never with the stretch. */
const PAGE_SIZE = 25;

interface Source {
  readonly rest: AsyncGenerator<ScaleEventRecord>;
  readonly next: ScaleEventRecord;
}

const sourceOf = async (rest: AsyncGenerator<ScaleEventRecord>): Promise<readonly Source[]> => {
  const { value, done } = await rest.next();
  return done ? [] : [{ rest, next: value }];
};

/** Scale events of many clusters as one stretch in order of time; events of one instant by cluster, then id. */
export async function* eventsOfFleet(tables: Tables, clusters: readonly ClusterName[], stretch: Stretch): AsyncGenerator<ScaleEventRecord> {
  const way = stretch.newestFirst ? -1 : 1;
  const order = (a: Source, b: Source): number =>
    way * (a.next.atMs - b.next.atMs) || a.next.cluster.localeCompare(b.next.cluster) || a.next.id.localeCompare(b.next.id);
  const opened = await allDone(clusters.map((cluster) => sourceOf(eventsOfCluster(tables, cluster, { ...stretch, pageSize: PAGE_SIZE }))));
  let sources = opened.flat().sort(order);
  for (let first = sources[0]; first; first = sources[0]) {
    yield first.next;
    sources = [...sources.slice(1), ...(await sourceOf(first.rest))].sort(order);
  }
}
