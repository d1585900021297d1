import type { CalendarVerb, OverrideVerb } from "../../../rules/model/changes.ts";
import { TidemarkError } from "../../../rules/model/errors.ts";
import { withoutExpired } from "../../../rules/model/override.ts";
import { present } from "../../../rules/model/json.ts";
import type {
  FleetMove,
  FleetRecord,
  ClusterRecord,
  TableIds,
} from "../../../rules/model/records.ts";
import {
  getFleet,
  putFleet,
  listClusters,
  putCluster,
} from "../../../stack/store/records/clusters.ts";
import type { FleetEdited, FleetView, FleetAdopted } from "../../views/cluster.ts";
import { type FleetPlace, fleetPlaceOf } from "../../../stack/store/records/fleet-place.ts";
import { rfc3339 } from "../times.ts";
import type { QueryContext, ServiceContext } from "../context.ts";
import { isBaseOfEdit, recordChange } from "../partitions/record-change.ts";
import { frozenView } from "../views/holds-view.ts";
import { markEdited } from "../../../stack/store/head/head.ts";
import { LOST_NUMBERS } from "../../../stack/store/head/repair-head.ts";
import {
  listAutoscalers,
  putAutoscaler,
  raiseSpecVersion,
} from "../../../stack/store/records/autoscalers.ts";
import type { Tables } from "../../../stack/store/table/tables.ts";
import { mapWithLimit } from "../../../stack/store/table/wait-for-all.ts";
import { forgetPast } from "../partitions/reset-time.ts";
import { conflict, invalid, untilStored } from "../refusals.ts";

const view = ({ frozen }: FleetRecord): FleetView => (frozen ? { frozen: frozenView(frozen) } : {});

export const fleet = async ({ tables }: QueryContext): Promise<FleetView> => {
  const [record, found] = await Promise.all([getFleet(tables), tables.ids?.()]);
  const place = fleetPlaceOf(record, found);
  return {
    ...view(record),
    ...(place.kind === "copied" && { restored: true as const }),
    ...(place.kind === "standby" && { standby: standbyView(place, record) }),
    ...(place.kind === "leaving" && { leaving: { to: place.to, at: rfc3339(place.atMs) } }),
    ...(record.moved && { moved: movedView(record.moved, record.tables) }),
  };
};

const movedView = (
  { from, by, atMs }: FleetMove,
  tables: TableIds | undefined,
): NonNullable<FleetView["moved"]> => present({ from, to: tables?.region, by, at: rfc3339(atMs) });

/** Where the fleet is, and since when. */
export const standbyView = (
  { region }: Extract<FleetPlace, { kind: "standby" }>,
  { moved }: FleetRecord,
): NonNullable<FleetView["standby"]> => present({ region, since: moved && rfc3339(moved.atMs) });

type Change = (record: FleetRecord) => FleetRecord | undefined;

const FLEET = { scope: "fleet", name: "fleet" } as const;

/**
 * Edits the fleet, and drops its expired overrides. Nothing is written when `change` returns
 * undefined.
 */
export const editFleet = (
  context: ServiceContext,
  verb: "freeze" | "thaw" | OverrideVerb | CalendarVerb,
  change: Change,
): Promise<{ readonly record: FleetRecord; readonly changed: boolean }> =>
  untilStored(
    () => conflict("Cannot edit the fleet: others are editing it"),
    async () => {
      const { version, ...before } = await getFleet(context.tables);
      const changed = change(before);
      if (!changed) return { record: before, changed: false };
      const after = withoutExpired(changed, context.clock());
      await recordChange(context, { ...FLEET, version: version + 1, verb, before, after });
      const { kind } = await putFleet(context.tables, after, version);
      const isStored =
        kind === "stored" ||
        (await isBaseOfEdit(context, FLEET, after, (next) => next === version + 2));
      return isStored ? { record: after, changed: true } : undefined;
    },
  );

const edit = async (
  context: ServiceContext,
  verb: "freeze" | "thaw",
  change: Change,
): Promise<FleetEdited> => {
  const { record, changed } = await editFleet(context, verb, change);
  return { ...view(record), changed };
};

/**
 * The kill switch: from the next claim on, every sync holds. A frozen fleet keeps its first reason,
 * because all people in the incident read it, and a second caller would hide it.
 */
export const freeze = async (
  context: ServiceContext,
  reason: string,
  replace = false,
): Promise<FleetEdited> => {
  if (reason.trim() === "")
    throw invalid(
      "Cannot freeze the fleet: the reason is empty; give the reason that people are to see",
    );
  return edit(context, "freeze", (record) =>
    record.frozen && !replace
      ? undefined
      : { ...record, frozen: { by: context.by, atMs: context.clock(), reason } },
  );
};

export const thaw = (context: ServiceContext): Promise<FleetEdited> =>
  edit(context, "thaw", ({ frozen: _over, ...record }) => record);

const RECORDS_AT_ONCE = 8;
const REASON = "restored tables were adopted: delete and pause again what came back, then thaw";

/*
 *  fleet record names tables A ── restored as B: every sync holds ── adopt: records, windows, epochs ── fleet record names B, frozen ── a person thaws
 *                                                                          └─ died ✗
 *         the record still names A: nothing acts, and a repeat does all of it again
 */

