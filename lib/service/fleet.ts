import { TidemarkError } from "../model/errors.ts";
import type { FleetRecord } from "../model/records.ts";
import { getFleet, putFleet } from "../store/clusters.ts";
import { frozenView } from "./autoscaler-view.ts";
import type { Desk, ReadingDesk } from "./desk.ts";
import { tellChange } from "./scope-change.ts";
import type { FleetView } from "./views.ts";

/** Edits that others may make in between before ours gives up. */
const ATTEMPTS_MAX = 5;

const view = ({ frozen }: FleetRecord): FleetView => (frozen ? { frozen: frozenView(frozen) } : {});

export const fleet = async (desk: ReadingDesk): Promise<FleetView> => view(await getFleet(desk.tables));

const edit = async (desk: Desk, verb: "freeze" | "thaw", change: (record: FleetRecord) => FleetRecord): Promise<FleetView> => {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const { version, ...before } = await getFleet(desk.tables);
    const after = change(before);
    await tellChange(desk, { scope: "fleet", name: "fleet", version: version + 1, verb, before, after });
    if ((await putFleet(desk.tables, after, version)).kind === "stored") return view(after);
  }
  throw new TidemarkError("service.conflict", "Cannot edit the fleet: others are editing it", {});
};

/** The kill switch: from the next claim on, every sync holds and says so. */
export const freeze = (desk: Desk, reason: string): Promise<FleetView> =>
  edit(desk, "freeze", (record) => ({ ...record, frozen: { by: desk.by, atMs: desk.clock(), reason } }));

export const thaw = (desk: Desk): Promise<FleetView> => edit(desk, "thaw", ({ frozen: _over, ...record }) => record);
