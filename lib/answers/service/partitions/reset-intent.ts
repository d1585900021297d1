import { TidemarkError } from "../../../rules/model/errors.ts";
import { type AutoscalerUid, uidOfIntent, type WorkloadKey } from "../../../rules/model/ids.ts";
import type { AutoscalerRecord } from "../../../rules/model/records.ts";
import { NEW_WINDOWS } from "../../../rules/model/windows.ts";
import { type Head, readHead } from "../../../stack/store/head/head.ts";
import type { UnreadableIntent } from "../../../stack/store/head/intent-codec.ts";
import { withdrawIntents } from "../../../stack/store/head/store-intents.ts";
import {
  eventsOfAutoscaler,
  insertEvents,
  insertKeptBytes,
} from "../../../stack/store/history/events.ts";
import { pageOf } from "../../../stack/store/pages/plan.ts";
import type { AutoscalerItem } from "../../../stack/store/records/autoscalers.ts";
import { autoscalersOf } from "../../../stack/store/records/clusters.ts";
import { workloadKey } from "../../../stack/sync/load/open-intents.ts";
import { type ScaleAttempt, scaleEvent } from "../../../stack/sync/scale/scale-event.ts";
import { withCounted } from "../../../stack/sync/load/stored-windows.ts";
import { DEFAULT_TIMING, deadlineOf } from "../../../stack/plan/message.ts";
import type { ResetView } from "../../views/cluster.ts";
import { readableSpec } from "../stored-spec.ts";
import type { ServiceContext } from "../context.ts";
import { type LeasedPartition, notBeforeMs, underLease, withUnknownHistory } from "./leases.ts";
import {
  type FoundPartition,
  findPartition,
  autoscalerPath,
  uidOfItem,
} from "./partition-query.ts";
import { type KeepEntries, readablePages, writePages } from "./readable-pages.ts";
import { recordReset } from "./record-change.ts";
import type { ScaleEventRecord, StoredWindows } from "../../../rules/model/scale-records.ts";
import { unknown } from "../refusals.ts";

/*
 *  seen in the head ── wait 39 s ── claim ── bytes, change, event "unknown" to history ── page@epoch ── intent removed from the head ── give back
 * │                                                                         └─ failed ✗
 *         it is still there: repeated, one event
 * its PUT was decided before this read, and can no longer take effect: the deadline inside cannot
 * be read
 */

/**
 * When an intent was seen in a head, its PUT can no longer take effect after this time, on any
 * clock.
 */
const WAIT_MS = deadlineOf(0, DEFAULT_TIMING);

/**
 * Settles an open intent that cannot be read as *unknown*: it writes an event where the autoscaler
 * is known, and windows as if the autoscaler had just been scaled as far as its rules allow. The
 * bytes stay in the history. It takes longer than the longest deadline. Throws `service.unknown`,
 * `service.readable`, `service.unreadable`, `service.busy`, `service.conflict`.
 */
export const resetIntent = async (
  context: ServiceContext,
  path: string,
  id: string,
): Promise<ResetView> => {
  const partition = await findPartition(context, path);
  const action = `reset intent "${id}" of "${partition.ref.cluster}/${partition.ref.partition}"`;
  mustBeUnreadable(await readHead(context.tables, partition.ref), id, action);
  await context.tables.wait(WAIT_MS);
  return underLease(context, partition, action, (leased, cluster) =>
    reset(
      context,
      leased,
      { ...partition, cluster },
      { lost: mustBeUnreadable(leased.head, id, action), action },
    ),
  );
};

const mustBeUnreadable = (head: Head | undefined, id: string, action: string): UnreadableIntent => {
  const unreadable = head?.unreadable.find((intent) => intent.id === id);
  if (unreadable) return unreadable;
  const readable = [...(head?.intents ?? []), ...(head?.uncounted ?? [])].some(
    (entry) => entry.id === id,
  );
  if (readable)
    throw new TidemarkError(
      "service.readable",
      `Cannot ${action}: it can be read, so the next sync settles it`,
      { id },
    );
  throw unknown(`Cannot ${action}: no open intent has this id; see tidemark partition describe`, {
    id,
  });
};

