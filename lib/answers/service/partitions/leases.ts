import { TidemarkError, isTidemarkError } from "../../../rules/model/errors.ts";
import { present } from "../../../rules/model/json.ts";
import type { PartitionName, PartitionRef } from "../../../rules/model/ids.ts";
import { type Claim, claim } from "../../../stack/store/head/claim.ts";
import { type Head, readHead, type Lease } from "../../../stack/store/head/head.ts";
import { giveBack } from "../../../stack/store/head/release.ts";
import { clockWords } from "../../../stack/store/table/server-clock.ts";
import { DEFAULT_TIMING } from "../../../stack/plan/message.ts";
import type { ServiceContext } from "../context.ts";
import type { ClusterRecord, AutoscalerRecord } from "../../../rules/model/records.ts";
import { adoptPages, decidedCluster } from "../../../stack/store/head/moving.ts";
import { deleteLeftovers, MOST_DELETED } from "../../../stack/store/pages/pages.ts";
import { deleteDerived } from "../../../stack/store/summary/summary-items.ts";
import type { Windows } from "../../../rules/model/windows.ts";
import { askDialect } from "../../../rules/policy/dialects.ts";
import { withUnknownPast } from "../../../rules/policy/unknown-past.ts";
import { eventsOfAutoscaler } from "../../../stack/store/history/events.ts";
import { getCluster, getFleet, type Partitions } from "../../../stack/store/records/clusters.ts";
import { termOf } from "../../../stack/store/records/fleet-place.ts";
import { readableSpec } from "../stored-spec.ts";
import type { FoundPartition } from "./partition-query.ts";
import { conflict } from "../refusals.ts";

export interface LeasedPartition {
  /** As the claim read it, without the pages that were deleted since. */
  head: Head;
  /** The newest write of the head; each write replaces it. */
  lease: Lease;
}

type Terms = Pick<Claim, "term" | "takesEarlierTerms">;

export type Leases = ReadonlyMap<PartitionName, LeasedPartition>;

/**
 * With the waits this is longer than an intent may stay open (39 s) and a sync of the default
 * period after it.
 */
const ATTEMPTS_MAX = 45;
const WAIT_MS = 2_000;
/** Later than every due time, so that this claim marks no message as done and none blocks it. */
const NO_DUE_MS = Number.MAX_SAFE_INTEGER;

/** Partitions of one cluster to lease. `action` completes the message "Cannot …". */
interface LeaseRequest {
  readonly action: string;
  readonly partitions: readonly PartitionRef[];
  /**
   * Partitions that must have no open intent, because an intent stays in the partition that counts
   * it.
   */
  readonly settled?: ReadonlySet<PartitionName>;
  /** The term of a move, which takes partitions of every earlier one. Absent: the fleet's. */
  readonly newTerm?: number;
}

/**
 * Runs `work` under the leases of partitions, and gives them back. `onLost` says what follows where
 * a lease ran out and others have claimed the partition. Throws `service.busy`.
 */
export const underLeases = async <Result>(
  context: ServiceContext,
  request: LeaseRequest,
  onLost: () => Result,
  work: (leases: Leases) => Promise<Result>,
): Promise<Result> => {
  const leases = await leaseAll(context, request);
  try {
    return await work(leases);
  } catch (error) {
    if (!isTidemarkError(error, "store.lease-lost")) throw error;
    return onLost();
  } finally {
    await giveAllBack(context, leases);
  }
};

/**
 * Leases partitions by the usual claim, all or none. It waits for syncs to end and intents to
 * settle. Throws `service.busy`.
 */
const leaseAll = async (
  context: ServiceContext,
  { action, partitions: wanted, settled = new Set(), newTerm }: LeaseRequest,
): Promise<Leases> => {
  const terms: Terms =
    newTerm === undefined
      ? { term: termOf(await getFleet(context.tables)) }
      : { term: newTerm, takesEarlierTerms: true };
  for (let attempt = 1; ; attempt++) {
    const outcome = await tryAll(context, wanted, settled, terms);
    if (typeof outcome !== "string") return outcome;
    if (attempt >= ATTEMPTS_MAX) {
      const [{ cluster } = { cluster: "" }] = wanted;
      throw new TidemarkError("service.busy", `Cannot ${action}: ${outcome}; try again later`, {
        cluster,
      });
    }
    await context.tables.wait(WAIT_MS);
  }
};

