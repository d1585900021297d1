import type { FleetRecord } from "../../../rules/model/records.ts";
import { MINUTE_MS } from "../../../rules/model/time-text.ts";
import { claimLeases, lookAtLeases } from "../../../stack/plan/fleet-leases.ts";
import type { Claimed } from "../../../stack/report/function-lines.ts";
import { endedFrom } from "../../../stack/plan/hold-fleet.ts";
import {
  type FleetLease,
  replicaPlace,
  witnessPlace,
} from "../../../stack/store/records/fleet-leases.ts";
import { type FleetPlace, termOf } from "../../../stack/store/records/fleet-place.ts";
import type { ServiceContext } from "../context.ts";
import { conflict } from "../refusals.ts";
import { rfc3339 } from "../times.ts";

/** The fleet that is wanted, and the region of the stack that wants it. */
export interface Wanted {
  readonly found: { readonly region: string };
  readonly fleet: FleetRecord;
  readonly place: FleetPlace;
}

/** A move takes less, and each call of the scheduler claims anew. */
const CLAIM_LIVES_MS = 5 * MINUTE_MS;

const claim = async (
  { tables, witness: witnessOf, clock }: ServiceContext,
  { found: { region }, fleet, place }: Wanted,
  { all, hasEnded }: { readonly all: boolean; readonly hasEnded: (lease: FleetLease) => boolean },
): Promise<Claimed> => {
  const witness = witnessOf?.();
  if (!witness) return { kind: "claimed" };
  const holder = place.kind === "standby" ? place.region : region;
  const looked = await lookAtLeases([
    replicaPlace(region, tables),
    witnessPlace(witness, tables.stateTable),
  ]);
  return claimLeases(
    looked,
    {
      ...{ region, term: termOf(fleet), holder: holder ?? "", hasEnded },
      untilMs: clock() + CLAIM_LIVES_MS,
    },
    all,
  );
};

/**
 * For a standby that moves the fleet by itself: both leases, each of which ended as long ago as the
 * parameter of the stack says.
 */
export const claimByItself = (context: ServiceContext, wanted: Wanted): Promise<Claimed> => {
  const { witness, clock } = context;
  const afterMs = witness?.()?.afterMs ?? 0;
  // On doubt, claim nothing.
  if (afterMs === 0) return Promise.resolve({ kind: "unkept", where: wanted.found.region });
  return claim(context, wanted, {
    all: true,
    hasEnded: ({ untilMs }) => untilMs + afterMs <= clock(),
  });
};

/**
 * For a person who moves the fleet: every lease that answers, once no stack acts by it. A lease
 * that does not answer is left: whether the other stack acts, the person has decided. Throws
 * `service.conflict`.
 */
export const claimByHand = async (context: ServiceContext, wanted: Wanted): Promise<void> => {
  const { fleet } = wanted;
  const claimed = await claim(context, wanted, {
    all: false,
    // A stack that gave the fleet up plans nothing; how long its syncs may act was waited for.
    hasEnded: ({ untilMs }) => fleet.leaving !== undefined || endedFrom(untilMs) <= context.clock(),
  });
  if (claimed.kind !== "claimed") throw notClaimed(wanted, claimed);
};

const notClaimed = (
  { found: { region: to } }: Wanted,
  claimed: Exclude<Claimed, { kind: "claimed" }>,
) => {
  if (claimed.kind !== "held")
    return conflict(
      `Cannot move the fleet to "${to}": its lease in "${claimed.where}" could not be claimed; run it again`,
    );
  const { where, region, untilMs } = claimed;
  return conflict(
    `Cannot move the fleet to "${to}": the stack in "${region}" holds a lease in "${where}", and may act until ${rfc3339(endedFrom(untilMs))}; where that stack works, run it there first`,
    { freeAt: rfc3339(endedFrom(untilMs)) },
  );
};
