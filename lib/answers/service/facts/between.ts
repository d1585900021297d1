import type { AutoscalerRecord } from "../../../rules/model/records.ts";
import type { Evaluation, JournalPage } from "../../../rules/model/scale-records.ts";
import type { Stretch } from "../../../stack/store/history/events.ts";
import { journalOfPage } from "../../../stack/store/history/journal.ts";
import { eachInGroups, mapWithLimit } from "../../../stack/store/table/wait-for-all.ts";
import type { QueryContext } from "../context.ts";
import type { LocatedAutoscaler } from "../find-autoscaler.ts";
import {
  earlierStreams,
  type JournalStream,
  newestIn,
  presentStream,
  silenceMsOf,
  STREAMS_AT_ONCE,
  usedStreams,
} from "./journals.ts";

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
export const factsBetween = async <Sample extends Timed>(
  reader: Reader<Sample>,
  { cluster, record, stream }: LocatedAutoscaler & { readonly stream?: JournalStream },
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
