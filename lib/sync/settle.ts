import type { ScaleReading } from "../model/observation.ts";
import type { Intent, ScaleEventRecord, UncountedScale } from "../model/records.ts";
import { insertEvents, readEvent } from "../store/history/events.ts";
import { eachDone } from "../store/table/all-done.ts";
import type { Acted } from "./act.ts";
import type { Loaded } from "./load.ts";
import { pageOfUid } from "./load-pages.ts";
import type { SyncMessage } from "./message.ts";
import { settledLate } from "./open-intents.ts";
import type { SyncPorts } from "./ports.ts";
import { scaleEvent } from "./scale-event.ts";

/** A scale of this sync that was clearly answered, with the event that history holds of it. */
export interface OwnScale {
  readonly acted: Acted;
  readonly event: ScaleEventRecord;
}

/** A scale of an earlier sync that the windows of this one count. */
export interface LateScale {
  readonly scale: UncountedScale;
  /** Absent where its autoscaler is gone, and with it the way to its event. */
  readonly event?: ScaleEventRecord;
}

export interface Settled {
  readonly own: readonly OwnScale[];
  readonly late: readonly LateScale[];
  /** Intents that stay open. */
  readonly open: readonly Intent[];
  /** Settled scales that stay uncounted, because their page cannot be read. */
  readonly uncounted: readonly UncountedScale[];
}

/** What is left of an intent once its event is in history. */
export const uncountedOf = (
  { id, uid, from, to, decidedMs, recommendation }: Intent,
  { outcome, settledMs }: Pick<ScaleEventRecord, "outcome" | "settledMs">,
): UncountedScale => ({ id, uid, from, to, decidedMs, settledMs, outcome, ...(recommendation !== undefined && { recommendation }) });

/**
 * Settles what earlier syncs left: intents whose deadline is over get their event, and scales that have theirs are only counted. Comes before anything is written to the cluster.
 * Throws when history cannot be written.
 */
export const settleEarlier = async (
  ports: SyncPorts,
  message: SyncMessage,
  now: { readonly loaded: Loaded; readonly late: ReadonlyMap<string, ScaleReading> },
): Promise<Omit<Settled, "own">> => {
  const { nowMs, head } = now.loaded;
  const ended = head.intents.flatMap((intent) => {
    const outcome = settledLate(intent, now.loaded, now.late);
    return outcome ? [{ intent, event: scaleEvent(message, intent, outcome, nowMs) }] : [];
  });
  // History unwritable: this throws, the intents stay open, and their workloads hold until it can be written.
  const stored = await insertEvents(
    ports.insert,
    ended.map(({ event }) => event),
  );
  const counting = new Map(stored.map((event) => [event.id, event]));
  const late = ended.map(({ intent, event }) => {
    const counts = counting.get(intent.id) ?? event;
    return { scale: uncountedOf(intent, counts), event: counts };
  });
  const isCounted = ({ uid }: UncountedScale): boolean => pageOfUid(now.loaded, uid)?.kind !== "unreadable";
  return {
    late: [...late, ...(await withEvents(ports, now.loaded, head.uncounted.filter(isCounted)))],
    open: head.intents.filter(({ id }) => !counting.has(id)),
    uncounted: head.uncounted.filter((scale) => !isCounted(scale)),
  };
};

const PARALLEL = 16;

/** Scales with their events, so that the report of this sync tells of them: the one that made them died before it told. */
const withEvents = async (ports: SyncPorts, { specs }: Loaded, scales: readonly UncountedScale[]): Promise<readonly LateScale[]> => {
  const records = new Map(specs.all.flatMap((spec) => (spec.kind === "unreadable" ? [] : [[spec.record.uid as string, spec.record] as const])));
  return eachDone(scales, PARALLEL, async (scale) => {
    const record = records.get(scale.uid);
    const event = record && (await readEvent(ports.tables, record, { atMs: scale.decidedMs, id: scale.id }));
    return event ? { scale, event } : { scale };
  });
};
