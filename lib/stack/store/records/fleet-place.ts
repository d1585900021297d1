import { present } from "../../../rules/model/json.ts";
import type { FleetRecord } from "../../../rules/model/records.ts";
import { SECOND_MS } from "../../../rules/model/time-text.ts";
import { areRestored } from "../table/real-tables.ts";
import type { FoundTables, Tables } from "../table/tables.ts";
import { getFleet } from "./clusters.ts";

/*
 *  region A   planner ── marks 12:00 … 12:03 ✗ the region is down
 *             messages until 12:03, each usable for a minute after it is due
 *             └───────────── a sync that began at 12:04 has ended by 12:04:39 ──┤
 *  region B   fleet move ✗ refused until then ─────────────────────────────── fleet move ── plans
 *
 * The lease of the fleet is the record of the fleet, which names the tables that it lives in, and
 * the marks of planned minutes, which say until when the holder may act (docs/standby.md).
 */

/** Where the fleet lives, as seen from these tables. */
export type FleetPlace =
  /** `replicas`: other regions that could take it. */
  | { readonly kind: "here"; readonly term: number; readonly replicas: readonly string[] }
  /** It lived here, and is given up for another region. */
  | { readonly kind: "leaving"; readonly to: string; readonly atMs: number }
  /** These tables are a replica. `region` is absent where the record does not say which one. */
  | { readonly kind: "standby"; readonly region?: string }
  /** These tables were restored, or are a copy. */
  | { readonly kind: "copied" };

/** Tables without ids, as of an embedded run, always have their fleet. */
export const fleetPlaceOf = (fleet: FleetRecord, found: FoundTables | undefined): FleetPlace => {
  const { tables: recorded, leaving } = fleet;
  const replicas = found?.replicas ?? [];
  if (areRestored(recorded, found))
    return replicas.length > 0
      ? { kind: "standby", ...present({ region: recorded?.region }) }
      : { kind: "copied" };
  if (leaving) return { kind: "leaving", to: leaving.to, atMs: leaving.atMs };
  return { kind: "here", term: termOf(fleet), replicas };
};

export const termOf = ({ moved }: Pick<FleetRecord, "moved">): number => moved?.term ?? 0;

/** Reads where the fleet lives, strongly. */
export const readPlace = async (tables: Tables): Promise<FleetPlace> => {
  const [fleet, found] = await Promise.all([getFleet(tables), tables.ids?.()]);
  return fleetPlaceOf(fleet, found);
};

/**
 * A message of a fleet that another region may take is claimed so long after it is due at the
 * latest. A later one waits for nobody: the next is a period away.
 */
export const MESSAGE_LIVES_MS = 60 * SECOND_MS;

/** What a message carries of the place in which it was planned. */
export const stampOf = (
  place: Extract<FleetPlace, { kind: "here" }>,
  dueMs: number,
): { readonly term?: number; readonly untilMs?: number } => ({
  ...(place.term > 0 && { term: place.term }),
  ...(place.replicas.length > 0 && { untilMs: dueMs + MESSAGE_LIVES_MS }),
});
