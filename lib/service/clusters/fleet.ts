import { isDeepStrictEqual } from "node:util";
import { TidemarkError } from "../../model/errors.ts";
import type { FleetRecord } from "../../model/records.ts";
import { scopeChangesOf } from "../../store/history/scope-changes.ts";
import { getFleet, putFleet } from "../../store/records/clusters.ts";
import type { QueryContext, ServiceContext } from "../context.ts";
import { recordChange } from "../partitions/scope-change.ts";
import type { FleetEdited, FleetView } from "../views/autoscaler.ts";
import { frozenView } from "../views/autoscaler-of.ts";

/** Attempts of an edit while other editors win. */
const ATTEMPTS_MAX = 5;

const view = ({ frozen }: FleetRecord): FleetView => (frozen ? { frozen: frozenView(frozen) } : {});

export const fleet = async (context: QueryContext): Promise<FleetView> => view(await getFleet(context.tables));

type Change = (record: FleetRecord) => FleetRecord | undefined;

/**
 * True when another edit has read the fleet as `after`, in this version: then it was so, and it is not edited again. Without this look a thaw whose answer was lost undoes the freeze of
 * another person.
 */
const isBaseOfEdit = async (context: ServiceContext, after: FleetRecord, version: number): Promise<boolean> => {
  const wanted: unknown = JSON.parse(JSON.stringify(after));
  for await (const change of scopeChangesOf(context.tables, { scope: "fleet", name: "fleet" })) {
    if (change.version === version + 1 && isDeepStrictEqual(JSON.parse(change.before ?? "{}"), wanted)) return true;
  }
  return false;
};

/** Edits the fleet. Nothing is written when `change` returns undefined. */
const edit = async (context: ServiceContext, verb: "freeze" | "thaw", change: Change): Promise<FleetEdited> => {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const { version, ...before } = await getFleet(context.tables);
    const after = change(before);
    if (!after) return { ...view(before), changed: false };
    await recordChange(context, { scope: "fleet", name: "fleet", version: version + 1, verb, before, after });
    const { kind } = await putFleet(context.tables, after, version);
    if (kind === "stored" || (await isBaseOfEdit(context, after, version + 1))) return { ...view(after), changed: true };
  }
  throw new TidemarkError("service.conflict", "Cannot edit the fleet: others are editing it", {});
};

/**
 * The kill switch: from the next claim on, every sync holds. A frozen fleet keeps its first reason, because everyone in the incident reads it, and a
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
