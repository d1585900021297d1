import type { Sample } from "../../../rules/model/scale-records.ts";
import { EVENT_DAYS_KEPT } from "../../../stack/store/history/events.ts";
import { JOURNAL_DAYS_KEPT } from "../../../stack/store/history/journal.ts";
import { SIX_HOURS_MS } from "../../../stack/projections/journal-slots.ts";
import { type PodMinutes, podsTogether, storedPods } from "../../../stack/projections/pods.ts";
import { detailedSampleOf, joinedSample, sampleOf } from "../../../stack/projections/sample.ts";
import { BIN_MS, SAMPLES, storedSamples } from "../../../stack/projections/samples.ts";
import type { HistoryPoint, HistoryView } from "../../views/over-time.ts";
import type { QueryContext } from "../context.ts";
import { findAutoscaler, type LocatedAutoscaler } from "../find-autoscaler.ts";
import { presentStream, readSamples } from "../partitions/read-samples.ts";
import type { HistoryQuery } from "../service.ts";
import { refuseEmptyRange, rfc3339 } from "../times.ts";
import { invalid } from "../refusals.ts";
import { present } from "../../../rules/model/json.ts";
import { SECOND_MS, MINUTE_MS, DAY_MS } from "../../../rules/model/time-text.ts";

const DEFAULT_MS = 2 * 3_600_000;
/** What one answer covers: some seconds of work for a function. `next` says where to go on. */
const PART_MS = DAY_MS;
/** The same with what is behind each value, which takes four times the bytes. */
const WHY_PART_MS = DAY_MS / 12;
/** The same of the five minutes that are kept beyond the journal. */
const ROLLED_PART_MS = 30 * DAY_MS;
/**
 * Points of an answer without a step of its own: enough for the widest terminal and for a picture.
 */
const POINTS = 480;
/** The shortest step where none is given: the period of most clusters. */
const STEP_MS = 15 * SECOND_MS;

/**
 * What an autoscaler measured and decided over time: in steps of five minutes and more from its
 * samples, which are made every six hours and stay for 13 months; the rest of it, and shorter
 * steps, from the journal of the last 14 days. The default is the last two hours. Throws
 * `service.invalid` for a start that has not come or is after the end, and for a step of less than
 * a second.
 */
export const history = async (
  context: QueryContext,
  { sinceMs, untilMs, stepMs, why = false, ...query }: HistoryQuery,
): Promise<HistoryView> => {
  const nowMs = context.clock();
  refuseEmptyRange(`show the history of "${query.name}"`, { sinceMs, untilMs }, nowMs);
  const toMs = Math.min(untilMs ?? nowMs, nowMs);
  const fromMs = Math.max(0, Math.min(sinceMs ?? toMs - DEFAULT_MS, toMs));
  const step = stepMs ?? defaultStepMs(toMs - fromMs);
  if (step < SECOND_MS)
    throw invalid(
      `Cannot show the history of "${query.name}" in steps of ${step} ms: give at least one second`,
      { name: query.name, stepMs: step },
    );
  const located = await findAutoscaler(context, query);
  const { cluster, namespace, name, uid } = located.record;
  const { samples, pods, endMs } = await samplesOf(context, located, {
    ...{ fromMs, toMs, stepMs: step, why },
  });
  return {
    ...{ cluster, namespace, name, uid },
    since: rfc3339(fromMs),
    until: rfc3339(toMs),
    stepSeconds: step / SECOND_MS,
    points: pointsOf(samples, pods, { sinceMs: fromMs, stepMs: step }),
    ...(endMs < toMs && { next: rfc3339(endMs + 1) }),
  };
};

