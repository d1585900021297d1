import type { ClusterName } from "../../model/ids.ts";
import type { ScaleEventRecord } from "../../model/records.ts";
import { allDone } from "../table/all-done.ts";
import type { Tables } from "../table/tables.ts";
import { eventsOfCluster } from "./cluster-events.ts";
import type { Stretch } from "./events.ts";

/** Events in memory while those of all clusters are merged. With few clusters each request reads many, so that a long export makes few requests. Memory does not grow with the stretch. */
const EVENTS_IN_MEMORY = 2_000;
const PAGE_LEAST = 25;
const PAGE_MOST = 500;
const pageSizeOf = (clusters: number): number => Math.min(PAGE_MOST, Math.max(PAGE_LEAST, Math.floor(EVENTS_IN_MEMORY / Math.max(1, clusters))));

/** The events of one cluster: the next one, and the others. */
interface ClusterStream {
  readonly rest: AsyncGenerator<ScaleEventRecord>;
  readonly next: ScaleEventRecord;
}

const openStream = async (rest: AsyncGenerator<ScaleEventRecord>): Promise<readonly ClusterStream[]> => {
  const { value, done } = await rest.next();
  return done ? [] : [{ rest, next: value }];
};

/** Compares text as DynamoDB sorts it, in every locale, so that a list can continue after any event. */
const inOrder = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Scale events of many clusters in order of time. Events of one instant are in order of cluster, then id. */
export async function* eventsOfFleet(tables: Tables, clusters: readonly ClusterName[], stretch: Stretch): AsyncGenerator<ScaleEventRecord> {
  const direction = stretch.newestFirst ? -1 : 1;
  const order = (a: ClusterStream, b: ClusterStream): number =>
    direction * (a.next.atMs - b.next.atMs) || inOrder(a.next.cluster, b.next.cluster) || inOrder(a.next.id, b.next.id);
  const pageSize = pageSizeOf(clusters.length);
  const opened = await allDone(clusters.map((cluster) => openStream(eventsOfCluster(tables, cluster, { ...stretch, pageSize }))));
  let streams = opened.flat().sort(order);
  for (let first = streams[0]; first; first = streams[0]) {
    yield first.next;
    streams = [...streams.slice(1), ...(await openStream(first.rest))].sort(order);
  }
}
