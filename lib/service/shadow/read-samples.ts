import type { AutoscalerRecord } from "../../model/records.ts";
import { journalOfPage } from "../../store/history/journal.ts";
import { journalPageOf } from "../../store/pages/plan.ts";
import { partitionOf } from "../../store/records/partitions.ts";
import type { QueryContext } from "../context.ts";
import type { LocatedAutoscaler } from "../find-autoscaler.ts";
import { earlierStreams, type JournalStream, newestIn, SILENCE_MS, type Stretch } from "../partitions/earlier-journals.ts";
import { type ShadowSample, sampleOf } from "./shadow-sample.ts";

/** Silences that are looked into. Each costs some queries. */
const SILENCES_MAX = 20;

interface Reader {
  readonly context: QueryContext;
  readonly uid: AutoscalerRecord["uid"];
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
  const present: JournalStream = { ref: { cluster: cluster.name, partition }, page: journalPageOf(record.uid, pages) };
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

const readStream = async ({ context, uid }: Reader, { ref, page }: JournalStream, stretch: Stretch): Promise<Read> => {
  const samples: ShadowSample[] = [];
  const instants: number[] = [];
  for await (const entry of journalOfPage(context.tables, ref, { page, uid, ...stretch })) {
    const [evaluation] = entry.evaluations;
    if (!evaluation) continue;
    instants.push(entry.atMs);
    const sample = sampleOf(entry.atMs, evaluation);
    if (sample) samples.push(sample);
  }
  return { samples, instants };
};

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
const readFirst = async (reader: Reader, streams: readonly JournalStream[], silence: Stretch): Promise<Read | undefined> => {
  for (const stream of streams) {
    const newest = await newestIn(reader.context, reader.uid, stream, silence);
    if (newest) return readStream(reader, stream, { ...silence, untilMs: newest.atMs });
  }
  return undefined;
};
