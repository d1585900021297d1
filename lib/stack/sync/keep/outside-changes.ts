import { TidemarkError } from "../../../rules/model/errors.ts";
import { type AutoscalerUid, epochOfIntent, type WorkloadKey } from "../../../rules/model/ids.ts";
import type { SeenCount } from "../../../rules/model/windows.ts";
import { readHead } from "../../store/head/head.ts";
import { insertEvents } from "../../store/history/events.ts";
import { mustHaveRightClock } from "../../store/table/server-clock.ts";
import type { Tables } from "../../store/table/tables.ts";
import { entryOf, pageOfUid } from "../load/load-pages.ts";
import type { SyncMessage } from "../../plan/message.ts";
import { workloadKey } from "../load/open-intents.ts";
import { idOf, scalesUnderWay, seenCount, uidEnd, workloadOf } from "../observe/outside-scales.ts";
import { outsideEvent } from "../scale/scale-event.ts";
import type { SyncPorts } from "../sync-ports.ts";
import type { OutsideEventRecord, UncountedScale } from "../../../rules/model/scale-records.ts";
import type { Verdict, Loaded, OutsideScale, LateScale, Settled, Outside } from "../hand-over.ts";

/*
 *  page: 10 ── sync: reads 25 ── event 10 → 25 ✓ ── release ✗ (died)
 *                                   └──────── sync: reads 25 ── the same event again, under the time of the last completed sync, which is the same
 *
 *  page: 10 ── sync: reads 25, scales 25 → 20 ── release ✗ (died)
 *                     ├──────── sync: 25 → 20 is open, so the page keeps 10, and the time of the sync that left it
 *                     └──────── sync: settles 25 → 20 ── the event 10 → 25, under that time
 *
 *  sync A  claims 7 ── stands still ─────────────────────── reads 13 ── head: epoch 8, so no event
 *  sync B                    claims 8 ── scales 10 → 13
 */

/**
 * Inserts the event of each change from outside, once the head says that no other holder has
 * claimed since: what was read before may else be a scale of that holder. On doubt, look again:
 * where history cannot be written this throws, no page has the new count, and the next sync finds
 * the change again.
 */
export const storeOutside = async (
  ports: Pick<SyncPorts, "insert" | "tables">,
  message: SyncMessage,
  {
    loaded,
    verdicts,
    settled,
  }: { readonly loaded: Loaded; readonly verdicts: readonly Verdict[]; readonly settled: Settled },
): Promise<Outside> => {
  const late = new Map(settled.late.map((scale) => [scale.scale.uid, scale]));
  const beforeLate = new Map<AutoscalerUid, OutsideScale>();
  const found: OutsideEventRecord[] = [];
  for (const verdict of verdicts) {
    if (verdict.kind === "unevaluated") continue;
    const { uid } = verdict.autoscaler.record;
    const before = changeBeforeLate(loaded, verdict, late.get(uid));
    if (before) beforeLate.set(uid, before);
    const scale = verdict.outside ?? before;
    if (!scale) continue;
    const sinceMs = entryOf(loaded, uid)?.seen?.sinceMs ?? loaded.head.evaluatedMs;
    found.push(outsideEvent(message, verdict.autoscaler, scale, sinceMs));
  }
  if (found.length > 0) await mustHold(ports.tables, message, loaded.head.epoch);
  // After the readings, so that a step of the clock before them is found.
  if (found.length > 0)
    mustHaveRightClock(
      ports.tables,
      `tell what others did to the counts of "${message.cluster}/${message.partition}"`,
    );
  return { events: await insertEvents(ports.insert, found), beforeLate };
};