/** Of more than a few hours the samples are shown: a day of the journal is 1,440 pages. */
const defaultStepMs = (lengthMs: number): number =>
  Math.max(
    lengthMs > SIX_HOURS_MS ? BIN_MS : STEP_MS,
    Math.ceil(lengthMs / POINTS / SECOND_MS) * SECOND_MS,
  );

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
const samplesOf = async (
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
  const [stored, pods, stream] = await Promise.all([
    storedSamples(context.tables, located.record, storedPart),
    storedPods(context.tables, located.record, storedPart),
    // What is stored of six hours says as a rule that the journal has the rest.
    asked.toMs < journaledMs ? undefined : presentStream(context, located),
  ]);
  const gaps = gapsOf(stored, { sinceMs: Math.max(sinceMs, journaledMs), untilMs: asked.toMs });
  const endMs = endOfPart(
    asked,
    Math.min(sinceMs + ROLLED_PART_MS, gaps[0]?.sinceMs ?? asked.toMs),
  );
  const journaled = await Promise.all(
    gaps
      .filter((gap) => gap.sinceMs <= endMs)
      .map((gap) =>
        readSamples(
          { context, uid, sampleOf: asked.why ? detailedSampleOf : sampleOf },
          present({ ...located, stream }),
          {
            ...gap,
            untilMs: Math.min(gap.untilMs, endMs),
          },
        ),
      ),
  );
  const samples = [...stored.filter(({ atMs }) => atMs <= endMs), ...journaled.flat()];
  return { samples: samples.toSorted((one, other) => one.atMs - other.atMs), pods, endMs };
};

/** The parts of a stretch in whose slots no sample is stored, as of the newest hours. */
const gapsOf = (
  stored: readonly Sample[],
  { sinceMs, untilMs }: { readonly sinceMs: number; readonly untilMs: number },
): readonly { readonly sinceMs: number; readonly untilMs: number }[] => {
  const { beginOf, endOf } = SAMPLES.slots;
  const made = new Set(stored.map(({ atMs }) => beginOf(atMs)));
  const gaps: { sinceMs: number; untilMs: number }[] = [];
  for (let fromMs = sinceMs; fromMs <= untilMs; fromMs = endOf(beginOf(fromMs))) {
    if (made.has(beginOf(fromMs))) continue;
    const toMs = Math.min(endOf(beginOf(fromMs)) - 1, untilMs);
    const last = gaps.at(-1);
    if (last?.untilMs === fromMs - 1) last.untilMs = toMs;
    else gaps.push({ sinceMs: fromMs, untilMs: toMs });
  }
  return gaps;
};

/**
 * Samples as points, one a step, in order of time. A peak must not vanish: loads, and what was
 * wanted, are the highest of a step, and the pods that count the fewest.
 */
const pointsOf = (
  samples: readonly Sample[],
  pods: readonly PodMinutes[],
  { sinceMs, stepMs }: { readonly sinceMs: number; readonly stepMs: number },
): readonly HistoryPoint[] => {
  const stepOf = (ms: number): number => Math.floor((ms - sinceMs) / stepMs);
  const podsIn = new Map<number, PodMinutes[]>();
  for (const run of pods)
    for (let at = stepOf(run.atMs); at <= stepOf(run.atMs + run.minutes * MINUTE_MS - 1); at++)
      podsIn.set(at, [...(podsIn.get(at) ?? []), run]);
  return [...Map.groupBy(samples, ({ atMs }) => stepOf(atMs))].map(([at, bin]) => {
    const sample = bin.reduce(joinedSample);
    return pointOf({ ...sample, ...podsTogether(sample, podsIn.get(at) ?? []) });
  });
};

const pointOf = ({ atMs, ...point }: Sample): HistoryPoint => ({ at: rfc3339(atMs), ...point });

/** All parts of a history as one. */
export const wholeHistory = async (
  service: { readonly history: (query: HistoryQuery) => Promise<HistoryView> },
  query: HistoryQuery,
): Promise<HistoryView> => {
  const { next: firstNext, ...first } = await service.history(query);
  const points = [...first.points];
  const rest = {
    ...query,
    untilMs: Date.parse(first.until),
    stepMs: first.stepSeconds * SECOND_MS,
  };
  for (let next = firstNext; next !== undefined; ) {
    const part = await service.history({ ...rest, sinceMs: Date.parse(next) });
    points.push(...part.points);
    next = part.next;
  }
  return { ...first, points };
};
