import type { Sample } from "../../../rules/model/scale-records.ts";
import { SIX_HOURS_MS } from "../../../stack/projections/journal-slots.ts";
import { type PodMinutes, podsTogether } from "../../../stack/projections/pods.ts";
import { joinedSample } from "../../../stack/projections/sample.ts";
import { BIN_MS } from "../../../stack/projections/samples.ts";
import type { HistoryPoint, HistoryView } from "../../views/over-time.ts";
import type { QueryContext } from "../context.ts";
import { samplesBetween } from "../facts/samples-between.ts";
import { findAutoscaler } from "../find-autoscaler.ts";
import type { HistoryQuery } from "../service.ts";
import { refuseEmptyRange, rfc3339 } from "../times.ts";
import { invalid } from "../refusals.ts";
import { SECOND_MS, MINUTE_MS } from "../../../rules/model/time-text.ts";

const DEFAULT_MS = 2 * 3_600_000;
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
  const { samples, pods, endMs } = await samplesBetween(context, located, {
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
