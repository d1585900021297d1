import * as z from "zod";
import { eventOf } from "../../stack/store/history/events.ts";
import { EVENT_SK_PREFIX } from "../../stack/store/table/keys.ts";
import { eventView } from "../service/views/event-view.ts";
import { event, type EventView } from "../views/event.ts";
import { count, ref, text, type ViewOf } from "../views/view-of.ts";
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
    data: event.extend({ text: sentence, atMs }),
  })
  .describe("a scale: made, refused, of unknown outcome, or by another than Tidemark");
export type ScaleEvent = ViewOf<typeof scaleCloudEvent>;

export const scaleEventOf = (view: EventView): ScaleEvent => {
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
    data: { text: scaleEventSentence(view), atMs: Date.parse(view.at), ...view },
  };
};

/** A scale is stored twice: its copy of the day of its cluster is not another event. */
export const scaleKind: EventKind<ScaleEvent> = {
  kind: KIND,
  keys: [{ pk: "autoscaler#", sk: EVENT_SK_PREFIX }],
  read: async (item) => scaleEventOf(eventView(eventOf(item))),
};
