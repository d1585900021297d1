import {
  AWS_KINDS,
  type MetricSourceRecord,
  SOURCE_LIMITS,
} from "../../rules/model/metric-source.ts";
import { queryKey } from "../../rules/model/query.ts";
import { HOUR_MS } from "../../rules/model/time-text.ts";
import type { RegisteredQuery } from "../../rules/sources/source.ts";
import { monthlyDollars } from "../../rules/sources/kinds.ts";
import { weightOf } from "../../rules/sources/sources.ts";
import { type DueTime, overShare, type OverShare, roundOf } from "../turns/turns.ts";

/** An autoscaler that asks a source. */
export interface SourceAsker {
  /** What it is known by: its uid, or its name while it has none. */
  readonly key: string;
  readonly namespace: string;
  /** The questions that one sync asks. */
  readonly asked: readonly RegisteredQuery[];
  /** All of its questions, due or not; without a time a question is asked in each sync. */
  readonly uses: () => readonly { readonly query: RegisteredQuery; readonly everyMs?: number }[];
}

/**
 * The autoscalers for which a source is not asked, each with the reason in words: their namespace
 * asks for more than its share of the questions of a sync, or of the dollars of a month. The other
 * namespaces have all that they ask for.
 */
export const overSourceShare = (
  source: MetricSourceRecord,
  askers: readonly SourceAsker[],
  due: DueTime,
): ReadonlyMap<string, string> => {
  const sharing = {
    flowOf: ({ namespace }: SourceAsker) => namespace,
    keyOf: ({ key }: SourceAsker) => key,
  };
  const overQuestions = overShare(askers, {
    ...sharing,
    costsOf: ({ asked }) => new Map(asked.map((query) => [queryKey(query), weightOf(query)])),
    limit: source.maxMetrics,
    round: roundOf(due),
  });
  const limit = maxDollarsOf(source);
  const overDollars =
    limit === undefined
      ? new Map<SourceAsker, OverShare>()
      : overShare(askers, {
          ...sharing,
          costsOf: ({ uses }) =>
            new Map(
              uses().map((use) => [queryKey(use.query), dollarsOf(source, use, due.periodMs)]),
            ),
          limit,
          // A question that was not asked for a while is due at once. So turns that change with
          // each sync would ask more often than the rate that the dollars are counted with.
          round: roundOf({ dueMs: due.dueMs, periodMs: HOUR_MS }),
        });
  return new Map([
    ...[...overQuestions].map(
      ([asker, over]) => [asker.key, questionsWords(source, asker.namespace, over)] as const,
    ),
    ...[...overDollars].map(
      ([asker, over]) => [asker.key, dollarsWords(source, asker.namespace, over)] as const,
    ),
  ]);
};

/** The most that a partition may cost in a month; only services of AWS charge for questions. */
export const maxDollarsOf = ({ kind, maxDollars }: MetricSourceRecord): number | undefined =>
  AWS_KINDS.includes(kind) ? (maxDollars ?? SOURCE_LIMITS.maxDollars.default) : undefined;

const dollarsOf = (
  source: MetricSourceRecord,
  { query, everyMs = 0 }: ReturnType<SourceAsker["uses"]>[number],
  syncPeriodMs: number,
): number => monthlyDollars(query, source, Math.max(syncPeriodMs, everyMs) / 1_000);

/** The words have the figures of the own namespace only: its people read them. */
const questionsWords = (
  { maxMetrics }: MetricSourceRecord,
  namespace: string,
  { share, wanted }: OverShare,
): string =>
  `namespace "${namespace}" has ${Math.ceil(wanted)} different questions, and its share of the ${maxMetrics} of a sync (maxMetrics) is ${Math.floor(share)}; ask fewer metrics or less often (everySeconds), or let an administrator raise --max-metrics`;

const dollarsWords = (
  source: MetricSourceRecord,
  namespace: string,
  { share, wanted }: OverShare,
): string =>
  `the questions of namespace "${namespace}" cost $${wanted.toFixed(2)} a month by list prices, and its share of the $${maxDollarsOf(source)} of a partition (maxDollars) is $${share.toFixed(2)}; ask fewer metrics or less often (everySeconds), or let an administrator raise --max-dollars`;
