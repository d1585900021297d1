import {
  type Answer,
  type Answers,
  type MetricValue,
  type QuestionKey,
  type MeasuredSamples,
  valuesIn,
} from "../../../model/observation.ts";
import type { SlowAnswer } from "../../../model/metric-source.ts";
import { queryKey } from "../../../model/query.ts";
import type { NativeMetric } from "../../../model/spec-native.ts";
import type { SlowMetric } from "../../../model/scale-records.ts";
import type { KeptAnswer } from "../../../model/windows.ts";
import type { RegisteredQuery } from "../../../sources/source.ts";
import { isDated, registeredQueryOf } from "../../../sources/sources.ts";

/** The answers of a sync with the ones that are still kept, and what is kept from here on. */
export interface KnownAnswers {
  readonly answers: Answers;
  readonly kept: readonly KeptAnswer[];
}

/**
 * Gives each metric with `everySeconds` that was not asked in this sync its kept answer. An answer
 * that failed is never replaced by a kept one: on doubt, the metric is missing. Each value gets the
 * time of its sample, or the time at which it was asked where its source gives none.
 */
export const knownAnswers = (
  metrics: readonly NativeMetric[],
  observed: Answers,
  {
    kept = [],
    nowMs,
  }: { readonly kept: readonly KeptAnswer[] | undefined; readonly nowMs: number },
): KnownAnswers => {
  const asking = metrics.flatMap((metric) => {
    const query = registeredQueryOf(metric.source);
    return query ? [{ metric, query, key: queryKey(query) }] : [];
  });
  if (asking.length === 0) return { answers: observed, kept: [] };
  const answers = new Map<QuestionKey, Answer<MeasuredSamples>>(observed);
  const next = new Map<number, KeptAnswer>();
  for (const { metric, query, key } of asking) {
    const id = idOf(key);
    const given = valuesIn(observed, key);
    if (given?.kind === "failed") continue;
    const fresh = given && { ...given, items: timed(query, given.items, nowMs) };
    const known = fresh ? keptOf(id, fresh, nowMs) : usable(kept, id, metric, nowMs);
    if (known === undefined) continue;
    answers.set(key, fresh ?? answerOf(known));
    if (metric.everyMs !== undefined) next.set(id, known);
  }
  return { answers, kept: [...next.values()] };
};

/**
 * The metrics whose sources answered slowly, in this sync or when the kept answer was asked for.
 * Every evaluation of a journal asks this, so that nothing is hashed where no answer was slow.
 */
export const answeredSlowly = (
  metrics: readonly NativeMetric[],
  observed: Answers,
  { kept, nowMs }: { readonly kept: readonly KeptAnswer[] | undefined; readonly nowMs: number },
): readonly SlowMetric[] => {
  const keptSlow = (kept ?? []).filter(({ slow }) => slow);
  return metrics.flatMap((metric, at) => {
    const query = registeredQueryOf(metric.source);
    if (query === undefined) return [];
    const key = queryKey(query);
    const given = valuesIn(observed, key);
    const slow = given
      ? slowOf(given)
      : keptSlow.length > 0 && usable(keptSlow, idOf(key), metric, nowMs)?.slow;
    return slow ? [{ metric: metric.name, at, ...slow }] : [];
  });
};

const slowOf = (answer: Answer<unknown>): SlowAnswer | undefined =>
  answer.kind === "answered" ? answer.slow : undefined;

const timed = (
  query: RegisteredQuery,
  items: readonly MetricValue[],
  nowMs: number,
): readonly MetricValue[] =>
  isDated(query) ? items : items.map((item) => ({ ...item, timestampMs: nowMs }));

const usable = (
  kept: readonly KeptAnswer[],
  id: number,
  metric: NativeMetric,
  nowMs: number,
): KeptAnswer | undefined =>
  metric.everyMs === undefined
    ? undefined
    : kept.find((answer) => answer.id === id && nowMs - answer.askedMs <= lastsMs(metric));

/** How long a kept answer may be used: an empty one has no sample whose age could be looked at. */
const lastsMs = ({ maxAgeMs, everyMs = 0 }: NativeMetric): number => maxAgeMs ?? everyMs;

/**
 * The question of a metric, where it is due. A sync comes some seconds earlier or later than its
 * period says.
 */
export const dueQuestionOf = (
  { source, everyMs }: NativeMetric,
  {
    kept = [],
    nowMs,
  }: { readonly kept: readonly KeptAnswer[] | undefined; readonly nowMs: number },
): RegisteredQuery | undefined => {
  const query = registeredQueryOf(source);
  if (query === undefined || everyMs === undefined) return query;
  const id = idOf(queryKey(query));
  const before = kept.find((answer) => answer.id === id);
  const sinceMs = before === undefined ? Number.POSITIVE_INFINITY : nowMs - before.askedMs;
  return sinceMs >= 0 && sinceMs < DUE_FROM * everyMs ? undefined : query;
};

/** Share of `everySeconds` from which on a question is asked again. */
const DUE_FROM = 0.9;

const keptOf = (
  id: number,
  { items: [item], slow }: { readonly items: readonly MetricValue[]; readonly slow?: SlowAnswer },
  nowMs: number,
): KeptAnswer => ({
  id,
  askedMs: nowMs,
  ...(item && { milli: item.milli.toString(), sampleMs: item.timestampMs }),
  ...(slow && { slow }),
});

const answerOf = ({ milli, sampleMs = 0, slow }: KeptAnswer): Answer<readonly MetricValue[]> => ({
  kind: "answered",
  items: milli === undefined ? [] : [{ milli: BigInt(milli), timestampMs: sampleMs }],
  ...(slow && { slow }),
});

/**
 * A number for a question, so that a page need not hold its text: FNV-1a in 52 bits. It is compared
 * with the questions of one autoscaler only.
 */
const idOf = (key: QuestionKey): number => {
  let id = 0xcbf2_9ce4_8422_2325n;
  for (const character of key)
    id = BigInt.asUintN(64, (id ^ BigInt(character.codePointAt(0) ?? 0)) * 0x100_0000_01b3n);
  return Number(id >> 12n);
};
