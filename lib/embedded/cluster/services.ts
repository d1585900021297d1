import type { SimulatedWorkload } from "./simulation.ts";
import { waitingAt, openSegment } from "./simulated-workload.ts";
import { isReady } from "./simulated-pod.ts";
import { decode, type ServedRequest } from "./api-request.ts";
import { methodNotAllowed, notFound } from "./status.ts";
import { isDark, lastScrapeMs, RESOLUTION_MS } from "./reading.ts";
import { demandAt } from "../traces/trace.ts";

/**
 * The load of the workloads of one name as a queue of messages: what was asked for and not served
 * yet waits in it.
 */
export interface RecordedQueue {
  /** Whole messages that wait to be received. */
  readonly waiting: number;
  /**
   * Messages that pods have received and not deleted yet: one for each ready pod, while there are
   * any.
   */
  readonly inFlight: number;
}

/** The queue that is named as the workloads; undefined where none has the name. */
export const recordedQueue = (
  workloads: readonly SimulatedWorkload[],
  name: string,
  nowMs: number,
): RecordedQueue | undefined => {
  const named = workloads.filter(({ model }) => model.name === name);
  if (named.length === 0) return undefined;
  const each = named.map(({ model, state, live }) => {
    const { demand } = openSegment(state);
    const waiting = waitingAt(model, state, nowMs);
    const ready = live.filter((pod) => isReady(pod, nowMs)).length;
    return { waiting: Math.ceil(waiting), inFlight: Math.min(ready, Math.ceil(demand + waiting)) };
  });
  return each.reduce((sum, one) => ({
    waiting: sum.waiting + one.waiting,
    inFlight: sum.inFlight + one.inFlight,
  }));
};

/** The whole answer of a service of the cluster, which its API server passes on as it is. */
export class ServiceReply {
  readonly code: number;
  readonly body: unknown;

  constructor(code: number, body: unknown) {
    this.code = code;
    this.body = body;
  }
}

const PROXY = /^\/api\/v1\/namespaces\/([^/]+)\/services\/([^/]+)\/proxy(\/.*)?$/;
const QUEUE = /^\/queues\/([\w.-]+)$/;
const NO_PAGE = new ServiceReply(404, "404 page not found\n");

type Service = (path: string, query: URLSearchParams, scraped: Scraped) => ServiceReply;

const prometheus: Service = (path, query, scraped) =>
  path === "/api/v1/query" ? instantQuery(query.get("query") ?? "", scraped) : NO_PAGE;

const jobs: Service = (path, _query, { workloads, nowMs }) => {
  const queue = recordedQueue(workloads, QUEUE.exec(path)?.[1] ?? "", nowMs);
  return queue === undefined ? NO_PAGE : new ServiceReply(200, queue);
};

/** The services of a simulated cluster, as its API server names them. */
const SERVICES: Readonly<Record<string, Service>> = {
  "monitoring/http:prometheus:9090": prometheus,
  "monitoring/http:jobs:8080": jobs,
};

/** Answers a GET that is passed on to a service of the cluster; undefined for every other path. */
export const serviceAnswer = (
  { method, path, query }: ServedRequest,
  scraped: Scraped,
): ServiceReply | undefined => {
  const [whole, namespace = "", name = "", rest = "/"] = PROXY.exec(path) ?? [];
  if (whole === undefined) return undefined;
  if (method !== "GET") throw methodNotAllowed();
  const named = decode(name);
  const service = Object.entries(SERVICES).find(
    ([place]) => place === `${decode(namespace)}/${named}`,
  )?.[1];
  if (service === undefined)
    throw notFound({ group: "", resource: "services" }, named.split(":")[1] ?? named);
  return service(rest, query, scraped);
};

/** The recorded load as a Prometheus sees it. */
interface Scraped {
  readonly workloads: readonly SimulatedWorkload[];
  readonly nowMs: number;
}

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

type Vector = readonly Series[];

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
const KNOWN =
  "it knows requests_waiting, requests_per_second, rate(http_requests_total[2m]) and series of exporters, also in sum, avg, min, max or count";

/** The query of a consumer group's lag that the conversion of a trigger of Kafka writes. */
const LAG = /^clamp_max\(sum\((.+)\), scalar\(count\((.+)\) or vector\(0\)\) \* (\d+(?:\.\d+)?)\)$/;
const PARTITIONS = 24;

/**
 * Series of well-known exporters, of which each counts the queue of the name in one of its labels:
 * the partitions of a topic, a queue, a list.
 */
const EXPORTED: Readonly<Record<string, (name: string) => readonly Series["metric"][]>> = {
  kafka_consumergroup_lag: (name) =>
    Array.from({ length: PARTITIONS }, (_, at) => ({
      consumergroup: name,
      topic: name,
      partition: String(at),
    })),
  rabbitmq_queue_messages: (queue) => [{ queue, vhost: "/" }],
  rabbitmq_queue_messages_ready: (queue) => [{ queue, vhost: "/" }],
  redis_key_size: (key) => [{ key, db: "db0" }],
};

/** Messages are whole, and so are the messages of each partition. */
const exported = (name: string, labels: string, { workloads, nowMs }: Scraped): Vector => {
  const isMatch = matcherOf(labels);
  const scrapedMs = lastScrapeMs(nowMs);
  return workloads
    .filter(({ model }) => !isDark(model, scrapedMs))
    .flatMap((workload) => {
      const waiting = recordedQueue([workload], workload.model.name, nowMs)?.waiting ?? 0;
      const series = EXPORTED[name]?.(workload.model.name) ?? [];
      return series.map((metric, at) => ({
        metric: { __name__: name, ...metric },
        value: Math.floor((waiting + at) / series.length),
      }));
    })
    .filter(({ metric }) => isMatch(metric));
};

