import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openQueries } from "../../lib/service/open.ts";
import type { QueryService } from "../../lib/service/service.ts";
import { toArray } from "../../lib/service/to-array.ts";
import type { Tables } from "../../lib/store/table/tables.ts";
import type { ClusterRows } from "../../lib/service/views/row-view.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { demandRules } from "../sync/demand-rules.ts";
import { newWorld, type World } from "../sync/world.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../docs/speed.md"), "utf8");
const AUTOSCALERS = 100;
const SIZES = [1, 100] as const;

type Item = Readonly<Record<string, AttributeValue>>;
interface Fleet {
  readonly tables: Tables;
  readonly nowMs: number;
  readonly cluster: string;
  readonly clusters: number;
}

const engines: Engine[] = [];
const fleets = new Map<number, Fleet>();

const manifestOf = (name: string): string =>
  JSON.stringify({
    ...{ apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", metadata: { name, namespace: "shop", labels: { app: name } } },
    spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name }, minReplicas: 1, maxReplicas: 100 },
  });

/** One sync of each cluster, which writes summary and index. */
const builtFleet = async (clusters: number): Promise<Fleet> => {
  const engine = await startMemory();
  engines.push(engine);
  const workloads = Object.fromEntries(Array.from({ length: AUTOSCALERS }, (_, at) => [`checkout-worker-${at}`, 1 + (at % 40)]));
  const worlds: World[] = [];
  for (let at = 0; at < clusters; at++) {
    const world = await newWorld(engine.client, engine.tables, workloads, { manifestOf, newUid: randomUUID });
    const rules = demandRules(world.cluster);
    await world.sync(world.worker({ rules: { ...rules, specOf: (manifest) => rules.specOf(JSON.parse(manifest).metadata.name) } }));
    worlds.push(world);
  }
  const [first] = worlds as [World, ...World[]];
  return { tables: first.tables, nowMs: first.nowMs, cluster: first.record.name, clusters };
};

beforeAll(async () => {
  for (const clusters of SIZES) fleets.set(clusters, await builtFleet(clusters));
}, 120_000);
afterAll(async () => {
  for (const engine of engines) await engine.close();
});

const UNIT_BYTES = 4_096;

const valueBytes = ({ S, N, B, M, L }: AttributeValue): number =>
  S?.length ?? N?.length ?? B?.length ?? (M ? 3 + bytesOf(M) : L ? L.reduce((sum, value) => sum + 1 + valueBytes(value), 3) : 1);
const bytesOf = (item: Item): number => Object.entries(item).reduce((sum, [name, value]) => sum + name.length + valueBytes(value), 0);
const unitsOf = (bytes: number, consistent: boolean): number => Math.max(1, Math.ceil(bytes / UNIT_BYTES)) / (consistent ? 1 : 2);

interface Input {
  readonly ConsistentRead?: boolean;
  readonly ExclusiveStartKey?: object;
  readonly RequestItems?: Readonly<Record<string, { readonly ConsistentRead?: boolean; readonly Keys?: readonly unknown[] }>>;
}
interface Answer {
  readonly Item?: Item;
  readonly Items?: readonly Item[];
  readonly Responses?: Readonly<Record<string, readonly Item[]>>;
}

/** Units of an answer. A batch is charged item by item, and for each key without an item. */
const unitsOfAnswer = (input: Input, answer: Answer): number => {
  if (input.RequestItems) {
    return Object.entries(input.RequestItems).reduce((sum, [table, { ConsistentRead = false, Keys = [] }]) => {
      const items = answer.Responses?.[table] ?? [];
      const found = items.reduce((units, item) => units + unitsOf(bytesOf(item), ConsistentRead), 0);
      return sum + found + (Keys.length - items.length) * unitsOf(0, ConsistentRead);
    }, 0);
  }
  const bytes = (answer.Items ?? (answer.Item ? [answer.Item] : [])).reduce((sum, item) => sum + bytesOf(item), 0);
  return unitsOf(bytes, input.ConsistentRead === true);
};

/**
 * An environment that has read nothing yet; each call counts what a question asks of the tables. The engine gives 50 items to an answer of a query, and DynamoDB a megabyte, so that a request that only
 * goes on is not counted, but for its units.
 */
