import type { AutoscalerUid } from "../../../rules/model/ids.ts";
import type { Sample } from "../../../rules/model/scale-records.ts";
import { QUARTERS, quarterGroupOf, storedQuarters } from "../../../stack/projections/quarters.ts";
import { sampleOf } from "../../../stack/projections/sample.ts";
import { BIN_MS } from "../../../stack/projections/samples.ts";
import type { Stretch } from "../../../stack/store/history/events.ts";
import { baseReader, journalOfPage } from "../../../stack/store/history/journal.ts";
import type { Tables } from "../../../stack/store/table/tables.ts";
import type { QueryContext } from "../context.ts";
import type { JournalStream } from "./journals.ts";

/** Entries of a step that are looked at until one has the autoscaler: mostly the first has. */
const LOOKED_AT = 4;

interface Of {
  readonly uid: AutoscalerUid;
  readonly stream: JournalStream;
}

/**
 * Steps of five minutes of a stretch whose samples are not made yet: from the quarters of an hour
 * that are made, and of the newest minutes by the first evaluation of each step. The journal of a
 * hundred autoscalers is read for what neither has.
 *
 *   ├─ quarter ─┤├─ quarter ─┤├─ missing ─┤├─ quarter ─┤├─ ─ newest ─ ─ now
 *     its item      its item      facts        its item    first of each step
 */
export const newestSamples = async (
  { tables }: QueryContext,
  { uid, stream }: Of,
  gap: Stretch,
  facts: (gap: Stretch) => Promise<readonly Sample[]>,
): Promise<readonly Sample[]> => {
  const { ref, windowsPages = 0, syncedMs = 0 } = stream;
  if (!quarterGroupOf(uid, windowsPages)) return facts(gap);
  const { slots, settledMs } = QUARTERS;
  // Everything before it is made, if a sync had time for it.
  const madeMs = Math.max(gap.sinceMs, slots.beginOf(syncedMs - settledMs));
  const older = { sinceMs: gap.sinceMs, untilMs: Math.min(gap.untilMs, madeMs - 1) };
  const newer = { sinceMs: madeMs, untilMs: gap.untilMs };
  const [quarters, newest] = await Promise.all([
    storedQuarters(tables, { ref, windowsPages, uid }, older),
    firstOfSteps(tables, { uid, stream }, newer),
  ]);
  const missing = missingIn(older, quarters);
  if (!newest) lengthened(missing, newer.sinceMs, newer.untilMs);
  const read = await Promise.all(missing.map(facts));
  return [...quarters, ...(newest ?? []), ...read.flat()].toSorted(
    (one, other) => one.atMs - other.atMs,
  );
};

type Stretches = { sinceMs: number; untilMs: number }[];

/** Adds a stretch after others, of which the last one goes on where no gap is between. */
export const lengthened = (stretches: Stretches, sinceMs: number, untilMs: number): void => {
  const last = stretches.at(-1);
  if (last?.untilMs === sinceMs - 1) last.untilMs = untilMs;
  else stretches.push({ sinceMs, untilMs });
};

/** The quarters of an hour of a stretch without a sample. */
const missingIn = ({ sinceMs, untilMs }: Stretch, samples: readonly Sample[]): Stretches => {
  const { beginOf, endOf } = QUARTERS.slots;
  const made = new Set(samples.map(({ atMs }) => beginOf(atMs)));
  const missing: Stretches = [];
  for (let fromMs = sinceMs; fromMs <= untilMs; fromMs = endOf(beginOf(fromMs)))
    if (!made.has(beginOf(fromMs)))
      lengthened(missing, fromMs, Math.min(endOf(beginOf(fromMs)) - 1, untilMs));
  return missing;
};

/**
 * The first sample of each step of some minutes. `undefined` where a step that is over has none:
 * then the journal must be read as it is.
 */
const firstOfSteps = async (
  tables: Tables,
  { uid, stream: { ref, page, syncedMs = 0 } }: Of,
  { sinceMs, untilMs }: Stretch,
): Promise<readonly Sample[] | undefined> => {
  const bases = baseReader(tables, ref, page);
  const steps: Stretch[] = [];
  for (let fromMs = sinceMs; fromMs <= untilMs; fromMs = (Math.floor(fromMs / BIN_MS) + 1) * BIN_MS)
    steps.push({
      sinceMs: fromMs,
      untilMs: Math.min((Math.floor(fromMs / BIN_MS) + 1) * BIN_MS - 1, untilMs),
    });
  const first = await Promise.all(
    steps.map(async (step): Promise<Sample | undefined> => {
      let looked = 0;
      for await (const entry of journalOfPage(tables, ref, {
        ...{ ...step, page, uid, bases, pageSize: 1 },
      })) {
        const [evaluation] = entry.evaluations;
        if (evaluation) return sampleOf(entry.atMs, evaluation);
        looked += 1;
        if (looked >= LOOKED_AT) return undefined;
      }
      return undefined;
    }),
  );
  const isWhole = steps.every((step, at) => first[at] !== undefined || step.untilMs >= syncedMs);
  return isWhole ? first.filter((one) => one !== undefined) : undefined;
};