class QueryFault extends Error {}

/**
 * Answers an instant query over the recorded load, in the form of
 * https://prometheus.io/docs/prometheus/latest/querying/api/. It knows a part of PromQL: one metric
 * with matchers, a rate, and an aggregation of all. Any other query is refused as Prometheus
 * refuses one that it cannot read. Times are of the virtual clock.
 */
const instantQuery = (query: string, scraped: Scraped): ServiceReply => {
  const seconds = scraped.nowMs / 1_000;
  const success = (resultType: string, result: unknown) =>
    new ServiceReply(200, { status: "success", data: { resultType, result } });
  try {
    if (NUMBER.test(query.trim())) return success("scalar", [seconds, String(Number(query))]);
    return success(
      "vector",
      vectorOf(query.trim(), scraped).map(({ metric, value }) => ({
        metric,
        value: [seconds, String(value)],
      })),
    );
  } catch (error) {
    if (!(error instanceof QueryFault)) throw error;
    return new ServiceReply(400, { status: "error", errorType: "bad_data", error: error.message });
  }
};

/** The one value of an instant query; undefined where the run cannot read the query. */
export const queriedValue = (
  query: string,
  scraped: Scraped,
  whenEmpty: number,
): number | undefined => {
  try {
    const series = vectorOf(query.trim(), scraped);
    return series.length > 1 ? undefined : (series[0]?.value ?? whenEmpty);
  } catch (error) {
    if (error instanceof QueryFault) return undefined;
    throw error;
  }
};

const vectorOf = (query: string, scraped: Scraped): Vector => {
  const [, lags, partitions, target] = LAG.exec(query) ?? [];
  if (lags !== undefined && partitions !== undefined) {
    const most = vectorOf(partitions.replace(/ > 0$/, ""), scraped).length * Number(target);
    return vectorOf(`sum(${lags})`, scraped).map(({ metric, value }) => ({
      metric,
      value: Math.min(value, most),
    }));
  }
  const [, name = "", inside = ""] = CALL.exec(query) ?? [];
  const aggregate = Object.hasOwn(AGGREGATIONS, name) ? AGGREGATIONS[name] : undefined;
  if (aggregate) {
    const values = vectorOf(inside.trim(), scraped).map(({ value }) => value);
    return values.length === 0 ? [] : [{ metric: {}, value: aggregate(values) }];
  }
  if (name === "vector" && NUMBER.test(inside.trim()))
    return [{ metric: {}, value: Number(inside) }];
  if (name === "rate") return selected(inside.trim(), scraped, "rate");
  return selected(query, scraped, "now");
};

const selected = (query: string, { workloads, nowMs }: Scraped, asked: "rate" | "now"): Vector => {
  const [, name = "", labels = "", count, unit = ""] = SELECTOR.exec(query) ?? [];
  if (Object.hasOwn(EXPORTED, name) && asked === "now" && count === undefined)
    return exported(name, labels, { workloads, nowMs });
  const windowMs = count === undefined ? undefined : Number(count) * (UNIT_MS[unit] ?? 0);
  const read = readerOf(name, asked, windowMs);
  const isMatch = matcherOf(labels);
  const scrapedMs = lastScrapeMs(nowMs);
  return workloads.flatMap((workload) => {
    const { namespace, name: deployment } = workload.model;
    const metric = { app: deployment, deployment, namespace };
    if (!isMatch(metric) || isDark(workload.model, scrapedMs)) return [];
    const value = read(workload, nowMs);
    return value === undefined
      ? []
      : [{ metric: asked === "rate" ? metric : { __name__: name, ...metric }, value }];
  });
};

type ReadSeries = (workload: SimulatedWorkload, nowMs: number) => number | undefined;

const readerOf = (
  name: string,
  asked: "rate" | "now",
  windowMs: number | undefined,
): ReadSeries => {
  if (
    name === "http_requests_total" &&
    asked === "rate" &&
    windowMs !== undefined &&
    windowMs <= RANGE_MAX_MS
  )
    return (workload, nowMs) => rateOf(workload, nowMs, windowMs);
  if (asked === "now" && windowMs === undefined) {
    if (name === "requests_waiting")
      return (workload, nowMs) => recordedQueue([workload], workload.model.name, nowMs)?.waiting;
    if (name === "requests_per_second")
      return ({ model, state }) => openSegment(state).demand / (model.trace.stepMs / 1_000);
  }
  throw new QueryFault(`the embedded run cannot read this query: ${KNOWN}`);
};

/**
 * Requests per second over the scrapes of the window; undefined with fewer than two, as in
 * Prometheus.
 */
const rateOf = (
  { model }: SimulatedWorkload,
  nowMs: number,
  windowMs: number,
): number | undefined => {
  const perSecond: number[] = [];
  for (let atMs = lastScrapeMs(nowMs); atMs > nowMs - windowMs; atMs -= RESOLUTION_MS) {
    if (isDark(model, atMs)) continue;
    perSecond.push(
      demandAt(model.trace, atMs - model.startMs + model.traceOffsetMs).value /
        (model.trace.stepMs / 1_000),
    );
  }
  return perSecond.length < 2
    ? undefined
    : perSecond.reduce((sum, value) => sum + value, 0) / perSecond.length;
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
      const matches = (value: string): boolean =>
        names.some((name) => name === value || name === ".+" || name === ".*");
      return (metric: Readonly<Record<string, string>>) =>
        matches(metric[label] ?? "") !== operator.startsWith("!");
    });
  return (metric) => matchers.every((isMatch) => isMatch(metric));
};
