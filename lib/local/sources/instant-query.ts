import { isDark, lastScrapeMs, RESOLUTION_MS } from "../cluster/scrape.ts";
import { openSegment } from "../cluster/simulated-workload.ts";
import type { SimulatedWorkload } from "../cluster/simulation.ts";
import { demandAt } from "../traces/trace.ts";
import { recordedQueue } from "./recorded-queue.ts";

/** The recorded load as a Prometheus sees it. */
export interface Scraped {
  readonly workloads: readonly SimulatedWorkload[];
  readonly nowMs: number;
}

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What the query API of a Prometheus answers, with its status. */
export interface QueryAnswer {
  readonly code: number;
  readonly body: object;
}

const AGGREGATIONS: Readonly<Record<string, (values: readonly number[]) => number>> = {
  sum: (values) => values.reduce((sum, value) => sum + value, 0),
  avg: (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
  count: (values) => values.length,
};

const NUMBER = /^[+-]?\d+(?:\.\d+)?$/;
const CALL = /^(\w+)\s*\(([\s\S]*)\)$/;
const SELECTOR = /^([a-zA-Z_:][\w:]*)\s*(?:\{([^{}]*)\})?\s*(?:\[(\d+)([smh])\])?$/;
const MATCHER = /^\s*(\w+)\s*(=~|!~|=|!=)\s*"((?:[^"\\]|\\.)*)"\s*$/;
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
const RANGE_MAX_MS = 3_600_000;

/** Short, because 200 characters of an error are shown. */
const KNOWN = "it knows requests_waiting, requests_per_second and rate(http_requests_total[2m]), also in sum, avg, min, max or count";

class QueryFault extends Error {}

/**
 * Answers an instant query over the recorded load, in the form of https://prometheus.io/docs/prometheus/latest/querying/api/. It knows a part of PromQL: one metric with matchers, a rate, and
 * an aggregation of all. Any other query is refused as Prometheus refuses one that it cannot read. Times are of the virtual clock.
 */
export const instantQuery = (query: string, scraped: Scraped): QueryAnswer => {
  const seconds = scraped.nowMs / 1_000;
  const success = (resultType: string, result: unknown): QueryAnswer => ({ code: 200, body: { status: "success", data: { resultType, result } } });
  try {
    if (NUMBER.test(query.trim())) return success("scalar", [seconds, String(Number(query))]);
    return success(
      "vector",
      vectorOf(query.trim(), scraped).map(({ metric, value }) => ({ metric, value: [seconds, String(value)] })),
    );
  } catch (error) {
    if (!(error instanceof QueryFault)) throw error;
    return { code: 400, body: { status: "error", errorType: "bad_data", error: error.message } };
  }
};

const vectorOf = (query: string, scraped: Scraped): readonly Series[] => {
  const [, name = "", inside = ""] = CALL.exec(query) ?? [];
  const aggregate = Object.hasOwn(AGGREGATIONS, name) ? AGGREGATIONS[name] : undefined;
  if (aggregate) {
    const values = vectorOf(inside.trim(), scraped).map(({ value }) => value);
    return values.length === 0 ? [] : [{ metric: {}, value: aggregate(values) }];
  }
  if (name === "vector" && NUMBER.test(inside.trim())) return [{ metric: {}, value: Number(inside) }];
  if (name === "rate") return selected(inside.trim(), scraped, "rate");
  return selected(query, scraped, "now");
};

const selected = (text: string, { workloads, nowMs }: Scraped, asked: "rate" | "now"): readonly Series[] => {
  const [, name = "", labels = "", count, unit = ""] = SELECTOR.exec(text) ?? [];
  const windowMs = count === undefined ? undefined : Number(count) * (UNIT_MS[unit] ?? 0);
  const read = readerOf(name, asked, windowMs);
  const isMatch = matcherOf(labels);
  const scrapedMs = lastScrapeMs(nowMs);
  return workloads.flatMap((workload) => {
    const { namespace, name: deployment } = workload.model;
    const metric = { app: deployment, deployment, namespace };
    if (!isMatch(metric) || isDark(workload.model, scrapedMs)) return [];
    const value = read(workload, nowMs);
    return value === undefined ? [] : [{ metric: asked === "rate" ? metric : { __name__: name, ...metric }, value }];
  });
};

type ReadSeries = (workload: SimulatedWorkload, nowMs: number) => number | undefined;

const readerOf = (name: string, asked: "rate" | "now", windowMs: number | undefined): ReadSeries => {
  if (name === "http_requests_total" && asked === "rate" && windowMs !== undefined && windowMs <= RANGE_MAX_MS)
    return (workload, nowMs) => rateOf(workload, nowMs, windowMs);
  if (asked === "now" && windowMs === undefined) {
    if (name === "requests_waiting") return (workload, nowMs) => recordedQueue([workload], workload.model.name, nowMs)?.waiting;
    if (name === "requests_per_second") return ({ model, state }) => openSegment(state).demand / (model.trace.stepMs / 1_000);
  }
  throw new QueryFault(`the embedded run cannot read this query: ${KNOWN}`);
};

/** Requests per second over the scrapes of the window; undefined with fewer than two, as in Prometheus. */
const rateOf = ({ model }: SimulatedWorkload, nowMs: number, windowMs: number): number | undefined => {
  const perSecond: number[] = [];
  for (let atMs = lastScrapeMs(nowMs); atMs > nowMs - windowMs; atMs -= RESOLUTION_MS) {
    if (isDark(model, atMs)) continue;
    perSecond.push(demandAt(model.trace, atMs - model.startMs + model.traceOffsetMs).value / (model.trace.stepMs / 1_000));
  }
  return perSecond.length < 2 ? undefined : perSecond.reduce((sum, value) => sum + value, 0) / perSecond.length;
};

const matcherOf = (labels: string): ((metric: Readonly<Record<string, string>>) => boolean) => {
  const matchers = labels
    .split(",")
    .filter((part) => part.trim() !== "")
    .map((part) => {
      const [, label = "", operator = "", wanted = ""] = MATCHER.exec(part) ?? [];
      if (label === "") throw new QueryFault(`a matcher cannot be read: ${KNOWN}`);
      // A regular expression of alternatives is as much as the names of workloads need.
      const names = operator.endsWith("~") ? wanted.split("|") : [wanted];
      const matches = (value: string): boolean => names.some((name) => name === value || name === ".+" || name === ".*");
      return (metric: Readonly<Record<string, string>>) => matches(metric[label] ?? "") !== operator.startsWith("!");
    });
  return (metric) => matchers.every((isMatch) => isMatch(metric));
};
