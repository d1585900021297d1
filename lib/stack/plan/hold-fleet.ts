import type { FleetRecord } from "../../rules/model/records.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";
import { getFleet } from "../store/records/clusters.ts";
import {
  MESSAGE_LIVES_MS,
  fleetPlaceOf,
  readPlace,
  stampOf,
  termOf,
} from "../store/records/fleet-place.ts";
import { type PlanRecord, readPlan, storePlan } from "../store/records/plan-records.ts";
import type { FoundTables, Tables } from "../store/table/tables.ts";
import { DEFAULT_TIMING, deadlineOf, type SyncMessage } from "./message.ts";

/*
 *  call 12:00   holds until 12:03 ── sends 12:02 ── marks 12:02
 *  call 12:01   holds until 12:04 ── …
 *                                    └─ ✗ no call for ten minutes
 *  call 12:11   held until 12:04, and a minute passed: may be taken ── asks the other regions ── holds until 12:14, resuming ── plans nothing
 *  call 12:12   asks the other regions once more ── plans
 *
 * A region that takes the fleet looks at the time until which it is held, before it begins and
 * before its last write. So it sees the first call, or the second call sees that it has taken it.
 */

/** Where no region answered, or a pause has only just ended, nothing is planned. */
export type Holding =
  | { readonly kind: "holds"; readonly heldUntilMs: number }
  | { readonly kind: "resuming" }
  | { readonly kind: "unanswered"; readonly region: string; readonly why: string }
  | { readonly kind: "taken"; readonly region: string };

/** Until then the holder of the fleet may send messages without a look at the other regions. */
const usableUntil = ({ heldUntilMs, minutes }: PlanRecord): number =>
  (heldUntilMs ?? Math.max(0, ...minutes) + MINUTE_MS) + MESSAGE_LIVES_MS;

/** True while the holder of the fleet may act without a look at the other regions. */
export const isUsable = (plan: PlanRecord, nowMs: number): boolean => nowMs < usableUntil(plan);

/** From then on nothing that the holder has sent can act, on any clock. */
export const freeFrom = (plan: PlanRecord): number => deadlineOf(usableUntil(plan), DEFAULT_TIMING);

/** From then on no sync acts that began before the fleet was given up. */
export const leftFrom = (leftMs: number): number => deadlineOf(leftMs, DEFAULT_TIMING);

/** What a message carries of the place in which it was sent. */
export type StampOf = (dueMs: number) => Pick<SyncMessage, "term" | "untilMs">;

/**
 * For messages that are sent beside the planner, as by a wake: they live no longer than what the
 * planner holds. Undefined where the fleet is in another region, or may be taken by one.
 */
export const stampBeside = async (tables: Tables): Promise<StampOf | undefined> => {
  if (!tables.ids) return () => ({});
  const place = await readPlace(tables);
  if (place.kind === "copied") return () => ({});
  if (place.kind !== "here") return undefined;
  if (place.replicas.length === 0) return (dueMs) => stampOf(place, dueMs);
  const lastMs = usableUntil(await readPlan(tables));
  if (tables.clock() >= lastMs) return undefined;
  return (dueMs) => ({
    ...stampOf(place, dueMs),
    untilMs: Math.min(lastMs, dueMs + MESSAGE_LIVES_MS),
  });
};

export interface HoldPorts {
  readonly tables: Tables;
  /** The state table of another region; absent where the process cannot reach any. */
  readonly elsewhere?: (region: string) => Tables;
}

interface Known {
  readonly fleet: FleetRecord;
  readonly found: FoundTables;
  readonly plan: PlanRecord;
}

/**
 * Takes or keeps the fleet until the end of the minute that is about to be planned. To be called
 * before the first message is sent.
 */
export const holdFleet = async (
  ports: HoldPorts,
  { fleet, found, plan }: Known,
  { nowMs, untilMs }: { readonly nowMs: number; readonly untilMs: number },
): Promise<Holding> => {
  const { minutes, heldUntilMs, resuming } = plan;
  const isNew = minutes.size === 0 && heldUntilMs === undefined;
  const movedMs = fleet.moved?.atMs ?? Number.NEGATIVE_INFINITY;
  const inTime = isNew || nowMs < usableUntil(plan) || nowMs < movedMs + RECENT_MOVE_MS;
  if (!inTime || resuming) {
    const others = await askOthers(ports, fleet, found);
    if (others) return others;
  }
  const next = { minutes, heldUntilMs: Math.max(untilMs, heldUntilMs ?? 0) };
  // Scheduler may make a call twice. The second look is a minute after the first.
  if (resuming && inTime && next.heldUntilMs === heldUntilMs) return { kind: "resuming" };
  await storePlan(ports.tables, inTime ? next : { ...next, resuming: true });
  return inTime ? { kind: "holds", heldUntilMs: next.heldUntilMs } : { kind: "resuming" };
};

/** Just after a move the marks are from the region before. */
const RECENT_MOVE_MS = 5 * MINUTE_MS;

/** On doubt, plan nothing: the fleet is here only where every other region says so. */
const askOthers = async (
  { elsewhere }: HoldPorts,
  fleet: FleetRecord,
  found: FoundTables,
): Promise<Holding | undefined> => {
  for (const region of found.replicas ?? []) {
    const record = await fleetIn(elsewhere?.(region));
    if (typeof record === "string") return { kind: "unanswered", region, why: record };
    const isTaken = fleetPlaceOf(record, found).kind !== "here" || termOf(record) > termOf(fleet);
    if (isTaken) return { kind: "taken", region };
  }
  return undefined;
};

/** The fleet record of another region, or why it is not known. */
const fleetIn = async (tables: Tables | undefined): Promise<FleetRecord | string> => {
  if (!tables) return "this process reaches no other region";
  try {
    return await getFleet(tables);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};
