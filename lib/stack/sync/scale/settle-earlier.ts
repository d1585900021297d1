import { insertEvents, readEvent } from "../../store/history/events.ts";
import { mapInTurns } from "../../turns/gate.ts";
import { pageOfUid } from "../load/load-pages.ts";
import type { SyncMessage } from "../../plan/message.ts";
import { lookedAt, settledLate } from "../load/open-intents.ts";
import { scaleEvent } from "./scale-event.ts";
import type { SyncPorts } from "../sync-ports.ts";
import type {
  Intent,
  ScaleEventRecord,
  UncountedScale,
} from "../../../rules/model/scale-records.ts";
import type { Loaded, LateReadings, Settled, LateScale } from "../hand-over.ts";

/** What the head keeps of an intent once its event is in history. */
export const uncountedOf = (
  { id, uid, from, to, decidedMs, recommendation, ruled }: Intent,
  { outcome, settledMs }: Pick<ScaleEventRecord, "outcome" | "settledMs">,
): UncountedScale => ({
  id,
  uid,
  from,
  to,
  decidedMs,
  settledMs,
  outcome,
  ...(recommendation !== undefined && { recommendation }),
  ...(ruled !== undefined && { ruled }),
});

/**
 * Settles what earlier syncs left: intents whose deadline has passed get their event, and scales
 * that have an event are only counted. It comes before the first write to the cluster. Throws when
 * history cannot be written.
 */
export const settleEarlier = async (
  ports: SyncPorts,
  message: SyncMessage,
  context: { readonly loaded: Loaded; readonly late: LateReadings },
): Promise<Omit<Settled, "own">> => {
  const { loaded } = context;
  const { nowMs, head } = loaded;
  const ended = head.intents.flatMap((intent) => {
    const outcome = settledLate(intent, loaded, context.late);
    return outcome ? [{ intent, event: scaleEvent(message, intent, outcome, nowMs) }] : [];
  });
  // On doubt, hold: when history cannot be written this throws, the intents stay open, and their
  // workloads hold until it can be written.
  const stored = await insertEvents(
    ports.insert,
    ended.map(({ event }) => event),
  );
  const events = new Map(stored.map((event) => [event.id, event]));
  const late = ended.map(({ intent, event: own }) => {
    const event = events.get(intent.id) ?? own;
    return { scale: uncountedOf(intent, event), event };
  });
  const isCounted = ({ uid }: UncountedScale): boolean =>
    pageOfUid(loaded, uid)?.kind !== "unreadable";
  return {
    late: [...late, ...(await withEvents(ports, loaded, head.uncounted.filter(isCounted)))],
    open: head.intents
      .filter(({ id }) => !events.has(id))
      .map((intent) => lookedAt(intent, nowMs, context.late)),
    uncounted: head.uncounted.filter((scale) => !isCounted(scale)),
  };
};

const PARALLEL = 16;

/**
 * The scales with their events. This sync reports them, because the sync that made them died before
 * its report.
 */
const withEvents = async (
  ports: SyncPorts,
  { specs }: Loaded,
  scales: readonly UncountedScale[],
): Promise<readonly LateScale[]> => {
  if (scales.length === 0) return [];
  const records = new Map(
    specs.all.flatMap((spec) =>
      spec.kind === "unreadable" ? [] : [[spec.record.uid, spec.record] as const],
    ),
  );
  return mapInTurns(
    scales,
    {
      places: PARALLEL,
      elapsed: ports.tables.clock,
      flowOf: ({ uid }) => records.get(uid)?.namespace ?? "",
    },
    async (scale) => {
      const record = records.get(scale.uid);
      const event =
        record && (await readEvent(ports.tables, record, { atMs: scale.decidedMs, id: scale.id }));
      return event ? { scale, event } : { scale };
    },
  );
};
