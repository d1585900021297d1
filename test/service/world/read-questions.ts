import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import limited from "p-limit";
import { expect } from "vitest";
import { viewHandler } from "../../../functions/view.ts";
import { METRICS_PATH, QUERY_PATHS } from "../../../lib/answers/api/paths.ts";
import { autoscalerName, namespace } from "../../../lib/rules/model/ids.ts";
import { closeDays } from "../../../lib/stack/store/history/event-calendar.ts";
import { insertEvents } from "../../../lib/stack/store/history/events.ts";
import { insertByStatement } from "../../../lib/stack/store/history/item.ts";
import type { Tables } from "../../../lib/stack/store/table/tables.ts";
import { REQUESTS_AT_ONCE } from "../../../lib/stack/store/table/wait-for-all.ts";
import type { EventCount } from "../../../lib/answers/views/event.ts";
import type { ClusterRows } from "../../../lib/answers/views/row.ts";
import { eventOf } from "../../api/world.ts";
import type { Engine } from "../../contracts/engines.ts";
import { around } from "../../contracts/faults.ts";
import { event } from "../../store/records.ts";
import { demandRules } from "../../sync/demand-rules.ts";
import { newWorld, type World } from "../../sync/world.ts";
import { DAY_MS } from "../../../lib/rules/model/time-text.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../../docs/speed.md"), "utf8");
/** Clusters, and autoscalers in each of them. */
export const SIZES = [
  [1, 100],
  [100, 100],
  [500, 20],
] as const;

type Item = Readonly<Record<string, AttributeValue>>;
export interface Fleet {
  readonly tables: Tables;
  readonly nowMs: number;
  readonly cluster: string;
  readonly clusters: number;
  readonly autoscalers: number;
}

const manifestOf = (name: string): string =>
  JSON.stringify({
    ...{
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name, namespace: "shop", labels: { app: name } },
    },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      minReplicas: 1,
      maxReplicas: 100,
    },
  });

/**
 * Scale events of thirteen months: one in each cluster on each of so many days. They are closed as
 * the syncs of those days do it.
 */
export const EVENT_DAYS_AGO = Array.from({ length: 13 }, (_, month) => 2 + 30 * month);

const withHistory = async ({ record, tables, nowMs }: World): Promise<void> => {
  const insert = insertByStatement(tables);
  const { name: cluster } = record;
  for (const [at, days] of EVENT_DAYS_AGO.entries()) {
    const atMs = nowMs - days * DAY_MS;
    const one = event({
      cluster,
      namespace: namespace("shop"),
      name: autoscalerName(`checkout-worker-${at}`),
      id: `uid-${cluster}:${at}`,
      atMs,
      settledMs: atMs,
    });
    await insertEvents(insert, [one]);
  }
};

const closed = async ({ record, tables, nowMs }: World): Promise<void> => {
  while ((await closeDays(tables, insertByStatement(tables), record.name, nowMs)).length > 0);
};

/**
 * One sync of each cluster, which writes summary and index. `isClosed`: the days of its events are
 * counted.
 */
export const builtFleet = async (
  engine: Engine,
  [clusters, each]: readonly [clusters: number, each: number],
  isClosed = true,
): Promise<Fleet> => {
  const workloads = Object.fromEntries(
    Array.from({ length: each }, (_, at) => [`checkout-worker-${at}`, 1 + (at % 40)]),
  );
  const worlds: World[] = [];
  for (let at = 0; at < clusters; at++) {
    const world = await newWorld(engine.client, engine.tables, workloads, {
      manifestOf,
      newUid: randomUUID,
    });
    const rules = demandRules(world.cluster);
    await world.sync(
      world.worker({
        rules: { ...rules, specOf: (manifest) => rules.specOf(JSON.parse(manifest).metadata.name) },
      }),
    );
    await withHistory(world);
    if (isClosed) await closed(world);
    worlds.push(world);
  }
  const [first] = worlds as [World, ...World[]];
  return {
    tables: first.tables,
    nowMs: first.nowMs,
    cluster: first.record.name,
    clusters,
    autoscalers: clusters * each,
  };
};

const UNIT_BYTES = 4_096;

const valueBytes = ({ S, N, B, M, L }: AttributeValue): number =>
  S?.length ??
  N?.length ??
  B?.length ??
  (M ? 3 + bytesOf(M) : L ? L.reduce((sum, value) => sum + 1 + valueBytes(value), 3) : 1);
