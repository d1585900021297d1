import { randomUUID } from "node:crypto";
import { afterAll, describe, expect, it } from "vitest";
import { METRICS_PATH, QUERY_PATHS } from "../../lib/answers/api/paths.ts";
import { DAY_MS } from "../../lib/rules/model/time-text.ts";
import { insertEvents } from "../../lib/stack/store/history/events.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { event } from "../store/records.ts";
import { newWorld, type World } from "../sync/world.ts";
import { DEPTH_MAX, environmentOf } from "./world/read-counts.ts";

/** All answers are in read-budgets.played.test.ts: two weeks of syncs are played for them. */
const engines: Engine[] = [];
afterAll(async () => {
  for (const engine of engines) await engine.close();
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
  it("in a new environment reads one journal page of each cluster at once, and no event; the next one costs the heads; an examination of all is one page", async () => {
    const engine = await startMemory("whole");
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
    expect(warm.count.slice(1, 3)).toEqual([3, 2]);
    // `doctor -A`: one page, and no more in a row than a caller waits for.
    const { count, answer } = await environmentOf({
      tables,
      nowMs,
      cluster: record.name,
      clusters: CLUSTERS,
      autoscalers: 2 * CLUSTERS,
    })({ path: QUERY_PATHS.doctor });
    expect(answer.items).toHaveLength(2 * CLUSTERS);
    expect(
      [count[0] === 1, count[1] <= 5 * CLUSTERS + 10, count[2] <= DEPTH_MAX],
      String(count),
    ).toEqual([true, true, true]);
  });
});
