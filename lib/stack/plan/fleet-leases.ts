import type { Claimed } from "../report/function-lines.ts";
import {
  deleteLease,
  type FleetLease,
  type LeasePlace,
  readLease,
  writeLease,
} from "../store/records/fleet-leases.ts";

/*
 *  leases          in the region of the standby      in the witness, a third region
 *  the holder      plans a minute where one of both is renewed until its end
 *  the standby     takes the fleet where it has claimed both, long after both have ended
 *
 *  claimed one     ── the holder renews the other one ── takes the first one back
 *                  ── the standby claims the other one ✗ it has changed since it was read
 *  claimed both    ── the holder renews ✗ ✗
 *
 * So no moment has two stacks that may plan (docs/standby.md).
 */

/** The answer of the place of a lease: the lease, or why it is not known. */
export interface Looked {
  readonly place: LeasePlace;
  readonly lease?: FleetLease;
  readonly why?: string;
}

const whyOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Reads every lease at once. A place that does not answer says why. */
export const lookAtLeases = (places: readonly LeasePlace[]): Promise<readonly Looked[]> =>
  Promise.all(
    places.map(async (place): Promise<Looked> => {
      try {
        const lease = await readLease(place);
        return lease ? { place, lease } : { place };
      } catch (error) {
        return { place, why: whyOf(error) };
      }
    }),
  );

/** Who asks for the leases, in which term. */
export interface Renewer {
  readonly region: string;
  readonly term: number;
}

/** The region that has a lease of a later term: the fleet has moved. */
export const laterRegion = (looked: readonly Looked[], { term }: Renewer): string | undefined =>
  looked.find(({ lease }) => lease !== undefined && lease.term > term)?.lease?.region;

const isClaimed = ({ lease }: Looked, { region, term }: Renewer): boolean =>
  lease?.term === term && lease.region !== region;

/** The region that has claimed a lease of this term. */
export const claimingRegion = (looked: readonly Looked[], self: Renewer): string | undefined =>
  looked.find((one) => isClaimed(one, self))?.lease?.region;

const isOwn = ({ lease }: Looked, { region, term }: Renewer): boolean =>
  lease?.term === term && lease.region === region;

/** Undefined where it was written, or why not. */
const written = async (
  { place, lease }: Looked,
  next: Omit<FleetLease, "version">,
): Promise<string | undefined> => {
  try {
    const isWritten = await writeLease(place, next, lease);
    return isWritten ? undefined : CHANGED;
  } catch (error) {
    return whyOf(error);
  }
};

/** Whether a minute may be planned, or why not. */
export type Covered =
  | { readonly kind: "covered" }
  | { readonly kind: "uncovered"; readonly why: string };

type Failed = readonly [LeasePlace, string];

/** A standby claims the lease of its own region and that of the witness: without one of them, none. */
const coveredWithout = (failed: readonly Failed[]): Covered => {
  const hasFailed = (isWitness: boolean): boolean =>
    failed.some(([place]) => place.isWitness === isWitness);
  return hasFailed(true) && hasFailed(false)
    ? {
        kind: "uncovered",
        why: failed.map(([{ where }, why]) => `${where}: ${why}`).join("; "),
      }
    : { kind: "covered" };
};

const CHANGED = "another call has written the lease in the meantime";
const claimedBy = ({ place, lease }: Looked): Failed => [
  place,
  `the stack in ${lease?.region} has claimed it`,
];

/**
 * Renews what the holder of the fleet has, and takes what no stack has in this term. A lease that a
 * standby has claimed alone is taken back, once another one is renewed: that one is then no more as
 * the standby has read it. The caller has made sure that this standby has not taken the fleet.
 */
export const renewLeases = async (
  looked: readonly Looked[],
  self: Renewer,
  untilMs: number,
): Promise<Covered> => {
  const claimed = looked.filter((one) => isClaimed(one, self));
  // A call that comes late takes nothing away from the calls after it.
  const next = ({ lease }: Looked) => ({
    ...self,
    untilMs: Math.max(untilMs, lease?.region === self.region ? lease.untilMs : 0),
  });
  const renew = async (one: Looked): Promise<Failed | undefined> => {
    const why = one.why ?? (await written(one, next(one)));
    return why === undefined ? undefined : [one.place, why];
  };
  const kept = looked.filter((one) => !claimed.includes(one));
  const failed = (await Promise.all(kept.map(renew))).filter((why) => why !== undefined);
  const hasOne = failed.length < kept.length;
  for (const one of claimed) {
    const why = hasOne ? await renew(one) : claimedBy(one);
    if (why) failed.push(why);
  }
  return coveredWithout(failed);
};

/**
 * Gives the leases back where the parameter says that the standby does not take the fleet. One that
 * is withdrawn is enough: a standby claims both.
 */
export const withdrawLeases = async (
  looked: readonly Looked[],
  self: Renewer,
): Promise<Covered> => {
  const withdraw = async (one: Looked): Promise<Failed | undefined> => {
    const { place, lease, why } = one;
    if (why !== undefined) return [place, why];
    if (lease === undefined || lease.term < self.term) return undefined;
    if (!isOwn(one, self)) return claimedBy(one);
    try {
      return (await deleteLease(place, lease)) ? undefined : [place, CHANGED];
    } catch (error) {
      return [place, whyOf(error)];
    }
  };
  const failed = await Promise.all(looked.map(withdraw));
  return coveredWithout(failed.filter((why) => why !== undefined));
};

/** What a region that wants the fleet knows of the stack that has it. */
export interface FleetClaim extends Renewer {
  /** The region that has the fleet. */
  readonly holder: string;
  /** True where the holder plans nothing by this lease, on any clock. */
  readonly hasEnded: (lease: FleetLease) => boolean;
  /** A claim is left alone by other claims until then. */
  readonly untilMs: number;
}

const mayClaim = (lease: FleetLease, claim: FleetClaim, all: boolean): boolean => {
  if (lease.term !== claim.term) return false;
  if (lease.region === claim.region) return true;
  return (!all || lease.region === claim.holder) && claim.hasEnded(lease);
};

/** Why a lease is not claimed; undefined also where a person need not have it. */
const refusalOf = (
  { place: { where }, lease, why }: Looked,
  claim: FleetClaim,
  all: boolean,
): Claimed | undefined => {
  if (lease !== undefined && lease.term >= claim.term)
    return mayClaim(lease, claim, all)
      ? undefined
      : { kind: "held", where, region: lease.region, untilMs: lease.untilMs };
  if (!all) return undefined;
  return why === undefined ? { kind: "unkept", where } : { kind: "unanswered", where, why };
};

/**
 * Claims the lease of the own region and that of the witness, in this order. With `all`, both or
 * nothing: a place that does not answer, or has no lease of this term, ends it. Otherwise a person
 * has decided, and only a lease that is held ends it.
 */
export const claimLeases = async (
  looked: readonly Looked[],
  claim: FleetClaim,
  all: boolean,
): Promise<Claimed> => {
  const refusal = looked.map((one) => refusalOf(one, claim, all)).find((why) => why !== undefined);
  if (refusal) return refusal;
  const wanted = looked.filter(({ lease }) => lease?.term === claim.term);
  const { region, term, untilMs } = claim;
  for (const one of wanted) {
    const why = await written(one, { region, term, untilMs });
    if (why !== undefined) return { kind: "unanswered", where: one.place.where, why };
  }
  return { kind: "claimed" };
};