const bytesOf = (item: Item): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + name.length + valueBytes(value), 0);
const unitsOf = (bytes: number, consistent: boolean): number =>
  Math.max(1, Math.ceil(bytes / UNIT_BYTES)) / (consistent ? 1 : 2);

interface Input {
  readonly ConsistentRead?: boolean;
  readonly ExclusiveStartKey?: object;
  readonly Limit?: number;
  readonly RequestItems?: Readonly<
    Record<string, { readonly ConsistentRead?: boolean; readonly Keys?: readonly unknown[] }>
  >;
}
interface Answer {
  readonly Item?: Item;
  readonly Items?: readonly Item[];
  readonly Responses?: Readonly<Record<string, readonly Item[]>>;
}

/** Units of an answer. A batch is charged item by item, and for each key without an item. */
const unitsOfAnswer = (input: Input, answer: Answer): number => {
  if (input.RequestItems) {
    return Object.entries(input.RequestItems).reduce(
      (sum, [table, { ConsistentRead = false, Keys = [] }]) => {
        const items = answer.Responses?.[table] ?? [];
        const found = items.reduce(
          (units, item) => units + unitsOf(bytesOf(item), ConsistentRead),
          0,
        );
        return sum + found + (Keys.length - items.length) * unitsOf(0, ConsistentRead);
      },
      0,
    );
  }
  const bytes = (answer.Items ?? (answer.Item ? [answer.Item] : [])).reduce(
    (sum, item) => sum + bytesOf(item),
    0,
  );
  return unitsOf(bytes, input.ConsistentRead === true);
};

/**
 * What an answer takes: requests over HTTP, requests of the tables, how many of these in a row
 * within one HTTP request, read units, and KiB of the compressed answer.
 */
type Count = readonly [http: number, requests: number, depth: number, units: number, kib: number];

interface Question {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly status?: number;
  readonly etag?: string;
}

interface HttpAnswer {
  readonly items: readonly unknown[];
  readonly text: string;
  readonly etag: string | undefined;
}

/**
 * An environment of the function `view` that has read nothing yet; each call counts what a question
 * asks of the tables, page by page. The engine gives 50 items to an answer of a query, and DynamoDB
 * a megabyte, so that a request that only goes on is not counted, but for its units; one that asked
 * for so many items is. As many requests wait at once as the SDK has sockets.
 */
export const environmentOf = ({ tables, nowMs }: Fleet) => {
  let count = { requests: 0, units: 0, done: 0, depth: 0 };
  const sockets = limited(REQUESTS_AT_ONCE);
  const client = around(tables.client, (_command, send, sent) =>
    sockets(() => counted(send, sent as Input)),
  );
  const counted = async (send: () => Promise<unknown>, input: Input): Promise<Answer> => {
    const isFirst = input.ExclusiveStartKey === undefined || input.Limit !== undefined;
    const own = count.done + 1;
    if (isFirst)
      count = { ...count, requests: count.requests + 1, depth: Math.max(count.depth, own) };
    // All that wait are sent before one is answered.
    await new Promise((resolve) => setImmediate(resolve));
    const answer = (await send()) as Answer;
    count.units += unitsOfAnswer(input, answer);
    if (isFirst) count.done = Math.max(count.done, own);
    return answer;
  };
  const handler = viewHandler({
    tables: { ...tables, client },
    clock: () => nowMs,
    reporter: { line: () => {} },
  });
  const once = async (
    { path, query = {}, status = 200, etag }: Question,
    page: string | undefined,
  ) => {
    const headers = {
      "accept-encoding": "gzip",
      ...(etag !== undefined && { "if-none-match": etag }),
    };
    const parameters = new URLSearchParams({
      ...query,
      ...(page !== undefined && { page }),
    }).toString();
    const result = await handler(eventOf({ path, query: parameters, headers }));
    if (typeof result === "string" || result.statusCode !== status)
      throw new Error(`"${path}" has an unexpected answer: ${JSON.stringify(result)}`);
    const bytes = Buffer.from(result.body ?? "", result.isBase64Encoded ? "base64" : "utf8");
    const text = (result.isBase64Encoded ? gunzipSync(bytes) : bytes).toString("utf8");
    return {
      text,
      bytes: bytes.length,
      etag: result.headers?.["etag"]?.toString(),
      json: text.startsWith("{") ? JSON.parse(text) : {},
    };
  };
  return async (
    question: Question,
  ): Promise<{ readonly count: Count; readonly answer: HttpAnswer }> => {
    count = { requests: 0, units: 0, done: 0, depth: 0 };
    let [http, bytes, depth, text] = [0, 0, 0, ""];
    let etag: string | undefined;
    const items: unknown[] = [];
    for (let page: string | undefined, goesOn = true; goesOn; goesOn = page !== undefined) {
      count = { ...count, done: 0, depth: 0 };
      const got = await once(question, page);
      http += 1;
      bytes += got.bytes;
      depth = Math.max(depth, count.depth);
      ({ text, etag } = got);
      items.push(...((got.json as { readonly items?: readonly unknown[] }).items ?? []));
      page = (got.json as { readonly items?: unknown; readonly next?: string }).items
        ? (got.json as { readonly next?: string }).next
        : undefined;
    }
    return {
      count: [http, count.requests, depth, Math.ceil(count.units), Math.ceil(bytes / 1_024)],
      answer: { items, text, etag },
    };
  };
};

