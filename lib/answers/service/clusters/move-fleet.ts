import type { TidemarkError } from "../../../rules/model/errors.ts";
import { foreignText } from "../../../rules/model/foreign-text.ts";
import { present } from "../../../rules/model/json.ts";
import type { FleetRecord } from "../../../rules/model/records.ts";
import { SECOND_MS } from "../../../rules/model/time-text.ts";
import { freeFrom, isUsable, leftFrom } from "../../../stack/plan/hold-fleet.ts";
import { isOfEarlierTerm } from "../../../stack/store/head/claim.ts";
import { readHead } from "../../../stack/store/head/head.ts";
import { getFleet, putFleet } from "../../../stack/store/records/clusters.ts";
import { type FleetPlace, fleetPlaceOf, termOf } from "../../../stack/store/records/fleet-place.ts";
import { readPlan } from "../../../stack/store/records/plan-records.ts";
import type { TakeReport } from "../../../stack/report/function-lines.ts";
import { comparedClock } from "../../../stack/store/table/repeat.ts";
import type { FoundTables, Tables } from "../../../stack/store/table/tables.ts";
import type { FleetMoved } from "../../views/cluster.ts";
import type { ServiceContext } from "../context.ts";
import { recordChange } from "../partitions/record-change.ts";
import { forgetPast } from "../partitions/reset-time.ts";
import { conflict, invalid } from "../refusals.ts";
import { rfc3339 } from "../times.ts";
import { claimByHand, claimByItself } from "./claim-fleet.ts";
import { adoptCluster, editedMeanwhile, idPart, readableClusters } from "./fleet.ts";

/*
 *  region A   fleet record names A ── holds minute by minute ─ ✗
 *  region B                                      move ✗ A may still act ─ ─ move: records, windows, epochs, terms ── A holds still? ── fleet record names B
 *                                                                                  └─ died ✗ the record still names A: nothing acts, and a repeat does all of it again
 *
 *  planned    A: move --to B ── fleet record: leaving ── B: move --to B, 39 s later
 */

const FLEET = { scope: "fleet", name: "fleet" } as const;
const MOVE = "move the fleet";

/** The tables of a stack that has, or could have, a standby. */
type Placed = FoundTables & { readonly region: string; readonly replicas: readonly string[] };

/**
 * In the region that has the fleet: gives it up for `to`. In the region `to`: takes it, once no
 * other stack can act any more, and without asking any other region. Repeating it completes a move
 * that died. Throws `service.invalid`, `service.conflict`, `service.unreadable`, `service.busy`.
 */
export const move = async (context: ServiceContext, to: string): Promise<FleetMoved> => {
  const found = withReplicas(await context.tables.ids?.());
  const { version, ...fleet } = await getFleet(context.tables);
  const place = fleetPlaceOf(fleet, found);
  const known = { found, fleet, version, place };
  if (to === found.region) {
    if (place.kind === "here" && isUsable(await readPlan(context.tables), context.clock()))
      return repair(context, known);
    return take(context, known, () => claimByHand(context, known));
  }
  if (!found.replicas.includes(to))
    throw invalid(
      `Cannot ${MOVE} to "${foreignText(to)}": the tables are in "${found.region}", and have replicas in ${found.replicas.map((name) => `"${name}"`).join(", ")}`,
    );
  return leave(context, known, to);
};

const withReplicas = (found: FoundTables | undefined): Placed => {
  const { region, replicas = [] } = found ?? {};
  if (found && region !== undefined && replicas.length > 0) return { ...found, region, replicas };
  throw conflict(
    `Cannot ${MOVE}: its tables have no replica in another region; docs/standby.md says how to add one, and \`tidemark fleet adopt\` goes on with restored copies`,
  );
};

interface Known {
  readonly found: Placed;
  readonly fleet: FleetRecord;
  readonly version: number;
  readonly place: FleetPlace;
}

/**
 * For the scheduler of a standby: takes the fleet where no stack has held it for as long as the
 * parameter of the stack says. Called each minute, so that a call that dies is completed by the
 * next one. Throws what `move` throws.
 */
export const moveByItself = async (asked: ServiceContext): Promise<TakeReport> => {
  const context = { ...asked, clock: await comparedClock(asked.tables, MOVE, asked.clock) };
  const found = await context.tables.ids?.();
  if (found?.region === undefined || !found.replicas) return { kind: "here" };
  const { version, ...fleet } = await getFleet(context.tables);
  const place = fleetPlaceOf(fleet, found);
  if (place.kind !== "standby" || place.region === undefined) return { kind: "here" };
  const known = { found: withReplicas(found), fleet, version, place };
  const claimed = await claimByItself(context, known);
  if (claimed.kind !== "claimed") return claimed;
  const claimAgain = async (): Promise<void> => {
    if ((await claimByItself(context, known)).kind !== "claimed")
      throw conflict(`Cannot ${MOVE} to "${found.region}": a lease was taken back`);
  };
  const { partitions, autoscalers } = await take(context, known, claimAgain);
  return { kind: "taken", from: place.region, partitions, autoscalers };
};

const NOTHING = { partitions: 0, autoscalers: 0 } as const;

const leave = async (
  context: ServiceContext,
  { found, fleet, version, place }: Known,
  to: string,
): Promise<FleetMoved> => {
  if (place.kind !== "here" && place.kind !== "leaving")
    throw conflict(
      `Cannot ${MOVE} to "${to}": it is not in "${found.region}"; run the same command on the stack in "${to}"`,
    );
  const leaving =
    fleet.leaving?.to === to ? fleet.leaving : { to, by: context.by, atMs: context.clock() };
  if (leaving !== fleet.leaving) await store(context, { fleet, version }, { ...fleet, leaving });
  return {
    ...{ kind: "left", region: to, from: found.region },
    takeAt: rfc3339(leftFrom(leaving.atMs)),
    ...NOTHING,
  };
};