const reset = async (
  context: ServiceContext,
  leased: LeasedPartition,
  { cluster, ref }: FoundPartition,
  { lost, action }: { readonly lost: UnreadableIntent; readonly action: string },
): Promise<ResetView> => {
  const uid = uidOfIntent(lost.id);
  const items = await Array.fromAsync(autoscalersOf(context.tables, cluster, ref));
  const item = items.find((candidate) => uidOfItem(candidate) === uid);
  const record = item?.kind === "read" ? item.record : undefined;
  const nowMs = notBeforeMs(context, leased);
  const pages = await readablePages(context, ref, leased.head, (index) =>
    mustBeOther(leased.head, { uid, index, action }),
  );
  const kept = {
    ...(await insertKeptBytes(context.insert, {
      partition: ref,
      what: `intent#${lost.id}`,
      atMs: nowMs,
      bytes: lost.body,
    })),
    bytes: lost.body.length,
  };
  const autoscalers = item ? [autoscalerPath(item)] : [];
  const before = { intent: lost.id, problem: lost.message, kept };
  await recordReset(context, leased, { verb: "reset-intent", before, after: { autoscalers } });
  const own = pages.find(({ index }) => index === pageOf(uid, leased.head.pages.length));
  const entry = own?.entries.get(uid) ?? { uid, windows: NEW_WINDOWS, open: false };
  const event =
    record &&
    (await tellEvent(context, record, {
      lost,
      nowMs,
      ref,
      replicas: entry.windows.status.currentReplicas,
    }));
  const changed = new Map<string, StoredWindows>();
  if (item) {
    const windows = await withUnknownHistory(context, entry.windows, record, {
      nowMs,
      eventId: lost.id,
    });
    const totals = event ? withCounted(entry.totals, event) : entry.totals;
    const { seen: _seen, ...rest } = entry;
    changed.set(uid, { ...rest, windows, open: false, ...(totals && { totals }) });
  }
  await writePages(context, leased, pages, { changed, keep: withoutCountsOf(lost, items, record) });
  leased.lease = await withdrawIntents(context.tables, leased.lease, [lost.id]);
  return { cluster: ref.cluster, partition: ref.partition, autoscalers, kept };
};

/**
 * The page of the autoscaler itself must be readable. A page that cannot be read holds no count
 * that a sync would compare.
 */
const mustBeOther = (
  { pages }: Head,
  {
    uid,
    index,
    action,
  }: { readonly uid: AutoscalerUid; readonly index: number; readonly action: string },
): void => {
  if (pageOf(uid, pages.length) !== index) return;
  const words = `windows page ${index} of its autoscaler cannot be read; tidemark partition reset replaces the page first`;
  throw new TidemarkError("service.unreadable", `Cannot ${action}: ${words}`, { index });
};

/**
 * Leaves out the counts that the lost scale may have changed: nobody knows what it has left, so the
 * next sync takes them as they are, and reports no change from outside. These are the counts of the
 * autoscalers of its workload. On doubt, all: where neither the intent nor an autoscaler that was
 * never edited says which workload that is.
 */
const withoutCountsOf = (
  lost: UnreadableIntent,
  items: readonly AutoscalerItem[],
  record: AutoscalerRecord | undefined,
): KeepEntries => {
  const workload = lost.workload
    ? workloadKey(lost.workload.namespace, lost.workload.target)
    : record?.generation === 1
      ? workloadOf(record)
      : undefined;
  const others = new Set(
    items.flatMap((item) =>
      item.kind === "read" && (workloadOf(item.record) ?? workload) !== workload
        ? item.record.uid
        : [],
    ),
  );
  const isOther = (uid: AutoscalerUid): boolean => workload !== undefined && others.has(uid);
  return (entries) =>
    entries.map((entry) => {
      const { seen, ...rest } = entry;
      return seen === undefined || isOther(entry.uid) ? entry : rest;
    });
};

/** Absent where this release cannot read the manifest. */
const workloadOf = (record: AutoscalerRecord): WorkloadKey | undefined => {
  const spec = readableSpec(record);
  return spec && workloadKey(record.namespace, spec.target);
};

interface LostScale {
  readonly lost: UnreadableIntent;
  readonly nowMs: number;
  readonly ref: FoundPartition["ref"];
  readonly replicas: number;
}

/**
 * Inserts the event of the scale, unless its sync has already stored one, and returns the stored
 * one. Both counts are unknown: the event has the counts of the newest windows, and its message
 * says so. Without a readable manifest the workload is unknown, and only the change item records
 * the reset.
 */
const tellEvent = async (
  context: ServiceContext,
  record: AutoscalerRecord,
  { lost, nowMs, ref, replicas }: LostScale,
): Promise<ScaleEventRecord | undefined> => {
  const spec = readableSpec(record);
  if (!spec) return undefined;
  const attempt: ScaleAttempt = {
    id: lost.id,
    uid: record.uid,
    namespace: record.namespace,
    name: record.name,
    target: spec.target,
    decidedMs: nowMs,
    from: replicas,
    to: replicas,
    because: {
      reason: "UnreadableIntent",
      message: `the stored intent could not be read, so neither count is known: ${lost.message}`,
    },
    metrics: [],
    steps: [],
    specGeneration: record.generation,
  };
  const event = scaleEvent(
    ref,
    attempt,
    { kind: "unknown", message: `settled by ${context.by}` },
    nowMs,
  );
  // Inserted again where it exists: an editor that failed between the two items of an event left
  // only one.
  const [inserted] = await insertEvents(
    context.insert,
    [(await storedEvent(context, record, lost.id, nowMs)) ?? event],
    nowMs,
  );
  return inserted;
};

const storedEvent = async (
  context: ServiceContext,
  record: AutoscalerRecord,
  id: string,
  untilMs: number,
): Promise<ScaleEventRecord | undefined> => {
  for await (const event of eventsOfAutoscaler(context.tables, record, {
    sinceMs: 0,
    untilMs,
    newestFirst: true,
  }))
    if (event.id === id && event.outcome !== "outside") return event;
  return undefined;
};
