import type { ScaleReading } from "../model/observation.ts";
import type { Intent, ScaleEventRecord } from "../model/records.ts";
import { insertEvents } from "../store/events.ts";
import type { Acted } from "./act.ts";
import type { Loaded } from "./load.ts";
import type { SyncMessage } from "./message.ts";
import { settledLate } from "./open-intents.ts";
import type { SyncPorts } from "./ports.ts";
import { scaleEvent } from "./scale-event.ts";

/** A scale with the event that history holds of it, which an earlier holder may have stored. */
export interface SettledScale {
  readonly intent: Intent;
  readonly event: ScaleEventRecord;
}

export interface Settled {
  /** Scales of this sync that were clearly answered. */
  readonly own: readonly (SettledScale & { readonly acted: Acted })[];
  /** Scales of earlier syncs whose deadline is over. */
  readonly late: readonly SettledScale[];
  /** Intents that stay open. */
  readonly open: readonly Intent[];
}

/** One immutable event per intent that is settled, inserted before anything else is written. Throws when history cannot be written. */
export const settle = async (
  ports: SyncPorts,
  message: SyncMessage,
  now: { readonly loaded: Loaded; readonly late: ReadonlyMap<string, ScaleReading>; readonly acted: readonly Acted[] },
): Promise<Settled> => {
  const { nowMs, head } = now.loaded;
  const late = head.intents.flatMap((intent) => {
    const outcome = settledLate(intent, now.loaded, now.late);
    return outcome ? [{ intent, event: scaleEvent(message, intent, outcome, nowMs) }] : [];
  });
  const own = now.acted.flatMap((acted) => {
    const { intent, outcome, atMs } = acted;
    return outcome.kind === "open" ? [] : [{ acted, intent, event: scaleEvent(message, intent, outcome, atMs) }];
  });
  // History unwritable: this throws, the intents stay open, and their workloads hold until it can be written.
  const events = await insertEvents(
    ports.insert,
    [...late, ...own].map(({ event }) => event),
  );
  const counting = new Map(events.map((event) => [event.id, event]));
  const asStored = <Scale extends SettledScale>(scale: Scale): Scale => ({ ...scale, event: counting.get(scale.intent.id) ?? scale.event });
  const intents = [...head.intents, ...now.acted.map(({ intent }) => intent)];
  return { own: own.map(asStored), late: late.map(asStored), open: intents.filter(({ id }) => !counting.has(id)) };
};
