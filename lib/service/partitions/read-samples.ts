import type { AutoscalerRecord, Evaluation, JournalPage } from "../../model/records.ts";
import { readHead } from "../../store/head/head.ts";
import { journalOfPage } from "../../store/history/journal.ts";
import { journalPageOf } from "../../store/pages/plan.ts";
import { partitionOf } from "../../store/records/partitions.ts";
import { eachInGroups } from "../../store/table/wait-for-all.ts";
import type { QueryContext } from "../context.ts";
import type { LocatedAutoscaler } from "../find-autoscaler.ts";
import { earlierStreams, type JournalStream, newestIn, SILENCE_MS, type Stretch } from "./earlier-journals.ts";

/** Earlier journals that are looked into together. Most of them are empty. */
const STREAMS_AT_ONCE = 32;
/** Silences that are looked into. Each costs some queries. */
const SILENCES_MAX = 20;

interface Timed {
  readonly atMs: number;
}

interface Reader<Sample extends Timed> {
  readonly context: QueryContext;
  readonly uid: AutoscalerRecord["uid"];
  /** What is kept of an evaluation and of the page that has it; `undefined` leaves it out. */
  readonly sampleOf: (atMs: number, evaluation: Evaluation, page: JournalPage) => Sample | undefined;
}

/**
 * Reads the samples of an autoscaler in order of time. Its journal follows the partition of its namespace and the number of pages there: where that journal is silent, the journals are read
 * that it had before its namespace moved or its partition was divided.
 */
export const readSamples = async <Sample extends Timed>(
  reader: Reader<Sample>,
  { cluster, record }: LocatedAutoscaler,
  stretch: Stretch,
): Promise<readonly Sample[]> => {
  const partition = partitionOf(cluster, record.namespace);
  if (partition === undefined) return [];
  const ref = { cluster: cluster.name, partition };
  const head = await readHead(reader.context.tables, ref);
  const present: JournalStream = { ref, page: journalPageOf(record.uid, head?.pages.length ?? 0) };
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
const readFirst = async <Sample extends Timed>(
  reader: Reader<Sample>,
  streams: readonly JournalStream[],
  silence: Stretch,
): Promise<Read<Sample> | undefined> => {
  const looks = eachInGroups(streams, STREAMS_AT_ONCE, async (stream) => ({
    stream,
    newest: await newestIn(reader.context, reader.uid, stream, silence),
  }));
  for await (const { stream, newest } of looks) if (newest) return readStream(reader, stream, { ...silence, untilMs: newest.atMs });
  return undefined;
};