/** Throws `store.lease-lost` where another holder has claimed the partition. */
const mustHold = async (
  tables: Tables,
  { cluster, partition }: SyncMessage,
  epoch: number,
): Promise<void> => {
  const head = await readHead(tables, { cluster, partition });
  if (head?.epoch === epoch) return;
  throw new TidemarkError(
    "store.lease-lost",
    `Cannot tell what others did to the counts of "${cluster}/${partition}": epoch is ${head?.epoch}, not ${epoch}`,
    {
      cluster,
      partition,
      mine: epoch,
      found: head?.epoch,
    },
  );
};

/*
 *  page: 10 ── set to 11 ── sync: scales 11 → 13 ── release ✗ (died) ── sync: counts 11 → 13, and 10 → 11 before it
 */
const changeBeforeLate = (
  loaded: Loaded,
  { autoscaler, input, beside }: Exclude<Verdict, { kind: "unevaluated" }>,
  late: LateScale | undefined,
): OutsideScale | undefined => {
  if (!late) return undefined;
  const { uid } = autoscaler.record;
  const stored = entryOf(loaded, uid);
  const before = stored?.seen;
  if (
    !before ||
    before.of !== seenCount(input.observation.scale)?.of ||
    before.replicas === late.scale.from
  )
    return undefined;
  // The count on the page may have been read after the scale: its sync died after its page, or a
  // sync that was overtaken wrote it. On doubt, no event: none is invented, and the next change is
  // found again.
  if (
    !isReleased(loaded, uid) ||
    before.replicas === late.scale.to ||
    (stored.totals?.epoch ?? 0) >= epochOfIntent(late.scale.id)
  )
    return undefined;
  return {
    id: idOf(loaded, uid),
    from: before.replicas,
    to: late.scale.from,
    atMs: loaded.nowMs,
    beside: beside ?? false,
  };
};

/**
 * True of an autoscaler whose page a release has named: its count was read before any later sync
 * has scaled.
 */
const isReleased = (loaded: Loaded, uid: AutoscalerUid): boolean => {
  const page = pageOfUid(loaded, uid);
  return page !== undefined && page.epoch === loaded.head.pages[page.index];
};

type OwnScale = Pick<UncountedScale, "outcome" | "to">;

/**
 * The counts that this sync leaves, by autoscaler: as read, or as its own scales have set them.
 * While a scale of an earlier sync is open the count may be its own, so the one before stays.
 */
export const countsAfter = (
  loaded: Loaded,
  readings: Readings,
  { settled, outside }: { readonly settled: Settled; readonly outside: Outside },
): ((uid: AutoscalerUid, before: SeenCount | undefined) => SeenCount | undefined) => {
  const ownScaleOf = ownScales(loaded, readings, settled);
  const isUnderWay = scalesUnderWay(loaded);
  // The event of a sync that died may say less than there is by now: the next sync says the rest.
  const told = new Map(outside.events.map(({ uid, to }) => [uid, to]));
  const readNowOf = (uid: AutoscalerUid): SeenCount | undefined => {
    const verdict = readings.get(uid);
    return verdict && !isUnderWay(verdict.autoscaler)
      ? seenCount(verdict.input.observation.scale)
      : undefined;
  };
  return (uid, before) => {
    const readNow = readNowOf(uid);
    // Where nothing was compared, the count of an earlier sync stays.
    const read =
      readNow ?? (before && { ...before, sinceMs: before.sinceMs ?? loaded.head.evaluatedMs });
    if (!read) return undefined;
    const own = ownScaleOf(uid, read.of);
    if (own === "unknown") return readNow && withCount(readNow, told.get(uid));
    return own ? leftBy(own, read) : withCount(read, told.get(uid));
  };
};

type Readings = ReadonlyMap<AutoscalerUid, Exclude<Verdict, { kind: "unevaluated" }>>;

/** What was evaluated, by autoscaler. */
export const readingsOf = (verdicts: readonly Verdict[]): Readings => {
  const readings = new Map<AutoscalerUid, Exclude<Verdict, { kind: "unevaluated" }>>();
  for (const verdict of verdicts)
    if (verdict.kind !== "unevaluated") readings.set(verdict.autoscaler.record.uid, verdict);
  return readings;
};

