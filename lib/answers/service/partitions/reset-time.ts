import { TidemarkError } from "../../../rules/model/errors.ts";
import type { PartitionRef } from "../../../rules/model/ids.ts";
import { NEW_WINDOWS } from "../../../rules/model/windows.ts";
import { type Head, readHead } from "../../../stack/store/head/head.ts";
import { lowerTimes, raiseEpoch } from "../../../stack/store/head/repair-head.ts";
import { withdrawIntents } from "../../../stack/store/head/store-intents.ts";
import { insertEvents } from "../../../stack/store/history/events.ts";
import { autoscalersOf } from "../../../stack/store/records/clusters.ts";
import { scaleEvent } from "../../../stack/sync/scale/scale-event.ts";
import { DEFAULT_TIMING, deadlineOf } from "../../../stack/plan/message.ts";
import type { ResetView } from "../../views/cluster.ts";
import type { ServiceContext } from "../context.ts";
import { rfc3339 } from "../times.ts";
import { type LeasedPartition, underLease, withUnknownHistory, notBeforeMs } from "./leases.ts";
import {
  type FoundPartition,
  findPartition,
  autoscalerPath,
  uidOfItem,
  headAheadMs,
  latestMs,
  newestTimeOf,
  scaledUntil,
} from "./partition-query.ts";
import { type ReadablePage, readablePages, writePages } from "./readable-pages.ts";
import { recordReset } from "./record-change.ts";
import type { Intent, StoredWindows, UncountedScale } from "../../../rules/model/scale-records.ts";
import type { ClusterRecord } from "../../../rules/model/records.ts";

/*
 *  head, pages, intents ahead ── wait 39 s if an intent is ── claim ── change, events "unknown" ── pages@epoch ── intents out ── times of the head lowered ── give back
 *                                                                                                                   └─ died ✗   the head is still ahead: done again
 */

/**
 * The PUT of an intent has ended when this has passed since it was seen, whatever time it carries.
 */
const WAIT_MS = deadlineOf(0, DEFAULT_TIMING);

/**
 * Repairs a partition with times that have not come: a clock that was ahead wrote them, and windows
 * stand still until they have. Autoscalers whose windows have such a time go on as if each had just
 * been scaled as far as its rules allow; the others keep theirs. Throws `service.in-time`,
 * `service.unknown`, `service.unreadable`, `service.busy`, `service.conflict`.
 */
export const resetTime = async (context: ServiceContext, path: string): Promise<ResetView> => {
  const partition = await findPartition(context, path);
  const action = `reset the time of "${partition.ref.cluster}/${partition.ref.partition}"`;
  const seen = await mustBeAhead(context, partition.ref, {
    head: await readHead(context.tables, partition.ref),
    action,
  });
  if (seen.intents.length > 0) await context.tables.wait(WAIT_MS);
  return underLease(context, partition, action, async (leased, cluster) => {
    const ahead = await mustBeAhead(context, partition.ref, { head: leased.head, action });
    return reset(context, leased, { ...partition, cluster }, ahead);
  });
};

/** What of a partition is ahead of the clock. */
interface Ahead {
  readonly pages: readonly ReadablePage[];
  readonly intents: readonly Intent[];
  readonly uncounted: readonly UncountedScale[];
  /** Autoscalers whose windows cannot be trusted. */
  readonly uids: ReadonlySet<string>;
}

const mustBeAhead = async (
  context: ServiceContext,
  ref: PartitionRef,
  { head, action }: { readonly head: Head | undefined; readonly action: string },
): Promise<Ahead> => {
  const untilMs = latestMs(context.clock());
  const unreadable = (index: number): never => {
    const why = `windows page ${index} cannot be read; run \`tidemark partition reset-windows\` for it first`;
    throw new TidemarkError("service.unreadable", `Cannot ${action}: ${why}`, { ...ref, index });
  };
  const pages = head ? await readablePages(context, ref, head, unreadable) : [];
  const intents = head?.intents.filter(({ decidedMs }) => decidedMs > untilMs) ?? [];
  const uncounted = head?.uncounted.filter(({ settledMs }) => settledMs > untilMs) ?? [];
  const late = pages.flatMap(({ entries }) =>
    [...entries.values()].filter(({ windows }) => newestTimeOf(windows) > untilMs),
  );
  const uids = new Set<string>([...late, ...intents, ...uncounted].map(({ uid }) => uid));
  if (head && (uids.size > 0 || headAheadMs(head, context.clock()) !== undefined))
    return { pages, intents, uncounted, uids };
  throw new TidemarkError(
    "service.in-time",
    `Cannot ${action}: no time in it is more than 4 s ahead of this clock`,
    { ...ref },
  );
};

