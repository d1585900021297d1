import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { METRICS_PATH, QUERY_PATHS } from "../../lib/answers/api/paths.ts";
import { insertEvents } from "../../lib/stack/store/history/events.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { event } from "../store/records.ts";
import { newWorld, type World } from "../sync/world.ts";
import {
  ANSWERS,
  BUDGETS,
  builtFleet,
  DEPTH_MAX,
  environmentOf,
  type Fleet,
  holdsBudget,
  SIZES,
} from "./world/read-questions.ts";
import { DAY_MS } from "../../lib/rules/model/time-text.ts";

/** The largest fleet is in read-budgets.played.test.ts: it takes longest to make. */
const [ONE, HUNDRED] = SIZES;
const engines: Engine[] = [];
const fleets: Fleet[] = [];
beforeAll(async () => {
  for (const size of [ONE, HUNDRED]) {
    const engine = await startMemory();
    engines.push(engine);
    fleets.push(await builtFleet(engine, size));
  }
}, 120_000);
afterAll(async () => {
  for (const engine of engines) await engine.close();
});

describe("the read budgets of docs/speed.md", () => {
  it("are of each answer here, and of no other, and each route has one", () => {
    expect([...BUDGETS.keys()]).toEqual(Object.keys(ANSWERS));
    const [fleet] = fleets;
    if (!fleet) throw new Error("there is no fleet");
    const asked = new Set(
      Object.values(ANSWERS).map(({ question }) => question(fleet, undefined).path),
    );
    expect([...asked].toSorted()).toEqual([...Object.values(QUERY_PATHS), METRICS_PATH].toSorted());
  });

  it.each(
    Object.keys(ANSWERS).flatMap((answer) =>
      [ONE, HUNDRED].map(([clusters], at) => [answer, clusters, at] as const),
    ),
  )(
    "hold for %s with %i clusters of 100 autoscalers, and say no more than twice of what it takes",
    (answer, _clusters, at) => holdsBudget(fleets[at], answer, at),
  );
});

const CLUSTERS = 100;
const MONTHS_AGO = [1, 2, 3, 4, 5];

const watermarkOf = (name: string): string =>
  JSON.stringify({
    ...{
      apiVersion: "datadoghq.com/v1alpha1",
      kind: "WatermarkPodAutoscaler",
      metadata: { name, namespace: "shop" },
    },
    spec: {
      ...{
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
        minReplicas: 1,
        maxReplicas: 50,
      },
      ...{ upscaleForbiddenWindowSeconds: 60, downscaleForbiddenWindowSeconds: 60 },
      metrics: [
        {
          type: "External",
          external: {
            metricName: "lag",
            metricSelector: {},
            highWatermark: "400",
            lowWatermark: "150",
          },
        },
      ],
    },
  });

describe("a scrape of 100 clusters with watermark rules and five months of events", () => {
  it("in a new environment reads one journal page of each cluster at once, and no event; the next one costs the heads", async () => {
    const engine = await startMemory();
    engines.push(engine);
    const worlds: World[] = [];
    for (let at = 0; at < CLUSTERS; at++) {
      const world = await newWorld(
        engine.client,
        engine.tables,
        { api: 4, web: 4 },
        { manifestOf: watermarkOf, newUid: randomUUID },
      );
      await world.sync(world.worker({ rules: PURE_PART }));
      const times = MONTHS_AGO.map((month) => world.nowMs - month * 30 * DAY_MS);
      const { name: cluster } = world.record;
      for (const atMs of times)
        await insertEvents(insertByStatement(world.tables), [
          event({ cluster, id: `uid-${cluster}:${atMs}`, atMs, settledMs: atMs }),
        ]);
      worlds.push(world);
    }
    const [{ tables, nowMs, record }] = worlds as [World, ...World[]];
    const measure = environmentOf({
      tables,
      nowMs,
      cluster: record.name,
      clusters: CLUSTERS,
      autoscalers: 2 * CLUSTERS,
    });
    const [cold, warm] = [
      await measure({ path: METRICS_PATH }),
      await measure({ path: METRICS_PATH }),
    ];
    expect(cold.answer.text.match(/^wpa_controller_min_replicas\{/gm)).toHaveLength(2 * CLUSTERS);
    const [, requests, depth, units] = cold.count;
    expect(
      [requests, depth, units].map(
        (value, at) => value <= ([2 * CLUSTERS + 10, DEPTH_MAX, 2.5 * CLUSTERS][at] ?? 0),
      ),
      String(cold.count),
    ).toEqual([true, true, true]);
    expect(warm.count.slice(1, 3)).toEqual([3, 3]);
  });
});
