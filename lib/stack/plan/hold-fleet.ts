import type { FleetRecord } from "../../rules/model/records.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";
import { present } from "../../rules/model/json.ts";
import { getFleet } from "../store/records/clusters.ts";
import { replicaPlace, type Witness, witnessPlace } from "../store/records/fleet-leases.ts";
import {
  MESSAGE_LIVES_MS,
  fleetPlaceOf,
  readPlace,
  stampOf,
  termOf,
} from "../store/records/fleet-place.ts";
import { type PlanRecord, readPlan, storePlan } from "../store/records/plan-records.ts";
import type { FoundTables, Tables } from "../store/table/tables.ts";
import {
  type Renewer,
  claimingRegion,
  type Covered,
  laterRegion,
  lookAtLeases,
  type Looked,
  renewLeases,
  withdrawLeases,
} from "./fleet-leases.ts";
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
  | { readonly kind: "holds"; readonly held: Pick<PlanRecord, "heldUntilMs" | "leasedTerm"> }
  | { readonly kind: "resuming" }
  /** The stack keeps leases, and could renew none of them. */
  | { readonly kind: "unleased"; readonly why: string }
  | { readonly kind: "unanswered"; readonly region: string; readonly why: string }
  | { readonly kind: "taken"; readonly region: string };

/** Until then the holder of the fleet may send messages without a look at the other regions. */
const usableUntil = ({ heldUntilMs, minutes }: PlanRecord): number =>
  (heldUntilMs ?? Math.max(0, ...minutes) + MINUTE_MS) + MESSAGE_LIVES_MS;

/** True while the holder of the fleet may act without a look at the other regions. */
export const isUsable = (plan: PlanRecord, nowMs: number): boolean => nowMs < usableUntil(plan);

/** From then on nothing that the holder has sent can act, on any clock. */
export const freeFrom = (plan: PlanRecord): number => deadlineOf(usableUntil(plan), DEFAULT_TIMING);

/** The same for what was planned by a lease of the fleet that ended then. */
export const endedFrom = (untilMs: number): number =>
  deadlineOf(untilMs + MESSAGE_LIVES_MS, DEFAULT_TIMING);

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
  /** Present where the stack keeps leases of the fleet in a third region (fleet-leases.ts). */
  readonly witness?: Witness;
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
  const leases = await leasesOf(ports, { fleet, found, plan });
  const elsewhere = await whereElse(ports, { fleet, found, plan }, leases, !inTime || resuming);
  if (elsewhere) return elsewhere;
  const kept = await keepLeases(ports, leases, { plan, term: termOf(fleet), untilMs });
  if (kept.kind === "uncovered") return { kind: "unleased", why: kept.why };
  const { leasedTerm } = kept;
  const held = {
    heldUntilMs: Math.max(untilMs, heldUntilMs ?? 0),
    ...present({ leasedTerm }),
  };
  const next = { minutes, ...held };
  // Scheduler may make a call twice. The second look is a minute after the first.
  if (resuming && inTime && next.heldUntilMs === heldUntilMs) return { kind: "resuming" };
  await storePlan(ports.tables, inTime ? next : { ...next, resuming: true });
  return inTime ? { kind: "holds", held } : { kind: "resuming" };
};

/** On doubt, as after a pause or where another stack has claimed a lease, ask the others. */
const whereElse = async (
  ports: HoldPorts,
  { fleet, found }: Known,
  leases: Leases | undefined,
  isDoubtful = false,
): Promise<Holding | undefined> => {
  if (!leases) return isDoubtful ? askOthers(ports, fleet, found) : undefined;
  const { looked, self } = leases;
  const later = laterRegion(looked, self);
  if (later !== undefined) return { kind: "taken", region: later };
  const isClaimed = claimingRegion(looked, self) !== undefined;
  return isDoubtful || isClaimed ? askOthers(ports, fleet, found) : undefined;
};

interface Leases {
  readonly witness: Witness;
  readonly self: Renewer;
  readonly looked: readonly Looked[];
}

/** What the leases of the fleet are now; undefined where the stack is to keep none. */
const leasesOf = async (
  { tables, elsewhere, witness }: HoldPorts,
  { fleet, found }: Known,
): Promise<Leases | undefined> => {
  const { region, replicas = [] } = found;
  if (!witness || !elsewhere || region === undefined) return undefined;
  const looked = await lookAtLeases([
    ...replicas.map((other) => replicaPlace(other, elsewhere(other))),
    witnessPlace(witness, tables.stateTable),
  ]);
  return { witness, self: { region, term: termOf(fleet) }, looked };
};

type Kept =
  | Exclude<Covered, { kind: "covered" }>
  | { readonly kind: "covered"; readonly leasedTerm?: number };

/**
 * Renews the leases, or withdraws them. On doubt, plan nothing: where a lease may have been written
 * in this term, one must be renewed until the end of the minute. Where no place has answered since
 * the fleet came here, no standby can claim a lease of this term, and the stack goes on without.
 */
const keepLeases = async (
  { tables }: HoldPorts,
  leases: Leases | undefined,
  {
    plan,
    term,
    untilMs,
  }: { readonly plan: PlanRecord; readonly term: number; readonly untilMs: number },
): Promise<Kept> => {
  const isLeased = plan.leasedTerm === term;
  if (!leases)
    return isLeased
      ? {
          kind: "uncovered",
          why: "the parameter witnessTable is missing, and leases were not withdrawn",
        }
      : { kind: "covered" };
  const { looked, self, witness } = leases;
  if (witness.afterMs === 0) {
    const withdrawn = await withdrawLeases(looked, self);
    return isLeased && withdrawn.kind === "uncovered" ? withdrawn : { kind: "covered" };
  }
  if (!isLeased) {
    if (looked.every(({ why }) => why !== undefined)) return { kind: "covered" };
    await storePlan(tables, { ...plan, leasedTerm: term });
  }
  const renewed = await renewLeases(looked, self, untilMs);
  return renewed.kind === "uncovered" ? renewed : { kind: "covered", leasedTerm: term };
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