const reset = async (
  context: ServiceContext,
  leased: LeasedPartition,
  { cluster, ref }: FoundPartition,
  ahead: Ahead,
): Promise<ResetView> => {
  const { head } = leased;
  // The claim has compared this clock with the service's.
  const nowMs = context.clock();
  const items = (await Array.fromAsync(autoscalersOf(context.tables, cluster, ref))).filter(
    (item) => ahead.uids.has(uidOfItem(item) ?? ""),
  );
  const autoscalers = items.map(autoscalerPath);
  const lowered = {
    nowMs: Math.min(head.nowMs, nowMs),
    evaluatedMs: Math.min(head.evaluatedMs, nowMs),
    dueDoneMs: Math.min(head.dueDoneMs, nowMs),
  };
  const before = {
    time: rfc3339(Math.max(head.nowMs, head.evaluatedMs)),
    intents: ahead.intents.map(({ id }) => id),
  };
  await recordReset(context, leased, {
    verb: "reset-time",
    before,
    after: { time: rfc3339(nowMs), autoscalers },
  });
  const outcome = {
    kind: "unknown",
    message: "its time was ahead of the clock, and a person reset it",
  } as const;
  const events = ahead.intents.map((intent) => scaleEvent(ref, intent, outcome, nowMs));
  await insertEvents(context.insert, events);
  const changed = new Map<string, StoredWindows>();
  for (const item of items) {
    const uid = uidOfItem(item) as StoredWindows["uid"];
    const known =
      ahead.pages.find(({ entries }) => entries.has(uid))?.entries.get(uid)?.windows ?? NEW_WINDOWS;
    const record = item.kind === "read" ? item.record : undefined;
    const windows = await withUnknownHistory(context, scaledUntil(known, nowMs), record, {
      nowMs,
      eventId: `reset-time:${head.epoch}`,
    });
    changed.set(uid, { uid, windows, open: false });
  }
  await writePages(context, leased, ahead.pages, { changed });
  const ids = [...ahead.intents, ...ahead.uncounted].map(({ id }) => id);
  leased.lease = await withdrawIntents(context.tables, leased.lease, ids);
  leased.lease = await lowerTimes(context.tables, leased.lease, lowered);
  return { cluster: ref.cluster, partition: ref.partition, autoscalers };
};

/*
 *  claim ── pages@epoch: every autoscaler as if it had just been scaled as far as its rules allow ── epoch raised, lease given back
 * └─ died ✗
 *         the fleet record still names the former tables: every sync holds, and a repeat does it
 *         again
 */

/**
 * Takes the windows of a partition in restored tables as an unknown past, and raises its epoch. On
 * doubt, hold: a page that cannot be read stays as it is, and holds its autoscalers until it is
 * reset. Open intents stay, and the next sync settles them. Returns the number of autoscalers.
 * `newTerm` is the term of a move. Throws `service.busy`, `service.conflict`.
 */
export const forgetPast = (
  context: ServiceContext,
  partition: FoundPartition,
  action: string,
  newTerm?: number,
): Promise<number> =>
  underLease(
    context,
    partition,
    action,
    async (leased, cluster) => {
      const count = await forget(context, leased, { ...partition, cluster });
      leased.lease = await raiseEpoch(context.tables, leased.lease);
      return count;
    },
    newTerm,
  );

const forget = async (
  context: ServiceContext,
  leased: LeasedPartition,
  { cluster, ref }: { readonly cluster: ClusterRecord; readonly ref: FoundPartition["ref"] },
): Promise<number> => {
  const { head } = leased;
  const nowMs = notBeforeMs(context, leased);
  const pages = await readablePages(context, ref, head);
  const entries = new Map(pages.flatMap((page) => [...page.entries]));
  const changed = new Map<string, StoredWindows>();
  for (const item of await Array.fromAsync(autoscalersOf(context.tables, cluster, ref))) {
    const uid = uidOfItem(item);
    if (uid === undefined) continue;
    const record = item.kind === "read" ? item.record : undefined;
    const known = entries.get(uid)?.windows ?? NEW_WINDOWS;
    changed.set(uid, {
      uid,
      windows: await withUnknownHistory(context, known, record, {
        nowMs,
        eventId: `adopt:${head.epoch}`,
      }),
      open: false,
    });
  }
  await writePages(context, leased, pages, { changed });
  return changed.size;
};
