import type { Namespace, PartitionName, PartitionRef } from "../../model/ids.ts";
import type { AutoscalerRecord, ClusterRecord, JournalPage } from "../../model/records.ts";
import { journalOfPage } from "../../store/history/journal.ts";
import { scopeChangesOf } from "../../store/history/scope-changes.ts";
import { journalPageOf } from "../../store/pages/plan.ts";
import { partitionOf } from "../../store/records/partitions.ts";
import type { QueryContext } from "../context.ts";
import type { LocatedAutoscaler } from "../find-autoscaler.ts";
import { type ShadowSample, sampleOf } from "./shadow-sample.ts";

/** From inclusive, to inclusive. */
export interface Stretch {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** A journal that has the evaluations of an autoscaler while its partition has so many pages of windows. */
interface Stream {
  readonly ref: PartitionRef;
  readonly page: number;
}

/** A sync writes the journal of every autoscaler once a minute at least. A longer silence is a time without syncs, or one in which they wrote to another journal. */
const SILENCE_MS = 5 * 60_000;
/** Numbers of windows pages that a partition may have had: 320 hold 3,800 autoscalers and more, and have 32 journal pages. */
const PAGES_TRIED = 320;
/** Entries that are looked at for the end of an earlier journal: syncs of the others may follow the last one of a moved autoscaler. */
const ENTRIES_LOOKED_AT = 8;
/** Silences that are looked into. Each costs some queries. */
const SILENCES_MAX = 20;

interface Reader {
  readonly context: QueryContext;
  readonly uid: AutoscalerRecord["uid"];
  /** Throws where the samples are more than can be compared at once. */
  readonly refuseMany: (samples: number) => void;
}

/**
 * Reads the samples of an autoscaler in order of time. Its journal follows the partition of its namespace and the number of pages there: where that journal is silent, the journals are read
 * that it had before its namespace moved or its partition was divided.
 */
export const readSamples = async (
  reader: Reader,
  { cluster, record }: LocatedAutoscaler,
  stretch: Stretch,
  pages: number,
): Promise<readonly ShadowSample[]> => {
  const partition = partitionOf(cluster, record.namespace);
  if (partition === undefined) return [];
  const present: Stream = { ref: { cluster: cluster.name, partition }, page: journalPageOf(record.uid, pages) };
  const read = await readStream(reader, present, stretch);
  let silences = silencesOf(read.instants, stretch);
  if (silences.length === 0) return read.samples;
  const streams = await earlierStreams(reader.context, { cluster, record }, present, stretch);
  const samples = [...read.samples];
  for (let looked = 0; looked < SILENCES_MAX && silences.length > 0; looked++) {
    const [silence, ...others] = silences;
    const earlier = silence && (await readFirst(reader, streams, silence));
    if (silence && earlier) {
      samples.push(...earlier.samples);
      reader.refuseMany(samples.length);
      silences = [...silencesOf(earlier.instants, silence), ...others];
    } else silences = others;
  }
  return samples.toSorted((one, other) => one.atMs - other.atMs);
};

interface Read {
  readonly samples: readonly ShadowSample[];
  /** Of every evaluation, also without another controller. */
  readonly instants: readonly number[];
}

const readStream = async ({ context, uid, refuseMany }: Reader, { ref, page }: Stream, stretch: Stretch): Promise<Read> => {
  const samples: ShadowSample[] = [];
  const instants: number[] = [];
  for await (const entry of journalOfPage(context.tables, ref, { page, ...stretch })) {
    const evaluation = evaluationIn(entry, uid);
    if (!evaluation) continue;
    instants.push(entry.atMs);
    const sample = sampleOf(entry.atMs, evaluation);
    if (sample) samples.push(sample);
    refuseMany(samples.length);
  }
  return { samples, instants };
};

const evaluationIn = ({ evaluations }: JournalPage, uid: AutoscalerRecord["uid"]) => evaluations.find((evaluation) => evaluation.uid === uid);

/** The stretches in which no instant is for long, the newest first. */
const silencesOf = (instants: readonly number[], { sinceMs, untilMs }: Stretch): readonly Stretch[] => {
  const bounds = [sinceMs - 1, ...instants, untilMs + 1];
  return bounds
    .slice(1)
    .map((toMs, at) => ({ sinceMs: (bounds[at] ?? toMs) + 1, untilMs: toMs - 1 }))
    .filter((silence) => silence.untilMs - silence.sinceMs > SILENCE_MS)
    .toReversed();
};

/** What the first stream has in a silence that was written to at its end. */
const readFirst = async (reader: Reader, streams: readonly Stream[], silence: Stretch): Promise<Read | undefined> => {
  for (const stream of streams) {
    const newestMs = await newestIn(reader, stream, silence);
    if (newestMs !== undefined) return readStream(reader, stream, { ...silence, untilMs: newestMs });
  }
  return undefined;
};

const newestIn = async ({ context, uid }: Reader, { ref, page }: Stream, silence: Stretch): Promise<number | undefined> => {
  let looked = 0;
  for await (const entry of journalOfPage(context.tables, ref, { page, ...silence, newestFirst: true, pageSize: ENTRIES_LOOKED_AT })) {
    if (evaluationIn(entry, uid)) return entry.atMs;
    looked += 1;
    if (looked >= ENTRIES_LOOKED_AT) return undefined;
  }
  return undefined;
};

/** Every other journal that may have the autoscaler in the stretch: those of the same partition first. */
const earlierStreams = async (
  { tables }: QueryContext,
  { cluster, record }: LocatedAutoscaler,
  present: Stream,
  { sinceMs }: Stretch,
): Promise<readonly Stream[]> => {
  const partitions = new Set<PartitionName>([present.ref.partition]);
  for await (const { atMs, before } of scopeChangesOf(tables, { scope: "cluster", name: cluster.name })) {
    const partition = atMs < sinceMs || before === undefined ? undefined : partitionIn(before, record.namespace);
    if (partition !== undefined) partitions.add(partition);
  }
  const pages = [...new Set(Array.from({ length: PAGES_TRIED }, (_, index) => journalPageOf(record.uid, index + 1)))];
  return [...partitions]
    .flatMap((partition) => pages.map((page) => ({ ref: { cluster: cluster.name, partition }, page })))
    .filter(({ ref, page }) => ref.partition !== present.ref.partition || page !== present.page);
};

/** The partition of a namespace in an earlier version of the cluster. */
const partitionIn = (text: string, namespace: Namespace): PartitionName | undefined => {
  const { name, partitions } = JSON.parse(text) as Partial<ClusterRecord>;
  return name !== undefined && partitions ? partitionOf({ name, partitions }, namespace) : undefined;
};
