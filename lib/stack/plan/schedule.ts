import type { FleetRecord } from "../../rules/model/records.ts";
import type { PlanIdle, PlanReport } from "../report/function-lines.ts";
import { type ClusterItem, getFleet, listClusters } from "../store/records/clusters.ts";
import { fleetPlaceOf, stampOf } from "../store/records/fleet-place.ts";
import { markPlanned, type PlanRecord, readPlan } from "../store/records/plan-records.ts";
import { comparedClock } from "../store/table/repeat.ts";
import type { FoundTables, Tables } from "../store/table/tables.ts";
import { freeFrom, holdFleet, type HoldPorts, type StampOf } from "./hold-fleet.ts";
import type { SyncMessage } from "./message.ts";
import { isJustChanged, minutesOfCall, mustBePresent, planCluster, type Tick } from "./plan.ts";
import { type MessageQueue, sendPlanned } from "./send-messages.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";

const minuteOf = (ms: number): number => Math.floor(ms / MINUTE_MS) * MINUTE_MS;

const PARALLEL = 8;
/** A call may come a minute late, and the call after it on time. */
const LATER_MARKS_MS = 2 * MINUTE_MS;

/** What plans: the tables, and the queue of syncs. */
export interface SchedulePorts extends HoldPorts {
  readonly queue: MessageQueue;
}

/** The clusters that a call read come with its report. */
type Planned = PlanReport & { readonly items: readonly ClusterItem[] };

/**
 * Plans the syncs of the call's own minute, and of the two minutes before it where a call failed or
 * never came, and sends each with the delay to its due time. So no repeat of a failed call is
 * needed: the next call does its work. What is due in the past is left out. A minute is marked
 * where all of it was sent, or nothing was due. Planning a minute twice is harmless, because a due
 * time is done once. A stack that does not hold the fleet plans nothing, and writes nothing.
 */
export const planSyncs = async (ports: SchedulePorts, tick: Tick): Promise<Planned> => {
  const { tables, queue } = ports;
  const [plan, fleet, found] = await Promise.all([
    readPlan(tables),
    getFleet(tables),
    tables.ids?.(),
  ]);
  const marks = plan.minutes;
  // By a clock that is minutes ahead every sync has passed: nothing is sent, and all looks planned.
  const clock = await comparedClock(tables, "plan");
  mustBePresent(tick, clock());
  const all = minutesOfCall(tick);
  const [, , ownMs] = all;
  const standing = await standingOf(ports, { plan, fleet, found }, { nowMs: clock(), ownMs });
  if (standing.idle) return notPlanned(ownMs, standing.idle);
  const missed = all.filter((minuteMs) => minuteMs !== ownMs && !marks.has(minuteMs));
  const { messages, unreadable, items } = await dueSyncs(
    tables,
    tick,
    [...missed, ownMs],
    standing,
  );
  const nowMs = clock();
  const ahead = messages.filter(({ dueMs }) => dueMs >= nowMs);
  const late = messages.filter(({ dueMs }) => dueMs >= ownMs && dueMs < nowMs);
  const sent = await sendPlanned({ queue, clock }, ahead, PARALLEL);
  // On doubt, not planned: what is still ahead of a minute is planned once more by the next call.
  const isWhole = (minuteMs: number): boolean =>
    sent === ahead.length &&
    !messages.some(({ dueMs }) => dueMs < nowMs && minuteOf(dueMs) === minuteMs);
  const whole = all.filter((minuteMs) => marks.has(minuteMs) || isWhole(minuteMs));
  // The marks of the calls that came after this one, where this one is late.
  const later = [...marks].filter(
    (minuteMs) => minuteMs > ownMs && minuteMs <= ownMs + LATER_MARKS_MS,
  );
  const planned = [...whole, ...later];
  if (planned.length > 0) await markPlanned(tables, planned, standing.held);
  return {
    fromMs: ownMs,
    untilMs: ownMs + MINUTE_MS,
    missed,
    clusters: items.length - unreadable.length,
    sent,
    skipped: late.length + ahead.length - sent,
    unreadable,
    items,
  };
};

/** What is due of every cluster in these minutes, and of one that was just changed in all. */
const dueSyncs = async (
  tables: Tables,
  tick: Tick,
  minutes: readonly number[],
  { stampAt }: { readonly stampAt: StampOf },
) => {
  const messages: SyncMessage[] = [];
  const unreadable: { name: string; message: string }[] = [];
  const items: ClusterItem[] = [];
  for await (const cluster of listClusters(tables)) {
    items.push(cluster);
    if (cluster.kind === "unreadable") {
      unreadable.push({ name: cluster.name, message: cluster.message });
      continue;
    }
    const wanted = isJustChanged(cluster.record, tick) ? minutesOfCall(tick) : minutes;
    for (const fromMs of wanted)
      for (const message of planCluster(cluster.record, { fromMs, untilMs: fromMs + MINUTE_MS }))
        messages.push({ ...message, ...stampAt(message.dueMs) });
  }
  return { messages, unreadable, items };
};

/** Whether this stack may plan, and what its messages carry. */
type Standing =
  | {
      readonly idle?: undefined;
      readonly stampAt: StampOf;
      readonly held?: Pick<PlanRecord, "heldUntilMs" | "leasedTerm">;
    }
  | { readonly idle: PlanIdle };

const standingOf = async (
  ports: HoldPorts,
  known: {
    readonly plan: PlanRecord;
    readonly fleet: FleetRecord;
    readonly found: FoundTables | undefined;
  },
  { nowMs, ownMs }: { readonly nowMs: number; readonly ownMs: number },
): Promise<Standing> => {
  const { plan, fleet, found } = known;
  const place = fleetPlaceOf(fleet, found);
  // Its syncs drop their messages and say so.
  if (place.kind === "copied") return { stampAt: () => ({}) };
  if (place.kind !== "here") return { idle: { ...place, silentMs: nowMs - freeFrom(plan) } };
  const stampAt = (dueMs: number) => stampOf(place, dueMs);
  if (!found || place.replicas.length === 0) return { stampAt };
  const times = { nowMs, untilMs: ownMs + MINUTE_MS };
  const holding = await holdFleet(ports, { fleet, found, plan }, times);
  return holding.kind === "holds" ? { stampAt, held: holding.held } : { idle: holding };
};

const notPlanned = (ownMs: number, idle: PlanIdle): Planned => ({
  fromMs: ownMs,
  untilMs: ownMs + MINUTE_MS,
  missed: [],
  clusters: 0,
  sent: 0,
  skipped: 0,
  unreadable: [],
  items: [],
  idle,
});
