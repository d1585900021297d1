import type { Sample } from "../../../rules/model/scale-records.ts";
import { present } from "../../../rules/model/json.ts";
import { DAY_MS } from "../../../rules/model/time-text.ts";
import type { PodMinutes } from "../../../stack/projections/pods.ts";
import { detailedSampleOf, sampleOf } from "../../../stack/projections/sample.ts";
import { BIN_MS, SAMPLES, storedWithPods } from "../../../stack/projections/samples.ts";
import { EVENT_DAYS_KEPT, type Stretch } from "../../../stack/store/history/events.ts";
import { JOURNAL_DAYS_KEPT } from "../../../stack/store/history/journal.ts";
import type { QueryContext } from "../context.ts";
import type { LocatedAutoscaler } from "../find-autoscaler.ts";
import { factsBetween } from "./between.ts";
import { presentStream } from "./journals.ts";
import { lengthened, newestSamples } from "./newest-samples.ts";

/** What one answer covers: some seconds of work for a function. `next` says where to go on. */
const PART_MS = DAY_MS;
/** The same with what is behind each value, which takes four times the bytes. */
const WHY_PART_MS = DAY_MS / 12;
/** The same of the five minutes that are kept beyond the journal. */
const ROLLED_PART_MS = 30 * DAY_MS;
/** A part ends with a whole step, so that no step is in two answers. */
const endOfPart = ({ fromMs, toMs, stepMs, why }: Asked, sinceMs: number): number => {
  const lengthMs = Math.max(why ? WHY_PART_MS : PART_MS, stepMs);
  return Math.min(toMs, fromMs + Math.ceil((sinceMs - fromMs + lengthMs) / stepMs) * stepMs - 1);
};

interface Asked {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
  readonly why: boolean;
}

interface PartOfHistory {
  readonly samples: readonly Sample[];
  /** Of the time whose samples are five minutes each, by minute. */
  readonly pods: readonly PodMinutes[];
  readonly endMs: number;
}

/**
 * The samples of one part, and where it ends: five minutes each where they are stored and a step is
 * as long, else every evaluation of the journal.
 */
export const samplesBetween = async (
  context: QueryContext,
  located: LocatedAutoscaler,
  asked: Asked,
): Promise<PartOfHistory> => {
  const { uid, createdMs } = located.record;
  const nowMs = context.clock();
  const sinceMs = Math.max(
    asked.fromMs,
    Math.min(createdMs, asked.toMs),
    nowMs - EVENT_DAYS_KEPT * DAY_MS,
  );
  const journaledMs = Math.ceil((nowMs - JOURNAL_DAYS_KEPT * DAY_MS) / BIN_MS) * BIN_MS;
  const storedMs = asked.stepMs >= BIN_MS && !asked.why ? asked.toMs : journaledMs - 1;
  const storedPart = {
    sinceMs,
    untilMs: Math.min(endOfPart(asked, sinceMs + ROLLED_PART_MS), storedMs),
  };
  const [{ samples: stored, pods }, stream] = await Promise.all([
    storedWithPods(context.tables, located.record, storedPart),
    // What is stored of six hours says as a rule that the journal has the rest.
    asked.toMs < journaledMs ? undefined : presentStream(context, located),
  ]);
  const gaps = gapsOf(stored, stream?.syncedMs || nowMs, {
    sinceMs: Math.max(sinceMs, journaledMs),
    untilMs: asked.toMs,
  });
  const endMs = endOfPart(
    asked,
    Math.min(sinceMs + ROLLED_PART_MS, gaps[0]?.sinceMs ?? asked.toMs),
  );
  const facts = (gap: Stretch): Promise<readonly Sample[]> =>
    factsBetween(
      { context, uid, sampleOf: asked.why ? detailedSampleOf : sampleOf },
      present({ ...located, stream }),
      gap,
    );
  const journaled = await Promise.all(
    gaps
      .filter((gap) => gap.sinceMs <= endMs)
      .map(({ sinceMs: fromMs, untilMs }) => {
        const gap = { sinceMs: fromMs, untilMs: Math.min(untilMs, endMs) };
        return storedMs === asked.toMs && stream
          ? newestSamples(context, { uid, stream }, gap, facts)
          : facts(gap);
      }),
  );
  const isInGap = (atMs: number): boolean =>
    gaps.some((gap) => atMs >= gap.sinceMs && atMs <= gap.untilMs);
  const samples = [
    ...stored.filter(({ atMs }) => atMs <= endMs && !isInGap(atMs)),
    ...journaled.flat(),
  ];
  return { samples: samples.toSorted((one, other) => one.atMs - other.atMs), pods, endMs };
};

/**
 * The parts of a stretch in whose slots no sample is stored, as of the newest hours. Of an
 * autoscaler whose namespace has moved, a slot may have samples of its former journal while those
 * of the present one are not made yet: so a slot counts only once a sync came after it was settled.
 */
const gapsOf = (
  stored: readonly Sample[],
  syncedMs: number,
  { sinceMs, untilMs }: { readonly sinceMs: number; readonly untilMs: number },
): readonly { readonly sinceMs: number; readonly untilMs: number }[] => {
  const { beginOf, endOf } = SAMPLES.slots;
  const made = new Set(stored.map(({ atMs }) => beginOf(atMs)));
  const gaps: { sinceMs: number; untilMs: number }[] = [];
  for (let fromMs = sinceMs; fromMs <= untilMs; fromMs = endOf(beginOf(fromMs))) {
    if (made.has(beginOf(fromMs)) && endOf(beginOf(fromMs)) + SAMPLES.settledMs <= syncedMs)
      continue;
    lengthened(gaps, fromMs, Math.min(endOf(beginOf(fromMs)) - 1, untilMs));
  }
  return gaps;
};