const environmentOf = ({ tables, nowMs }: Fleet) => {
  let count = { requests: 0, units: 0, done: 0, depth: 0 };
  const client = around(tables.client, async (_command, send, sent) => {
    const input = sent as Input;
    const isFirst = input.ExclusiveStartKey === undefined;
    const own = count.done + 1;
    if (isFirst) count = { ...count, requests: count.requests + 1, depth: Math.max(count.depth, own) };
    // All that wait are sent before one is answered.
    await new Promise((resolve) => setImmediate(resolve));
    const answer = (await send()) as Answer;
    count.units += unitsOfAnswer(input, answer);
    if (isFirst) count.done = Math.max(count.done, own);
    return answer;
  });
  const service = openQueries({ tables: { ...tables, client }, clock: () => nowMs });
  return async (ask: (service: QueryService) => Promise<unknown>): Promise<readonly number[]> => {
    count = { requests: 0, units: 0, done: 0, depth: 0 };
    await ask(service);
    return [count.requests, count.depth, Math.ceil(count.units)];
  };
};

type Ask = (service: QueryService, fleet: Fleet) => Promise<unknown>;
const rows: Ask = (service) => toArray(service.rows({}));
const marks = new Map<Fleet, string>();
const marksOf = (all: readonly ClusterRows[]): string => all.flatMap(({ partitions }) => partitions.map(({ mark }) => mark ?? "")).join("");

const ANSWERS: Readonly<Record<string, { readonly ask: Ask; readonly isWarm?: true }>> = {
  "`get`, cold": { ask: rows },
  "`get`, warm": { ask: rows, isWarm: true },
  "`get -w`, nothing changed": {
    ask: async (service, fleet) => {
      const all = await toArray(service.rows({ known: marks.get(fleet) ?? "" }));
      expect(all.every((cluster) => cluster.partitions.every(({ unchanged }) => unchanged))).toBe(true);
    },
    isWarm: true,
  },
  "`status`": { ask: (service) => service.status() },
  "`cluster list`": { ask: (service) => toArray(service.clusters()) },
  "`/metrics`, cold": { ask: (service) => service.series() },
  "`/metrics`, warm": {
    ask: async (service, fleet) => {
      const families = await service.series();
      expect(families.map(({ samples }) => samples.length)).toEqual(families.map(() => AUTOSCALERS * fleet.clusters));
      expect(families.length).toBeGreaterThan(2);
    },
    isWarm: true,
  },
  "`get NAME`, unknown, cold": { ask: (service) => expect(service.get({ name: "nothing" })).rejects.toMatchObject({ code: "service.unknown" }) },
  "`get CLUSTER/NAMESPACE/NAME`": { ask: (service, { cluster }) => service.get({ name: `${cluster}/shop/checkout-worker-7` }) },
};

/** The budgets of the page, by answer: requests, requests in a row, and units, for each size. */
const BUDGETS = new Map(
  (PAGE.split("<!-- reads -->")[1]?.split("<!-- end of reads -->")[0] ?? "")
    .trim()
    .split("\n")
    .slice(2)
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .map(([, answer = "", ...cells]) => [answer, cells.slice(0, SIZES.length).map((cell) => cell.split(", ").map(Number))] as const),
);

describe("the read budgets of docs/speed.md", () => {
  it("are of each answer here, and of no other", () => {
    expect([...BUDGETS.keys()]).toEqual(Object.keys(ANSWERS));
  });

  it.each(Object.keys(ANSWERS).flatMap((answer) => SIZES.map((clusters, at) => [answer, clusters, at] as const)))(
    "hold for %s with %i clusters of 100 autoscalers, and say no more than twice of what it takes",
    async (answer, clusters, at) => {
      const fleet = fleets.get(clusters);
      const budget = BUDGETS.get(answer)?.[at] ?? [];
      const { ask, isWarm } = ANSWERS[answer] ?? {};
      if (!fleet || !ask) throw new Error("there is no such answer");
      const measure = environmentOf(fleet);
      if (isWarm) await measure(async (service) => marks.set(fleet, marksOf(await toArray(service.rows({})))));
      const took = await measure((service) => ask(service, fleet));
      for (const [index, value] of took.entries()) {
        expect(value, `${answer}: ${took}`).toBeLessThanOrEqual(budget[index] ?? 0);
        expect(budget[index], `${answer}: ${took}`).toBeLessThanOrEqual(2 * value);
      }
    },
  );
});