/**
 * Takes restored or copied tables as the tables of this stack. What happened after the instant of
 * the restore is unknown: every autoscaler goes on as if it had just been scaled as far as its
 * rules allow, and every number that the lost syncs and edits may have used is passed over. On
 * doubt, hold: the fleet is frozen afterwards, because a freeze, a pause or a deletion may be among
 * what is lost, and only a person knows of it. A freeze that is stored keeps its reason. Throws
 * `service.not-restored`, `service.unreadable`, `service.busy`, `service.conflict`.
 */
export const adopt = async (context: ServiceContext): Promise<FleetAdopted> => {
  const { tables } = context;
  const { version, ...before } = await getFleet(tables);
  const found = await tables.ids?.();
  const place = fleetPlaceOf(before, found);
  if (place.kind === "standby") throw isReplica(place.region);
  if (!found || place.kind !== "copied") throw notRestored();
  const clusters = await readableClusters(tables, ADOPT);
  const after: FleetRecord = {
    ...before,
    tables: recordedIds(found),
    restores: (before.restores ?? 0) + 1,
    frozen: before.frozen ?? { by: context.by, atMs: context.clock(), reason: REASON },
  };
  await recordChange(context, { ...FLEET, version: version + 1, verb: "adopt", before, after });
  const restoredAs = `r${after.restores}-${idPart(found)}`;
  let autoscalers = 0;
  for (const cluster of clusters)
    autoscalers += await adoptCluster(context, cluster, { restoredAs, action: ADOPT });
  const { kind } = await putFleet(tables, after, version);
  if (kind === "conflict") throw editedMeanwhile(ADOPT, "the fleet");
  return {
    ...(after.frozen && { frozen: frozenView(after.frozen) }),
    clusters: clusters.length,
    autoscalers,
  };
};

const ADOPT = "adopt the tables";

/** Every cluster. Throws `service.unreadable` where the record of one cannot be read. */
export const readableClusters = async (
  tables: Tables,
  action: string,
): Promise<readonly ClusterRecord[]> => {
  const clusters = await Array.fromAsync(listClusters(tables));
  return clusters.map((item) => {
    if (item.kind === "read") return item.record;
    const why = `the record of cluster "${item.name}" cannot be read: ${item.message}`;
    throw new TidemarkError("service.unreadable", `Cannot ${action}: ${why}`, {});
  });
};

const isReplica = (region = "another region"): TidemarkError =>
  conflict(
    `Cannot adopt the tables: they are a replica of tables whose fleet is in "${region}"; \`tidemark fleet move --to\` this region takes it when no other stack can act`,
  );

const notRestored = (): TidemarkError =>
  new TidemarkError(
    "service.not-restored",
    "Cannot adopt the tables: the fleet record names the same tables, so there is nothing to adopt",
    {},
  );

export const editedMeanwhile = (action: string, what: string): TidemarkError =>
  conflict(`Cannot ${action}: another person edited ${what} in the meantime; run it again`);

/** Replicas come and go; which tables the record is of stays. */
const recordedIds = ({ state, history, region }: TableIds): TableIds => ({
  ...{ state, history },
  ...present({ region }),
});

const ID_PART = 8;
/** Two stacks that adopt copies of one table get different names. */
export const idPart = ({ state }: TableIds): string =>
  state.replaceAll(/[^0-9a-z]/gi, "").slice(0, ID_PART);

interface Adoption {
  readonly restoredAs: string;
  /** Completes the message "Cannot …". */
  readonly action: string;
  /** The term of a move. */
  readonly newTerm?: number;
}

/**
 * Its records first, then the windows under the leases. Before the fleet record names the new
 * tables, no sync reads any of it.
 */
export const adoptCluster = async (
  context: ServiceContext,
  cluster: ClusterRecord,
  { restoredAs, action, newTerm }: Adoption,
): Promise<number> => {
  const { tables } = context;
  const raised = { ...cluster, restoredAs, version: cluster.version + LOST_NUMBERS };
  if ((await putCluster(tables, raised, cluster.version)).kind === "conflict")
    throw editedMeanwhile(action, `cluster "${cluster.name}"`);
  const items = await Array.fromAsync(listAutoscalers(tables, cluster.name));
  await mapWithLimit(items, RECORDS_AT_ONCE, async (item) => {
    // An item that cannot be read holds its autoscaler by itself.
    if (item.kind === "unreadable") return;
    const { record } = item;
    const stored = await putAutoscaler(
      tables,
      { ...record, generation: record.generation + LOST_NUMBERS },
      record.generation,
    );
    if (stored.kind === "conflict")
      throw editedMeanwhile(action, `autoscaler "${record.namespace}/${record.name}"`);
  });
  await markEdited(tables);
  let autoscalers = 0;
  for (const { name: partition } of cluster.partitions) {
    const ref = { cluster: cluster.name, partition };
    await raiseSpecVersion(tables, ref);
    autoscalers += await forgetPast(
      context,
      { cluster: raised, ref },
      `${action} in partition "${cluster.name}/${partition}"`,
      newTerm,
    );
  }
  return autoscalers;
};

/**
 * Writes into the fleet record which tables these are, where it does not say so yet: with the first
 * cluster, before anything can be scaled.
 */
export const rememberTables = async (tables: Tables): Promise<void> => {
  const found = await tables.ids?.();
  if (!found) return;
  const { version, ...record } = await getFleet(tables);
  if (record.tables) return;
  // A conflict is another edit of the fleet, or another first cluster: then this looks once more.
  if (
    (await putFleet(tables, { ...record, tables: recordedIds(found) }, version)).kind === "conflict"
  )
    await rememberTables(tables);
};
