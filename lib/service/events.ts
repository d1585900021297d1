import { isTidemarkError } from "../model/errors.ts";
import { autoscalerName, namespace } from "../model/ids.ts";
import type { ClusterRecord, ScaleEventRecord } from "../model/records.ts";
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

/** Events under a name that no autoscaler has now: by its key where the namespace is known, else by looking through all. */
async function* ofDeleted(desk: Desk, asked: Asked, stretch: Stretch): AsyncGenerator<ScaleEventRecord> {
  const clusters: readonly ClusterRecord[] = await clustersNamed(desk, asked.cluster);
  if (asked.namespace === undefined) {
    for await (const event of ofAll(desk, asked, stretch)) if (event.name === asked.name) yield event;
    return;
  }
  for (const { name: cluster } of clusters) {
    yield* eventsOfAutoscaler(desk.tables, { cluster, namespace: namespace(asked.namespace), name: autoscalerName(asked.name) }, stretch);
  }
}
