import type { MetricSourceRecord } from "../../rules/model/metric-source.ts";
import type { RegisteredQuery } from "../../rules/sources/source.ts";
import { KINDS, monthlyDollars } from "../../rules/sources/kinds.ts";
import { refusalOf } from "../../rules/sources/sources.ts";

/** A metric with its question. Without a time it is asked in each sync. */
interface PricedUse {
  readonly metric: string;
  readonly query: RegisteredQuery;
  readonly everyMs?: number;
}

/** What AWS takes a month for the metrics of an autoscaler, by list prices. */
export interface Price {
  readonly dollars: number;
  readonly words: string;
}

/**
 * The price of the questions of one autoscaler; undefined where they cost nothing. `sourceOf` gives
 * the source of a question where it may be asked.
 */
export const priceOf = <Use extends PricedUse>(
  uses: readonly Use[],
  syncPeriodMs: number,
  sourceOf: (use: Use) => MetricSourceRecord | undefined,
): Price | undefined => {
  const priced = uses.flatMap((use) => {
    const source = sourceOf(use);
    if (source === undefined || refusalOf(use.query, source)) return [];
    const everySeconds = Math.max(syncPeriodMs, use.everyMs ?? 0) / 1_000;
    const dollars = monthlyDollars(use.query, source, everySeconds);
    const most = KINDS[source.kind].aws?.isMost ? "at most " : "";
    const words = `${most}${dollarsText(dollars)} a month for "${use.metric}", asked every ${everySeconds} s`;
    return dollars > 0 ? [{ dollars, words }] : [];
  });
  if (priced.length === 0) return undefined;
  const all = priced.map(({ words }) => words).join(", and ");
  return {
    dollars: priced.reduce((sum, { dollars }) => sum + dollars, 0),
    words: `AWS takes some ${all} (list prices; everySeconds asks less often)`,
  };
};

const dollarsText = (amount: number): string => `$${amount < 0.01 ? "0.01" : amount.toFixed(2)}`;
