import type { AutoscalerRecord, ClusterRecord } from "../../../rules/model/records.ts";
import { readHead } from "../../../stack/store/head/head.ts";
import type { Stretch } from "../../../stack/store/history/events.ts";
import { journalOfPage } from "../../../stack/store/history/journal.ts";
import { journalPageOf } from "../../../stack/store/pages/plan.ts";
import { partitionOf } from "../../../stack/store/records/clusters.ts";
import { eachInGroups, mapWithLimit } from "../../../stack/store/table/wait-for-all.ts";
import type { QueryContext } from "../context.ts";
import type { LocatedAutoscaler } from "../find-autoscaler.ts";
import type { Evaluation, JournalPage } from "../../../rules/model/scale-records.ts";
import type { Namespace, PartitionName } from "../../../rules/model/ids.ts";
import { scopeChangesOf } from "../../../stack/store/history/scope-changes.ts";
import {
  type AutoscalerSnapshot,
  type Evaluated,
  evaluatedIn,
  type JournalStream,
  streamOf,
} from "./partition-data.ts";

/** Earlier journals that are looked into together. Most of them are empty. */
const STREAMS_AT_ONCE = 32;
/** Silences that are looked into together. */
const SILENCES_AT_ONCE = 16;
/**
 * Looks, one after the other: each finds the journal before those that are known, in all silences
 * that are left. An autoscaler has rarely had more than three.
 */
const LOOKS_MAX = 8;

interface Timed {
  readonly atMs: number;
}

interface Reader<Sample extends Timed> {
  readonly context: QueryContext;
  readonly uid: AutoscalerRecord["uid"];
  /** What is kept of an evaluation and of the page that has it; `undefined` leaves it out. */
  readonly sampleOf: (
    atMs: number,
    evaluation: Evaluation,
    page: JournalPage,
  ) => Sample | undefined;
}

/**
 * Reads the samples of an autoscaler in order of time. Its journal follows the partition of its
 * namespace and the number of pages there: where that journal is silent, the journals are read that
 * it had before its namespace moved or its partition was divided.
 */
export const readSamples = async <Sample extends Timed>(
  reader: Reader<Sample>,
  { cluster, record, stream }: LocatedAutoscaler & Pick<AutoscalerSnapshot, "stream">,
  stretch: Stretch,
): Promise<readonly Sample[]> => {
  const present = stream ?? (await presentStream(reader.context, { cluster, record }));
  if (!present) return [];
  const leastMs = silenceMsOf(cluster);
  const read = await readStream(reader, present, stretch);
  let silences = silencesOf(read.instants, stretch, leastMs);
  const [last, first] = [silences[0], silences.at(-1)];
  if (!last || !first) return read.samples;
  const earlier = await earlierStreams(reader.context, { cluster, record }, present, stretch);
  const streams = await usedStreams(reader.context, earlier, {
    sinceMs: first.sinceMs,
    untilMs: last.untilMs,
  });
  const samples = [...read.samples];
  for (let looks = 0; looks < LOOKS_MAX && silences.length > 0 && streams.length > 0; looks++) {
    const found = await mapWithLimit(silences, SILENCES_AT_ONCE, async (silence) => ({
      silence,
      part: await readFirst(reader, streams, silence),
    }));
    samples.push(...found.flatMap(({ part }) => part?.samples ?? []));
    silences = found.flatMap(({ silence, part }) =>
      part ? silencesOf(part.instants, silence, leastMs) : [],
    );
  }
  return samples.toSorted((one, other) => one.atMs - other.atMs);
};

interface Read<Sample> {
  readonly samples: readonly Sample[];
  /** Of every evaluation, also of those that are left out. */
  readonly instants: readonly number[];
}

const readStream = async <Sample extends Timed>(
  { context, uid, sampleOf }: Reader<Sample>,
  { ref, page }: JournalStream,
  stretch: Stretch,
): Promise<Read<Sample>> => {
  const samples: Sample[] = [];
  const instants: number[] = [];
  for await (const entry of journalOfPage(context.tables, ref, { page, uid, ...stretch })) {
    const [evaluation] = entry.evaluations;
    if (!evaluation) continue;
    instants.push(entry.atMs);
    const sample = sampleOf(entry.atMs, evaluation, entry);
    if (sample) samples.push(sample);
  }
  return { samples, instants };
};

/**
 * The stretches in which no instant is for long, the newest first. Where no instant is at all, the
 * whole stretch, however short: someone asks for it.
 */
const silencesOf = (
  instants: readonly number[],
  stretch: Stretch,
  leastMs: number,
): readonly Stretch[] => {
  if (instants.length === 0) return [stretch];
  const { sinceMs, untilMs } = stretch;
  const bounds = [sinceMs - 1, ...instants, untilMs + 1];
  return bounds
    .slice(1)
    .map((toMs, at) => ({ sinceMs: (bounds[at] ?? toMs) + 1, untilMs: toMs - 1 }))
    .filter((silence) => silence.untilMs - silence.sinceMs > leastMs)
    .toReversed();
};

/**
 * The streams that have anything in the stretch: most have nothing, and need not be asked for each
 * silence.
 */
const usedStreams = async (
  context: QueryContext,
  streams: readonly JournalStream[],
  stretch: Stretch,
): Promise<readonly JournalStream[]> => {
  const used = await mapWithLimit(streams, STREAMS_AT_ONCE, async (stream) =>
    (await isUsed(context, stream, stretch)) ? [stream] : [],
  );
  return used.flat();
};

/** What the first stream has in a silence that was written to at its end. */
const readFirst = async <Sample extends Timed>(
  reader: Reader<Sample>,
  streams: readonly JournalStream[],
  silence: Stretch,
): Promise<Read<Sample> | undefined> => {
  const looks = eachInGroups(streams, STREAMS_AT_ONCE, async (stream) => ({
    stream,
    newest: await newestIn(reader.context, reader.uid, stream, silence),
  }));
  for await (const { stream, newest } of looks)
    if (newest) return readStream(reader, stream, { ...silence, untilMs: newest.atMs });
  return undefined;
};

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