/** The leases, or the reason why they are not free now. */
const tryAll = async (
  context: ServiceContext,
  wanted: readonly PartitionRef[],
  settled: ReadonlySet<PartitionName>,
  terms: Terms,
): Promise<Leases | string> => {
  for (const ref of wanted) {
    const head = await readHead(context.tables, ref);
    // Checked before the claim, because every failed claim makes the next sync write all pages.
    if (head && settled.has(ref.partition) && openIn(head))
      return `partition "${ref.partition}" has an open intent`;
  }
  const leases = new Map<PartitionName, LeasedPartition>();
  const refusal = await claimEach(context, wanted, leases, terms);
  const open = [...leases].find(([partition, { head }]) => settled.has(partition) && openIn(head));
  if (refusal === undefined && !open) return leases;
  await giveAllBack(context, leases);
  return refusal ?? `partition "${open?.[0]}" has an open intent`;
};

/**
 * True for open and for uncounted scales: the next sync counts an uncounted scale in windows that
 * stay there.
 */
const openIn = ({ intents, uncounted, unreadable }: Head): boolean =>
  intents.length + uncounted.length + unreadable.length > 0;

const claimEach = async (
  context: ServiceContext,
  wanted: readonly PartitionRef[],
  leases: Map<PartitionName, LeasedPartition>,
  terms: Terms,
): Promise<string | undefined> => {
  for (const partition of wanted) {
    const clockMs = context.clock();
    const claimed = await claim(context.tables, {
      partition,
      dueMs: NO_DUE_MS,
      clockMs,
      leaseUntilMs: clockMs + DEFAULT_TIMING.leaseMs,
      ...terms,
    });
    if (claimed.kind === "clock")
      throw new TidemarkError(
        "store.clock-wrong",
        `Cannot lease partition "${partition.partition}": the clock of this machine is ${clockWords(claimed.wrongByMs)} the service's`,
        { wrongByMs: claimed.wrongByMs },
      );
    if (claimed.kind === "moved") return "the fleet has moved to another region";
    if (claimed.kind === "overwritten")
      return `another region has written over partition "${partition.partition}": run \`tidemark fleet move --to\` this region`;
    if (claimed.kind === "newer")
      return `partition "${partition.partition}" is in use by a later release`;
    if (claimed.kind !== "claimed") return `partition "${partition.partition}" is being synced`;
    const { head } = claimed;
    leases.set(partition.partition, {
      head,
      lease: { partition, epoch: head.epoch, writeNumber: head.writeNumber },
    });
  }
  return undefined;
};

/** Ends leases early. A lease that cannot be given back expires, and only delays the next syncs. */
const giveAllBack = async (context: ServiceContext, leases: Leases): Promise<void> => {
  await Promise.allSettled(
    [...leases.values()].map(({ lease }) => giveBack(context.tables, lease)),
  );
};

/**
 * The partitions of a cluster that have a head. One without was never claimed, so it never had
 * windows or an intent.
 */
export const everSynced = async (
  context: ServiceContext,
  { name, partitions }: Partitions,
): Promise<readonly PartitionRef[]> => {
  const refs = partitions.map((partition) => ({ cluster: name, partition: partition.name }));
  const heads = await Promise.all(refs.map((ref) => readHead(context.tables, ref)));
  return refs.filter((_, at) => heads[at] !== undefined);
};

/**
 * Runs `work` under the leases of these partitions of one cluster. `action` completes the message
 * "Cannot …". Throws `service.busy` when the leases are not free, or were lost.
 */
export const whileNoSyncs = <Result>(
  context: ServiceContext,
  action: string,
  partitions: readonly PartitionRef[],
  work: (leases: Leases) => Promise<Result>,
): Promise<Result> => {
  const tooLong = (): never => {
    const [{ cluster } = { cluster: "" }] = partitions;
    throw new TidemarkError(
      "service.busy",
      `Cannot ${action}: it took longer than its lease; try again`,
      { cluster },
    );
  };
  return underLeases(context, { action, partitions }, tooLong, work);
};

/*
 *  claim ── head names no pages of generation + 1 ── pages deleted ── give back
 *                                  └─ died ✗
 *         no head names the pages that are left, and the next sync or removal deletes them
 */

