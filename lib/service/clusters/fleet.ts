import type { CalendarVerb, OverrideVerb } from "../../model/changes.ts";
import { TidemarkError } from "../../model/errors.ts";
import { withoutExpired } from "../../model/override.ts";
import type { FleetRecord } from "../../model/records.ts";
import { getFleet, putFleet } from "../../store/records/clusters.ts";
import { areRestored } from "../../store/table/table-ids.ts";
import type { FleetEdited, FleetView } from "../../views/cluster.ts";
import type { QueryContext, ServiceContext } from "../context.ts";
import { isBaseOfEdit, recordChange } from "../partitions/record-change.ts";
import { frozenView } from "../views/autoscaler-view.ts";

/** Attempts of an edit while other editors win. */
const ATTEMPTS_MAX = 5;

const view = ({ frozen }: FleetRecord): FleetView => (frozen ? { frozen: frozenView(frozen) } : {});

export const fleet = async ({ tables }: QueryContext): Promise<FleetView> => {
  const [record, found] = await Promise.all([getFleet(tables), tables.ids?.()]);
  return { ...view(record), ...(areRestored(record.tables, found) && { restored: true as const }) };
};

type Change = (record: FleetRecord) => FleetRecord | undefined;

const FLEET = { scope: "fleet", name: "fleet" } as const;

/** Edits the fleet, and drops its expired overrides. Nothing is written when `change` returns undefined. */
export const editFleet = async (
  context: ServiceContext,
  verb: "freeze" | "thaw" | OverrideVerb | CalendarVerb,
  change: Change,
): Promise<{ readonly record: FleetRecord; readonly changed: boolean }> => {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const { version, ...before } = await getFleet(context.tables);
    const changed = change(before);
    if (!changed) return { record: before, changed: false };
    const after = withoutExpired(changed, context.clock());
    await recordChange(context, { ...FLEET, version: version + 1, verb, before, after });
    const { kind } = await putFleet(context.tables, after, version);
    if (kind === "stored" || (await isBaseOfEdit(context, FLEET, after, (next) => next === version + 2))) return { record: after, changed: true };
  }
  throw new TidemarkError("service.conflict", "Cannot edit the fleet: others are editing it", {});
};

const edit = async (context: ServiceContext, verb: "freeze" | "thaw", change: Change): Promise<FleetEdited> => {
  const { record, changed } = await editFleet(context, verb, change);
  return { ...view(record), changed };
};

/**
 * The kill switch: from the next claim on, every sync holds. A frozen fleet keeps its first reason, because all people in the incident read it, and a
 * second caller would hide it.
 */
export const freeze = async (context: ServiceContext, reason: string, replace = false): Promise<FleetEdited> => {
  if (reason.trim() === "")
    throw new TidemarkError("service.invalid", "Cannot freeze the fleet: the reason is empty; give the reason that people are to see", {});
  return edit(context, "freeze", (record) =>
    record.frozen && !replace ? undefined : { ...record, frozen: { by: context.by, atMs: context.clock(), reason } },
  );
};

export const thaw = (context: ServiceContext): Promise<FleetEdited> => edit(context, "thaw", ({ frozen: _over, ...record }) => record);
