import type { ClusterName } from "../../model/ids.ts";
import type { ScaleEventRecord } from "../../model/records.ts";
import { allDone } from "../table/all-done.ts";
import type { Tables } from "../table/tables.ts";
import { eventsOfCluster } from "./cluster-events.ts";
import type { Stretch } from "./events.ts";

/** Events held while the fleet's are merged: many of a few clusters, so that a long export makes few requests, and few of many. Memory never grows with the stretch. */
const HELD = 2_000;
const PAGE_LEAST = 25;
const PAGE_MOST = 500;
const pageSizeOf = (clusters: number): number => Math.min(PAGE_MOST, Math.max(PAGE_LEAST, Math.floor(HELD / Math.max(1, clusters))));

interface Source {
  readonly rest: AsyncGenerator<ScaleEventRecord>;
  readonly next: ScaleEventRecord;
}

const sourceOf = async (rest: AsyncGenerator<ScaleEventRecord>): Promise<readonly Source[]> => {
  const { value, done } = await rest.next();
  return done ? [] : [{ rest, next: value }];
};

/** As the tables sort text, so that a list can go on after any event, in whatever language the machine speaks. */
const inOrder = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Scale events of many clusters as one stretch in order of time; events of one instant by cluster, then id. */
export async function* eventsOfFleet(tables: Tables, clusters: readonly ClusterName[], stretch: Stretch): AsyncGenerator<ScaleEventRecord> {
  const way = stretch.newestFirst ? -1 : 1;
  const order = (a: Source, b: Source): number =>
    way * (a.next.atMs - b.next.atMs) || inOrder(a.next.cluster, b.next.cluster) || inOrder(a.next.id, b.next.id);
  const pageSize = pageSizeOf(clusters.length);
  const opened = await allDone(clusters.map((cluster) => sourceOf(eventsOfCluster(tables, cluster, { ...stretch, pageSize }))));
  let sources = opened.flat().sort(order);
  for (let first = sources[0]; first; first = sources[0]) {
    yield first.next;
    sources = [...sources.slice(1), ...(await sourceOf(first.rest))].sort(order);
  }
}