/**
 * Leaves a partition without windows, for a cluster that is removed or just added, or a partition
 * that was divided away. The head stays, so that its epochs never come again: they refuse the late
 * writes of earlier syncs. Throws `store.lease-lost`.
 */
export const emptyPages = async (
  { tables }: ServiceContext,
  leased: LeasedPartition,
): Promise<void> => {
  const { head, lease } = leased;
  const generation = head.pages.length > 0 ? head.pageGeneration + 1 : head.pageGeneration;
  // With a head that names no pages there may still be some that an earlier call did not come to
  // delete.
  if (head.pages.length > 0)
    leased.lease = await adoptPages(tables, lease, { generation, pages: [], nowMs: head.nowMs });
  leased.head = { ...head, pageGeneration: generation, pages: [] };
  await deleteDerived(tables, lease.partition);
  while (
    (await deleteLeftovers(
      tables,
      { partition: lease.partition, generation, count: 0 },
      lease.epoch,
    )) === MOST_DELETED
  );
};

/**
 * Runs `work` under a lease of a partition. The lease keeps syncs and edits away. The order is kept
 * by the writes of `work`, which are conditional on this epoch, as a sync's are. The lease is given
 * back as unclean, so the next sync reads everything consistently and writes it. Throws
 * `service.busy`, `service.conflict`.
 */
export const underLease = <Result>(
  context: ServiceContext,
  { cluster, ref }: FoundPartition,
  action: string,
  work: (leased: LeasedPartition, cluster: ClusterRecord) => Promise<Result>,
  newTerm?: number,
): Promise<Result> => {
  const changedMeanwhile = (): never => {
    throw conflict(
      `Cannot ${action}: another sync or edit changed the partition in the meantime; check it and try again`,
    );
  };
  const request = { action, partitions: [ref], ...present({ newTerm }) };
  return underLeases(context, request, changedMeanwhile, async (leases) => {
    const leased = leases.get(ref.partition);
    if (!leased) throw new TypeError(`partition "${ref.partition}" was not leased`);
    const now = await getCluster(context.tables, cluster.name);
    // An edit that lost its lease may still try to flip the cluster. This decides the move first,
    // as every sync does.
    const decided = now && (await decidedCluster(context.tables, now, leased.head));
    if (!decided?.partitions.some(({ name }) => name === ref.partition)) return changedMeanwhile();
    return work(leased, decided);
  });
};

/** The present, but never before a time that the partition has recorded. */
export const notBeforeMs = (context: ServiceContext, { head }: LeasedPartition): number =>
  Math.max(
    context.clock(),
    head.nowMs,
    head.evaluatedMs,
    ...head.intents.map(({ decidedMs }) => decidedMs),
    ...head.uncounted.map(({ settledMs }) => settledMs),
  );

/**
 * Windows as if the autoscaler had just been scaled as far as its rules allow. Without a readable
 * manifest the loosest rules count.
 */
export const withUnknownHistory = async (
  context: ServiceContext,
  windows: Windows,
  record: AutoscalerRecord | undefined,
  at: { readonly nowMs: number; readonly eventId: string },
): Promise<Windows> => {
  const spec = record && readableSpec(record);
  const mayRest =
    spec !== undefined && askDialect(spec, (dialect, own) => dialect.keeps(own).ownZero);
  return withUnknownPast(windows, {
    spec,
    ...at,
    restsAtZero: mayRest && record !== undefined && (await wentToZero(context, record)),
  });
};

/**
 * Number of newest events searched. The newest one that was not refused has the count of the
 * workload.
 */
const NEWEST_EVENTS = 10;

const wentToZero = async (context: ServiceContext, record: AutoscalerRecord): Promise<boolean> => {
  let seen = 0;
  const stretch = {
    sinceMs: 0,
    untilMs: context.clock(),
    newestFirst: true,
    pageSize: NEWEST_EVENTS,
  };
  for await (const { uid, outcome, to } of eventsOfAutoscaler(context.tables, record, stretch)) {
    // A zero that others have set is no rest of this autoscaler.
    if (uid === record.uid && outcome !== "refused") return to === 0 && outcome !== "outside";
    if (++seen === NEWEST_EVENTS) break;
  }
  return false;
};
