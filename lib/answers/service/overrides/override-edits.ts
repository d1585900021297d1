import { present } from "../../../rules/model/json.ts";
import { mustAllow } from "../../../rules/model/access.ts";
import type { OverrideVerb } from "../../../rules/model/changes.ts";
import { isExpired, type Override } from "../../../rules/model/override.ts";
import type { AutoscalerRecord, ClusterRecord } from "../../../rules/model/records.ts";
import type { OverrideEdited } from "../../views/holds.ts";
import { editCluster } from "../clusters/edit-cluster.ts";
import { editFleet } from "../clusters/fleet.ts";
import type { ServiceContext } from "../context.ts";
import { editAutoscaler } from "../edits/autoscaler-edits.ts";
import { mustStay } from "../edits/removal.ts";
import { type OverridePlace, overrideSet, overrideView } from "../views/holds-view.ts";
import { rfc3339 } from "../times.ts";
import {
  effectOf,
  type OverrideEffect,
  endFaults,
  invalidOverride,
  overrideFaults,
  roomFault,
} from "./override-effect.ts";
import {
  autoscalerAt,
  findOverride,
  newOverrideId,
  placeOf,
  unknownOverride,
} from "./override-places.ts";
import type { NewOverride, OverrideEdit } from "../requests.ts";

/**
 * Sets an override: bounds or a hold, for some time, over schedule and manifest. With `dryRun` it
 * only says whom it meets. Throws `service.invalid` with every fault, `service.unknown`,
 * `service.ambiguous`, `service.no-grant`, `service.conflict`.
 */
export const setOverride = async (
  context: ServiceContext,
  wanted: NewOverride,
): Promise<OverrideEdited> => {
  const nowMs = context.clock();
  const faults = overrideFaults(wanted, nowMs);
  if (faults.length > 0) throw invalidOverride("set an override", faults);
  const place = await placeOf(context, wanted);
  mustEdit(context, place);
  const override = newOverride(context, place, wanted, nowMs);
  const effect = await effectOf(context, place, override);
  const edited = { override: overrideView(place, override, nowMs), ...effectView(effect) };
  if (wanted.dryRun) return { ...edited, changed: false };
  await editAt(context, place, "override", (stored) => {
    const others = stored.filter((other) => !isExpired(other, nowMs));
    const fault = roomFault(others, override.namespace);
    if (fault !== undefined)
      throw invalidOverride(`set an override of the ${place.scope}`, [fault]);
    return [...others, override];
  });
  return { ...edited, changed: true };
};

const newOverride = (
  { by, newUid }: ServiceContext,
  { scope, namespace }: OverridePlace,
  { hold, min, max, minFactor, fromMs, untilMs, reason, force }: NewOverride,
  nowMs: number,
): Override =>
  present({
    id: newOverrideId(scope, newUid()),
    namespace: scope === "namespace" ? namespace : undefined,
    set: overrideSet({ hold, min, max, minFactor }),
    fromMs: fromMs ?? nowMs,
    ...{ untilMs, reason, by, atMs: nowMs, force: force || undefined },
  });

const effectView = ({
  meets,
  more,
  warnings,
}: OverrideEffect): Pick<OverrideEdited, "meets" | "more" | "warnings"> =>
  present({ meets, more: more || undefined, warnings });

/**
 * Gives an override another end. Throws `service.unknown`, `service.invalid` for an end that has
 * passed or is too late, and for an override that has expired.
 */
export const extendOverride = async (
  context: ServiceContext,
  { id, cluster, untilMs }: OverrideEdit & { readonly untilMs: number },
): Promise<OverrideEdited> => {
  const { place, override } = await findOverride(context, id, cluster);
  mustEdit(context, place);
  const nowMs = context.clock();
  let after = override;
  const changed = await editAt(context, place, "extend", (stored) => {
    const before = stored.find((one) => one.id === id);
    if (!before) throw unknownOverride(id);
    const faults = isExpired(before, nowMs)
      ? [`it expired at ${rfc3339(before.untilMs ?? nowMs)}; set a new one`]
      : endFaults({ hold: before.set.hold === true, untilMs }, nowMs);
    if (faults.length > 0) throw invalidOverride(`extend override "${id}"`, faults);
    after = { ...before, untilMs };
    return before.untilMs === untilMs
      ? undefined
      : stored.map((one) => (one.id === id ? after : one));
  });
  return { override: overrideView(place, after, nowMs), changed, meets: [], warnings: [] };
};

/**
 * Ends an override now. One that has expired is as if it were not there: nothing changes. Throws
 * `service.unknown`.
 */
export const clearOverride = async (
  context: ServiceContext,
  { id, cluster }: OverrideEdit,
): Promise<OverrideEdited> => {
  const { place, override } = await findOverride(context, id, cluster);
  mustEdit(context, place);
  const nowMs = context.clock();
  const changed = await editAt(context, place, "clear", (stored) => {
    const before = stored.find((one) => one.id === id);
    if (!before) throw unknownOverride(id);
    return isExpired(before, nowMs) ? undefined : stored.filter((one) => one.id !== id);
  });
  return { override: overrideView(place, override, nowMs), changed, meets: [], warnings: [] };
};

const mustEdit = ({ rights }: ServiceContext, { cluster, namespace }: OverridePlace): void => {
  if (rights) mustAllow(rights, "edit", present({ cluster, namespace }));
};

type Change = (stored: readonly Override[]) => readonly Override[] | undefined;

interface Holder {
  readonly overrides?: readonly Override[];
}

/**
 * Changes the overrides of the item that belongs to the place. Returns false where nothing had to
 * change.
 */
const editAt = async (
  context: ServiceContext,
  place: OverridePlace,
  verb: OverrideVerb,
  change: Change,
): Promise<boolean> => {
  if (place.scope === "fleet")
    return (await editFleet(context, verb, (record) => changedIn(record, change))).changed;
  const ofAutoscaler = (record: AutoscalerRecord) => {
    const after = changedIn(record, change);
    return after && { verb, after };
  };
  if (place.scope === "autoscaler")
    return (await editAutoscaler(context, autoscalerAt(place), ofAutoscaler)).changed;
  const ofCluster = (record: ClusterRecord): ClusterRecord | undefined => {
    // An edit ends an unfinished removal. An override of a tenant must not.
    mustStay(record, "edit an override");
    return changedIn(record, change);
  };
  const { cluster = "", namespace } = place;
  return (await editCluster(context, cluster, present({ verb, namespace, change: ofCluster })))
    .changed;
};

const changedIn = <Item extends Holder>(item: Item, change: Change): Item | undefined => {
  const { overrides: stored = [], ...rest } = item;
  const overrides = change(stored);
  if (!overrides) return undefined;
  return (overrides.length === 0 ? rest : { ...rest, overrides }) as Item;
};
