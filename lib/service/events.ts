import { isTidemarkError } from "../model/errors.ts";
import { autoscalerName, type ClusterName, namespace } from "../model/ids.ts";
import type { ScaleEventRecord } from "../model/records.ts";
import { listAutoscalers } from "../store/autoscalers.ts";
import { eventsOfAutoscaler, type Stretch } from "../store/events.ts";
import { eventsOfFleet } from "../store/fleet-events.ts";
import { eventView } from "./autoscaler-view.ts";
import type { Desk } from "./desk.ts";
import { clustersNamed, findAutoscaler, parts } from "./find.ts";
import type { Asked, EventQuery } from "./service.ts";
import type { EventView } from "./views.ts";

/** Scale events in order of time, page by page as they are taken. An autoscaler that is gone is still found by the events it left. */
export async function* events(desk: Desk, { name, sinceMs, ...filter }: EventQuery): AsyncGenerator<EventView> {
  const stretch: Stretch = { sinceMs: sinceMs ?? 0, untilMs: desk.clock() };
  const records = name === undefined ? ofAll(desk, filter, stretch) : ofOne(desk, { ...filter, name }, stretch);
  for await (const record of records) yield eventView(record);
}

async function* ofAll(desk: Desk, filter: Omit<EventQuery, "name" | "sinceMs">, stretch: Stretch): AsyncGenerator<ScaleEventRecord> {
  const clusters = await clustersNamed(desk, filter.cluster);
  const all = eventsOfFleet(
    desk.tables,
    clusters.map(({ name }) => name),
    stretch,
  );
  for await (const event of all) if (filter.namespace === undefined || event.namespace === filter.namespace) yield event;
}

async function* ofOne(desk: Desk, asked: Asked, stretch: Stretch): AsyncGenerator<ScaleEventRecord> {
  try {
    const { record } = await findAutoscaler(desk, asked);
    yield* eventsOfAutoscaler(desk.tables, record, stretch);
  } catch (error) {
    if (!isTidemarkError(error, "service.unknown")) throw error;
    let seen = false;
    for await (const event of ofDeleted(desk, parts(asked), stretch)) {
      seen = true;
      yield event;
    }
    if (!seen) throw error;
  }
}

/** Events under a name that no autoscaler has now, by their key: in the namespace that was given, else in each that has autoscalers. */
async function* ofDeleted(desk: Desk, asked: Asked, stretch: Stretch): AsyncGenerator<ScaleEventRecord> {
  for (const { name: cluster } of await clustersNamed(desk, asked.cluster)) {
    for (const inside of asked.namespace === undefined ? await namespacesIn(desk, cluster) : [asked.namespace]) {
      yield* eventsOfAutoscaler(desk.tables, { cluster, namespace: namespace(inside), name: autoscalerName(asked.name) }, stretch);
    }
  }
}

const namespacesIn = async (desk: Desk, cluster: ClusterName): Promise<ReadonlySet<string>> => {
  const names = new Set<string>();
  for await (const item of listAutoscalers(desk.tables, cluster)) names.add(item.kind === "read" ? item.record.namespace : item.namespace);
  return names;
};