interface Asked {
  readonly question: (fleet: Fleet, before: HttpAnswer | undefined) => Question;
  /** The environment has answered this question before. */
  readonly isWarm?: true;
  readonly check?: (answer: HttpAnswer, fleet: Fleet) => void;
}

const marksOf = ({ items }: HttpAnswer): string =>
  (items as readonly ClusterRows[])
    .flatMap(({ partitions }) => partitions.map(({ mark }) => mark ?? ""))
    .join("");
const one = ({ cluster }: Fleet): { readonly name: string } => ({
  name: `${cluster}/shop/checkout-worker-7`,
});
const hasAllRows = ({ items }: HttpAnswer, { autoscalers }: Fleet): void =>
  expect((items as readonly ClusterRows[]).reduce((sum, { rows }) => sum + rows.length, 0)).toBe(
    autoscalers,
  );
const hasAllSeries = ({ text }: HttpAnswer, { autoscalers }: Fleet): void =>
  expect(text.match(/^tidemark_current_replicas\{/gm)).toHaveLength(autoscalers);
const aDayAgo = ({ nowMs }: Fleet): string => new Date(nowMs - 86_400_000).toISOString();
const halfAnHourAgo = ({ nowMs }: Fleet): string => new Date(nowMs - 1_800_000).toISOString();
const SERIES = { path: METRICS_PATH };
const ROWS = { path: QUERY_PATHS.rows };

export const ANSWERS: Readonly<Record<string, Asked>> = {
  "`get`, cold": { question: () => ROWS, check: hasAllRows },
  "`get`, warm": { question: () => ROWS, isWarm: true, check: hasAllRows },
  "`get -w`, nothing changed": {
    question: (_fleet, before) => ({ ...ROWS, query: { known: before ? marksOf(before) : "" } }),
    isWarm: true,
    check: ({ items }) =>
      expect((items as readonly ClusterRows[]).every(({ rows }) => rows.length === 0)).toBe(true),
  },
  "`get --fields state,targets`": {
    question: () => ({ ...ROWS, query: { fields: "state,targets" } }),
    check: hasAllRows,
  },
  "`get -o name`, completion": {
    question: () => ({ ...ROWS, query: { fields: "kind" } }),
    check: hasAllRows,
  },
  "`get -l app=checkout-worker-7`": {
    question: () => ({ ...ROWS, query: { selector: "app=checkout-worker-7" } }),
  },
  "`get -o json`": {
    question: () => ({ path: QUERY_PATHS.autoscalers }),
    check: ({ items }, { autoscalers }) => expect(items).toHaveLength(autoscalers),
  },
  "`status`": { question: () => ({ path: QUERY_PATHS.status }) },
  "`cluster list`": { question: () => ({ path: QUERY_PATHS.clusters }) },
  "`cluster list NAME`": {
    question: ({ cluster }) => ({ path: QUERY_PATHS.cluster, query: { name: cluster } }),
  },
  "`partition describe`": {
    question: ({ cluster }) => ({ path: QUERY_PATHS.partition, query: { name: cluster } }),
  },
  "`/metrics`, cold": { question: () => SERIES, check: hasAllSeries },
  "`/metrics`, warm": { question: () => SERIES, isWarm: true, check: hasAllSeries },
  "`series` as JSON": { question: () => ({ path: QUERY_PATHS.series }) },
  "`get NAME`, unknown, cold": {
    question: () => ({ path: QUERY_PATHS.get, query: { name: "nothing" }, status: 404 }),
  },
  "`get CLUSTER/NAMESPACE/NAME`": {
    question: (fleet) => ({ path: QUERY_PATHS.get, query: one(fleet) }),
  },
  "`describe`": { question: (fleet) => ({ path: QUERY_PATHS.describe, query: one(fleet) }) },
  "`explain`": { question: (fleet) => ({ path: QUERY_PATHS.explain, query: one(fleet) }) },
  "`history`, 2 h": { question: (fleet) => ({ path: QUERY_PATHS.history, query: one(fleet) }) },
  "`history`, the last 30 minutes of `describe`": {
    question: (fleet) => ({
      path: QUERY_PATHS.history,
      query: { ...one(fleet), since: halfAnHourAgo(fleet) },
    }),
  },
  "`shadow`, 1 day": { question: (fleet) => ({ path: QUERY_PATHS.shadow, query: one(fleet) }) },
  "`events NAME`, 13 months": {
    question: (fleet) => ({ path: QUERY_PATHS.events, query: one(fleet) }),
  },
  "`events --all`, 1 day": {
    question: (fleet) => ({ path: QUERY_PATHS.events, query: { since: aDayAgo(fleet) } }),
  },
  "`events --all`, 13 months": {
    question: () => ({ path: QUERY_PATHS.events }),
    check: ({ items }, { clusters }) =>
      expect(items).toHaveLength(EVENT_DAYS_AGO.length * clusters),
  },
  "`events --by month`, 13 months": {
    question: () => ({ path: QUERY_PATHS.eventCounts }),
    check: ({ items }, { clusters }) =>
      expect((items as readonly EventCount[]).reduce((sum, { ups }) => sum + ups, 0)).toBe(
        EVENT_DAYS_AGO.length * clusters,
      ),
  },
  "`events NAME` of one that was deleted": {
    question: () => ({ path: QUERY_PATHS.events, query: { name: "nothing" }, status: 404 }),
  },
  "`changes -A`": {
    question: (fleet) => ({ path: QUERY_PATHS.changes, query: { since: aDayAgo(fleet) } }),
  },
  "`override list`": {
    question: () => ({ path: QUERY_PATHS.overrides, query: { expired: "no" } }),
  },
  "`override list --all`": { question: () => ({ path: QUERY_PATHS.overrides }) },
  "`calendar list`": { question: () => ({ path: QUERY_PATHS.calendars }) },
  "`source list`": { question: () => ({ path: QUERY_PATHS.sources }) },
  "`fleet status`": { question: () => ({ path: QUERY_PATHS.fleet }) },
  "`access list`": { question: () => ({ path: QUERY_PATHS.access }) },
  "`auth can-i`": {
    question: ({ cluster }) => ({ path: QUERY_PATHS.canI, query: { verb: "view", cluster } }),
  },
};

/** The budgets of the page, by answer: for each size the five counts. */
export const BUDGETS = new Map(
  (PAGE.split("<!-- reads -->")[1]?.split("<!-- end of reads -->")[0] ?? "")
    .trim()
    .split("\n")
    .slice(2)
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .map(
      ([, answer = "", ...cells]) =>
        [
          answer,
          cells
            .slice(0, SIZES.length)
            .map((cell) => cell.split(", ").map((number) => Number(number.replace(",", "")))),
        ] as const,
    ),
);

/** A caller waits for each request that depends on another one. */
export const DEPTH_MAX = 8;

/**
 * Asks a question of a fleet, and compares what it takes with the page. Throws where there is no
 * such answer.
 */
export const holdsBudget = async (
  fleet: Fleet | undefined,
  answer: string,
  at: number,
): Promise<void> => {
  const asked = ANSWERS[answer];
  const budget = BUDGETS.get(answer)?.[at] ?? [];
  if (!fleet || !asked) throw new Error("there is no such answer");
  const measure = environmentOf(fleet);
  const before = asked.isWarm
    ? (await measure({ path: asked.question(fleet, undefined).path })).answer
    : undefined;
  const { count, answer: got } = await measure(asked.question(fleet, before));
  asked.check?.(got, fleet);
  if (process.env["READ_BUDGETS"])
    process.stdout.write(`BUDGET ${answer} ${fleet.clusters} ${count.join(", ")}\n`);
  expect(count[2], `${answer}: ${count}`).toBeLessThanOrEqual(DEPTH_MAX);
  for (const [index, value] of count.entries()) {
    expect(value, `${answer}: ${count}`).toBeLessThanOrEqual(budget[index] ?? 0);
    expect(budget[index], `${answer}: ${count}`).toBeLessThanOrEqual(2 * value);
  }
};
