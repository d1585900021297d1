import * as z from "zod";
import { eventOf } from "../../stack/store/history/events.ts";
import { EVENT_SK_PREFIX } from "../../stack/store/table/keys.ts";
import { eventView } from "../service/views/event-view.ts";
import { event, type EventView } from "../views/event.ts";
import { count, only, ref, text, type ViewOf } from "../views/view-of.ts";
import { scaleEventSentence } from "../words/event-words.ts";
import { atMs, ENVELOPE, envelopeOf, sentence, typeOf } from "./envelope.ts";
import type { EventKind } from "./event-kind.ts";

const KIND = "scale";

export const scaleCloudEvent = z
  .object({
    ...ENVELOPE,
    ...ref,
    type: z.literal(typeOf(KIND)),
    kind: z.literal(KIND),
    reason: text.describe("docs/reasons.md has all of them"),
    outcome: event.shape.outcome,
    direction: z.enum(["up", "down", "none"]),
    step: count.describe("how many replicas it adds or removes"),
    storm: only
      .describe("present where a `storm` counts it: what goes to people leaves it out")
      .exactOptional(),
    data: event.extend({
      text: sentence,
      atMs,
      labels: z
        .record(z.string(), text)
        .describe("of the autoscaler when the event was sent; absent where it has none")
        .exactOptional(),
    }),
  })
  .describe("a scale: made, refused, of unknown outcome, or by another than Tidemark");
export type ScaleEvent = ViewOf<typeof scaleCloudEvent>;

/** What an event on its way says beside the stored one. */
export interface ScaleBesides {
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly inStorm?: boolean;
}

export const scaleEventOf = (
  view: EventView,
  { labels, inStorm = false }: ScaleBesides = {},
): ScaleEvent => {
  const { cluster, namespace, name, from, to } = view;
  return {
    ...envelopeOf(KIND, view, { id: view.id, time: view.at }),
    cluster,
    namespace,
    name,
    reason: view.reason,
    outcome: view.outcome,
    direction: to > from ? "up" : to < from ? "down" : "none",
    step: Math.abs(to - from),
    ...(inStorm && { storm: true }),
    data: {
      ...{ text: scaleEventSentence(view), atMs: Date.parse(view.at), ...view },
      ...(labels && { labels }),
    },
  };
};

/** A scale is stored twice: its copy of the day of its cluster is not another event. */
export const scaleKind: EventKind<ScaleEvent> = {
  kind: KIND,
  keys: [{ pk: "autoscaler#", sk: EVENT_SK_PREFIX }],
  read: async (item, beside) => {
    const record = eventOf(item);
    const labels = await beside.labels(record);
    return scaleEventOf(eventView(record), { labels, inStorm: await beside.inStorm(record) });
  },
};