/**
 * The newest scale of this stack that has set the count of an autoscaler's workload: its own, or
 * the scale of another autoscaler of the workload, which may be made in the sync that counts an
 * older one of this autoscaler. An autoscaler that was not evaluated is matched by the
 * object (`of`) that it was compared with. `unknown` where it may be any of the scales whose object
 * no reading names: of an evaluated autoscaler the workload decides.
 */
const ownScales = (
  loaded: Loaded,
  readings: Readings,
  { own, late }: Settled,
): ((uid: AutoscalerUid, of: string) => OwnScale | "unknown" | undefined) => {
  const made = [...late, ...own.map(({ event }) => ({ scale: event, event }))].filter(
    ({ scale }) => scale.outcome !== "refused",
  );
  if (made.length === 0) return () => undefined;
  const { scaled, byUid, byEnd, unnamed } = listed(loaded, readings, made);
  // Scales of one workload are made one after the other: late ones first, in their order.
  const order = new Map<OwnScale, number>(made.map(({ scale }, at) => [scale, at]));
  const newest = (one: OwnScale | undefined, other: OwnScale | undefined): OwnScale | undefined =>
    one && other && (order.get(one) ?? 0) > (order.get(other) ?? 0) ? one : (other ?? one);
  const isUnknown = (isEvaluated: boolean): boolean =>
    unnamed.workload > 0 || (unnamed.object > 0 && !isEvaluated);
  return (uid, of) => {
    const verdict = readings.get(uid);
    const object = objectOf(verdict);
    const sameObject = object === undefined ? byEnd.get(of) : byUid.get(object);
    const sameTarget = verdict && scaled.get(workloadOf(verdict.autoscaler));
    const found = [scaled.get(uid), sameTarget, sameObject, scaled.get(of)].reduce(newest);
    return found ?? (isUnknown(verdict !== undefined) ? "unknown" : undefined);
  };
};

interface Made {
  readonly scale: OwnScale & Pick<UncountedScale, "uid">;
  readonly event?: LateScale["event"];
}

const listed = (loaded: Loaded, readings: Readings, made: readonly Made[]) => {
  const scaled = new Map<AutoscalerUid | WorkloadKey | SeenCount["of"], OwnScale>();
  // Two objects of a partition may share the end of a uid that is kept, so that objects that are
  // both read are compared by the whole.
  const byUid = new Map<string, OwnScale>();
  const byEnd = new Map<SeenCount["of"], OwnScale>();
  // Of how many scales only the workload is known, and of how many not even that.
  const unnamed = { object: 0, workload: 0 };
  for (const { scale, event } of made) {
    const object = objectOf(readings.get(scale.uid));
    scaled.set(scale.uid, scale);
    if (event) scaled.set(workloadKey(event.namespace, event.target), scale);
    if (object !== undefined) {
      byUid.set(object, scale);
      byEnd.set(uidEnd(object), scale);
      continue;
    }
    const of = entryOf(loaded, scale.uid)?.seen?.of;
    if (of !== undefined) scaled.set(of, scale);
    else unnamed[event ? "object" : "workload"]++;
  }
  return { scaled, byUid, byEnd, unnamed };
};

/** The uid of the object that was read for an autoscaler. */
const objectOf = (
  verdict: Exclude<Verdict, { kind: "unevaluated" }> | undefined,
): string | undefined => {
  const scale = verdict?.input.observation.scale;
  return scale?.kind === "read" ? scale.uid : undefined;
};

/** What an unknown scale has left is not known: the next sync takes the count as it is. */
const leftBy = (own: OwnScale, { of }: SeenCount): SeenCount | undefined =>
  own.outcome === "applied" ? { replicas: own.to, of } : undefined;

const withCount = (read: SeenCount, replicas: number | undefined): SeenCount =>
  replicas === undefined ? read : { replicas, of: read.of };