const store = async (
  context: ServiceContext,
  { fleet: before, version }: Pick<Known, "fleet" | "version">,
  after: FleetRecord,
): Promise<void> => {
  await recordChange(context, { ...FLEET, version: version + 1, verb: "move", before, after });
  if ((await putFleet(context.tables, after, version)).kind === "conflict")
    throw editedMeanwhile(MOVE, "the fleet");
};

/**
 * Takes the fleet for these tables. `claim` claims the leases of the fleet, where the stack keeps
 * some, before anything is written, and once more before the last write.
 */
const take = async (
  context: ServiceContext,
  known: Known,
  claim: () => Promise<unknown>,
): Promise<FleetMoved> => {
  const { found, fleet, place } = known;
  await mustBeFree(context, known);
  await claim();
  const term = nextTerm(termOf(fleet), found);
  const { leaving: _left, ...kept } = fleet;
  const from = place.kind === "standby" ? place.region : undefined;
  const after: FleetRecord = {
    ...kept,
    tables: { state: found.state, history: found.history, region: found.region },
    moved: { term, ...present({ from }), by: context.by, atMs: context.clock() },
  };
  const clusters = await readableClusters(context.tables, MOVE);
  let autoscalers = 0;
  for (const cluster of clusters)
    autoscalers += await adoptCluster(context, cluster, {
      restoredAs: `m${term}-${idPart(found)}`,
      action: MOVE,
      newTerm: term,
    });
  // The holder may have begun to plan again since.
  await mustBeFree(context, known);
  await claim();
  await store(context, known, after);
  const partitions = clusters.reduce((sum, cluster) => sum + cluster.partitions.length, 0);
  return { kind: "taken", region: found.region, ...present({ from }), partitions, autoscalers };
};

/**
 * Waits for nothing: the message says from when on. The holder's own stack may always take up what
 * it held.
 */
const mustBeFree = async (
  { tables, clock }: ServiceContext,
  { fleet, found, place }: Known,
): Promise<void> => {
  if (place.kind === "here") return;
  const atMs = fleet.leaving ? leftFrom(fleet.leaving.atMs) : freeFrom(await readPlan(tables));
  const leftMs = atMs - clock();
  if (leftMs <= 0) return;
  const holder = place.kind === "standby" ? place.region : found.region;
  throw conflict(
    `Cannot ${MOVE} to "${found.region}": the stack in "${holder ?? "another region"}" may act until ${rfc3339(atMs)}; run it again in ${Math.ceil(leftMs / SECOND_MS)} s${fleet.leaving ? "" : ", or where that stack works, run it there first"}`,
    { freeAt: rfc3339(atMs) },
  );
};

/**
 * The next number that belongs to this region: two regions that take the fleet at once have two
 * terms, so that each refuses what the other has written.
 */
const nextTerm = (term: number, { region, replicas }: Placed): number => {
  const regions = [region, ...replicas].toSorted();
  const own = regions.indexOf(region);
  const base = term - (term % regions.length) + own;
  return base > term ? base : base + regions.length;
};

/** Partitions that a stack of an earlier term has written over go on with an unknown past. */
const repair = async (context: ServiceContext, { found, fleet, version }: Known) => {
  const term = termOf(fleet);
  let [partitions, autoscalers] = [0, 0];
  for (const cluster of await readableClusters(context.tables, MOVE))
    for (const { name: partition } of cluster.partitions) {
      const ref = { cluster: cluster.name, partition };
      const head = await readHead(context.tables, ref);
      if (!head || !isOfEarlierTerm(head, term)) continue;
      const action = `${MOVE} in partition "${cluster.name}/${partition}"`;
      autoscalers += await forgetPast(context, { cluster, ref }, action, term);
      partitions++;
    }
  const { region } = found;
  if (fleet.tables && fleet.tables.region === undefined)
    await store(context, { fleet, version }, { ...fleet, tables: { ...fleet.tables, region } });
  return { kind: partitions > 0 ? "repaired" : "here", region, partitions, autoscalers } as const;
};

/**
 * Refuses edits where the fleet is in another region, or may be taken by one: of two writes of one
 * item in two regions the later one replaces the whole item. Throws `service.conflict`.
 */
export const mustHoldFleet = async (tables: Tables, verb: string): Promise<void> => {
  if (!tables.ids) return;
  const [fleet, found] = await Promise.all([getFleet(tables), tables.ids()]);
  const place = fleetPlaceOf(fleet, found);
  if (place.kind === "here" && place.replicas.length > 0 && fleet.tables) {
    const plan = await readPlan(tables);
    if (isUsable(plan, tables.clock()) || plan.minutes.size === 0) return;
    throw notHeld(
      verb,
      "this stack has planned nothing for some time, and another region may have taken the fleet",
    );
  }
  if (place.kind === "standby")
    throw notHeld(
      verb,
      `the fleet is in "${place.region ?? "another region"}", and this is a standby`,
    );
  if (place.kind === "leaving")
    throw notHeld(verb, `this stack gave the fleet up for "${place.to}"`);
};

const notHeld = (verb: string, why: string): TidemarkError =>
  conflict(`Cannot do "${verb}" here: ${why}; \`tidemark fleet describe\` says where it is`);
