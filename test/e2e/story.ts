import type { EventView } from "../../lib/answers/views/event.ts";

/**
 * Everything of the events but their ids: those name the epoch of the sync that stored the intent,
 * and a killed run has used up more of them.
 */
export const story = (events: readonly EventView[]): readonly Omit<EventView, "id">[] =>
  events.map(({ id: _, ...rest }) => rest);
