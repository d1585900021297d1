import type { ClusterClient } from "../../../lib/stack/cluster/cluster-client.ts";
import { eventBody, eventOf } from "../../../lib/stack/store/history/events.ts";
import type { HistoryItem } from "../../../lib/stack/store/history/item.ts";
import type { Invocation } from "../invocation.ts";
import { EVENT, isEventItem, ONE_EVENT, type PlantedBug } from "./planted.ts";
import { withClient } from "./ports.ts";

/**
 * A transport that sends a PUT again while the first copy may still be on its way, as after a
 * reset. What then answers may not be what took effect.
 */
const repeats: PlantedBug = {
  leftOut: '"never repeats a PUT"',
  seed: 12,
  caughtBy: [EVENT],
  ports: (ports) =>
    withClient(ports, (inner: ClusterClient) => ({
      ...inner,
      putScale: async (write, timeoutMs) => {
        const first = inner.putScale(write, timeoutMs);
        const second = await inner.putScale(write, timeoutMs);
        return second.kind === "unclear" ? first : second;
      },
    })),
};

const neverEnded: PlantedBug = {
  leftOut: "an end to a stalled process",
  seed: 52,
  caughtBy: [EVENT],
  platformEndsStalled: false,
};

/** Events carry the epoch of the sync that settles. */
const settlersEpoch: PlantedBug = {
  leftOut: "epoch of the intent in the event id",
  seed: 0,
  caughtBy: [ONE_EVENT],
  ports: (ports, by) => ({
    ...ports,
    insert: (items) => ports.insert(items.map((item) => renamed(item, by))),
  }),
};

const renamed = (item: HistoryItem, { epoch }: Invocation): HistoryItem => {
  if (!isEventItem(item)) return item;
  const event = eventOf(item);
  const id = `${event.id.slice(0, event.id.lastIndexOf(":"))}:${epoch}`;
  const key = { pk: item.pk, sk: item.sk.replace(event.id, id) };
  return { ...item, ...key, body: eventBody(key, { ...event, id }) };
};

/** A refusal is taken for one of every copy of the request: as if nothing had been sent. */
const believedRefusals: PlantedBug = {
  leftOut: "a look at the workload after a refusal",
  seed: 3,
  caughtBy: [EVENT],
  ports: (ports) =>
    withClient(ports, (inner: ClusterClient) => ({
      ...inner,
      putScale: async (write, timeoutMs) => {
        const answer = await inner.putScale(write, timeoutMs);
        return answer.kind === "refused" ? { ...answer, kind: "unsent" } : answer;
      },
    })),
};

export const CLUSTER_BUGS: readonly PlantedBug[] = [
  repeats,
  neverEnded,
  settlersEpoch,
  believedRefusals,
];
