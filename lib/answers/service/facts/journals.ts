import type { Namespace, PartitionName, PartitionRef } from "../../../rules/model/ids.ts";
import type { AutoscalerRecord, ClusterRecord } from "../../../rules/model/records.ts";
import type { Evaluation, JournalPage } from "../../../rules/model/scale-records.ts";
import type { Head } from "../../../stack/store/head/head.ts";
import { readHead } from "../../../stack/store/head/head.ts";
import type { Stretch } from "../../../stack/store/history/events.ts";
import { journalOfPage } from "../../../stack/store/history/journal.ts";
import { scopeChangesOf } from "../../../stack/store/history/scope-changes.ts";
import { journalPageOf } from "../../../stack/store/pages/plan.ts";
import { partitionOf } from "../../../stack/store/records/clusters.ts";
import { mapWithLimit } from "../../../stack/store/table/wait-for-all.ts";
import type { QueryContext } from "../context.ts";
import type { LocatedAutoscaler } from "../find-autoscaler.ts";

export interface Evaluated {
  readonly atMs: number;
  readonly evaluation: Evaluation;
  /** Why its sync was woken. Absent for a planned sync. */
  readonly woken?: string;
}

/** The evaluation of an autoscaler in a page of the journal. */
export const evaluatedIn = (
  { atMs, woken }: JournalPage,
  evaluation: Evaluation | undefined,
): Evaluated | undefined =>
  evaluation && { atMs, evaluation, ...(woken !== undefined && { woken }) };

/**
 * A journal that has the evaluations of an autoscaler while its partition has so many pages of
 * windows.
 */
export interface JournalStream {
  readonly ref: PartitionRef;
  readonly page: number;
  /** When the newest completed sync wrote to it; absent where none has, or the head is not read. */
  readonly syncedMs?: number;
  /** Windows pages of the partition; absent where the head is not read. */
  readonly windowsPages?: number;
}

export const streamOf = (
  ref: PartitionRef,
  uid: AutoscalerRecord["uid"],
  head: Pick<Head, "pages" | "evaluatedMs"> | undefined,
): JournalStream => ({
  ref,
  page: journalPageOf(uid, head?.pages.length ?? 0),
  ...(head && { syncedMs: head.evaluatedMs, windowsPages: head.pages.length }),
});

/**
 * The journal that has the newest evaluations of an autoscaler; undefined where no partition has
 * its namespace.
 */
export const presentStream = async (
  { tables }: QueryContext,
  { cluster, record }: LocatedAutoscaler,
): Promise<JournalStream | undefined> => {
  const partition = partitionOf(cluster, record.namespace);
  if (partition === undefined) return undefined;
  const ref = { cluster: cluster.name, partition };
  return streamOf(ref, record.uid, await readHead(tables, ref));
};

/**
 * A sync writes the journal of every autoscaler once a minute at least. A longer silence is a time
 * without syncs, or one in which they wrote to another journal.
 */
const SILENCE_MS = 5 * 60_000;
/** Syncs that a cluster with a long period may miss before it counts as silent. */
const SILENT_PERIODS = 3;
/** How long the journal of an autoscaler must be silent until others are looked into. */
export const silenceMsOf = ({ syncPeriodMs }: Pick<ClusterRecord, "syncPeriodMs">): number =>
  Math.max(SILENCE_MS, SILENT_PERIODS * syncPeriodMs);
/**
 * Numbers of windows pages that a partition may have had: 320 hold 3,800 autoscalers and more, and
 * have 32 journal pages.
 */
const PAGES_TRIED = 320;
/**
 * Entries that are looked at for the end of an earlier journal: syncs of the others may follow the
 * last one of a moved autoscaler.
 */
const ENTRIES_LOOKED_AT = 8;

/**
 * Every other journal that may have the autoscaler in the stretch: the journals of the same
 * partition first. The journal of an autoscaler follows the partition of its namespace and the
 * number of pages there, so it had others before its namespace moved or its partition was divided.
 */
export const earlierStreams = async (
  { tables }: QueryContext,
  { cluster, record }: LocatedAutoscaler,
  present: JournalStream,
  { sinceMs }: Stretch,
): Promise<readonly JournalStream[]> => {
  const partitions = new Set<PartitionName>([present.ref.partition]);
  for await (const { atMs, before } of scopeChangesOf(
    tables,
    { scope: "cluster", name: cluster.name },
    sinceMs,
  )) {
    const partition =
      atMs < sinceMs || before === undefined ? undefined : partitionIn(before, record.namespace);
    if (partition !== undefined) partitions.add(partition);
  }
  const pages = [
    ...new Set(
      Array.from({ length: PAGES_TRIED }, (_, index) => journalPageOf(record.uid, index + 1)),
    ),
  ];
  return [...partitions]
    .flatMap((partition) =>
      pages.map((page) => ({ ref: { cluster: cluster.name, partition }, page })),
    )
    .filter(({ ref, page }) => ref.partition !== present.ref.partition || page !== present.page);
};

/** The partition of a namespace in an earlier version of the cluster. */
const partitionIn = (text: string, namespace: Namespace): PartitionName | undefined => {
  const { name, partitions } = JSON.parse(text) as Partial<ClusterRecord>;
  return name !== undefined && partitions
    ? partitionOf({ name, partitions }, namespace)
    : undefined;
};

/** True for a journal that has any entry in the stretch, of whatever autoscaler. */
const isUsed = async (
  { tables }: QueryContext,
  { ref, page }: JournalStream,
  stretch: Stretch,
): Promise<boolean> => {
  for await (const _entry of journalOfPage(tables, ref, { page, ...stretch, pageSize: 1 }))
    return true;
  return false;
};

/** The newest evaluation that a journal has at its end in the stretch. */
export const newestIn = async (
  { tables }: QueryContext,
  uid: LocatedAutoscaler["record"]["uid"],
  { ref, page }: JournalStream,
  stretch: Stretch,
): Promise<Evaluated | undefined> => {
  let looked = 0;
  for await (const entry of journalOfPage(tables, ref, {
    page,
    uid,
    ...stretch,
    newestFirst: true,
    pageSize: ENTRIES_LOOKED_AT,
  })) {
    const found = evaluatedIn(entry, entry.evaluations[0]);
    if (found) return found;
    looked += 1;
    if (looked >= ENTRIES_LOOKED_AT) return undefined;
  }
  return undefined;
};

/** Earlier journals that are looked into together. Most of them are empty. */
export const STREAMS_AT_ONCE = 32;
/**
 * The streams that have anything in the stretch: most have nothing, and need not be asked for each
 * silence.
 */
export const usedStreams = async (
  context: QueryContext,
  streams: readonly JournalStream[],
  stretch: Stretch,
): Promise<readonly JournalStream[]> => {
  const used = await mapWithLimit(streams, STREAMS_AT_ONCE, async (stream) =>
    (await isUsed(context, stream, stretch)) ? [stream] : [],
  );
  return used.flat();
};
