import { TidemarkError } from "../../model/errors.ts";
import { JOURNAL_DAYS_KEPT } from "../../store/history/journal.ts";
import type { QueryContext } from "../context.ts";
import { findAutoscaler } from "../find-autoscaler.ts";
import { readSamples } from "../partitions/read-samples.ts";
import type { HistoryQuery } from "../service.ts";
import { refuseEmptyRange } from "../time-range.ts";
import type { HistoryView } from "../views/history-view.ts";
import { rfc3339 } from "../views/rfc3339.ts";
import { pointsOf, sampleOf } from "./point.ts";

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DEFAULT_MS = 2 * HOUR_MS;
/** What one answer covers: some seconds of work for a function. `next` says where to go on. */
const PART_MS = DAY_MS;
/** Points of an answer without a step of its own: enough for the widest terminal and for a picture. */
const POINTS = 480;
/** The shortest step where none is given: the period of most clusters. */
const STEP_MS = 15 * SECOND_MS;

/**
 * What an autoscaler measured and decided over time, from the journal of the last 14 days. The default is the last two hours. Throws `service.invalid` for a start that has not come or is
 * after the end, and for a step of less than a second.
 */
export const history = async (context: QueryContext, { sinceMs, untilMs, stepMs, ...query }: HistoryQuery): Promise<HistoryView> => {
  const nowMs = context.clock();
  refuseEmptyRange(`show the history of "${query.name}"`, { sinceMs, untilMs }, nowMs);
  const toMs = Math.min(untilMs ?? nowMs, nowMs);
  const fromMs = Math.max(0, Math.min(sinceMs ?? toMs - DEFAULT_MS, toMs));
  const step = stepMs ?? defaultStepMs(toMs - fromMs);
  if (step < SECOND_MS) throw stepTooSmall(query.name, step);
  const located = await findAutoscaler(context, query);
  const { cluster, namespace, name, uid, createdMs } = located.record;
  const storedMs = Math.max(fromMs, Math.min(createdMs, toMs), nowMs - JOURNAL_DAYS_KEPT * DAY_MS);
  const endMs = Math.min(toMs, endOfPart({ fromMs, storedMs, stepMs: step }));
  const samples = await readSamples({ context, uid, sampleOf }, located, { sinceMs: storedMs, untilMs: endMs });
  return {
    ...{ cluster, namespace, name, uid },
    since: rfc3339(fromMs),
    until: rfc3339(toMs),
    stepSeconds: step / SECOND_MS,
    points: pointsOf(samples, { sinceMs: fromMs, stepMs: step }),
    ...(endMs < toMs && { next: rfc3339(endMs + 1) }),
  };
};

const defaultStepMs = (lengthMs: number): number => Math.max(STEP_MS, Math.ceil(lengthMs / POINTS / SECOND_MS) * SECOND_MS);

/** A part ends with a whole step, so that no step is in two answers. */
const endOfPart = ({ fromMs, storedMs, stepMs }: { readonly fromMs: number; readonly storedMs: number; readonly stepMs: number }): number =>
  fromMs + Math.ceil((storedMs - fromMs + Math.max(PART_MS, stepMs)) / stepMs) * stepMs - 1;

const stepTooSmall = (name: string, stepMs: number): TidemarkError =>
  new TidemarkError("service.invalid", `Cannot show the history of "${name}" in steps of ${stepMs} ms: give at least one second`, { name, stepMs });

/** All parts of a history as one. */
export const wholeHistory = async (
  service: { readonly history: (query: HistoryQuery) => Promise<HistoryView> },
  query: HistoryQuery,
): Promise<HistoryView> => {
  const { next: firstNext, ...first } = await service.history(query);
  const points = [...first.points];
  const rest = { ...query, untilMs: Date.parse(first.until), stepMs: first.stepSeconds * SECOND_MS };
  for (let next = firstNext; next !== undefined; ) {
    const part = await service.history({ ...rest, sinceMs: Date.parse(next) });
    points.push(...part.points);
    next = part.next;
  }
  return { ...first, points };
};
