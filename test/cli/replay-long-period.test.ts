import { afterAll, beforeAll, expect, it } from "vitest";
import { PERIOD_MS, type SeriesWorld, seriesWorld } from "../service/series-world.ts";
import { inside } from "./inside.ts";

const LONG_MS = 300_000;
const LOADS = [900, 1_700, 600, 1_300, 400, 2_100, 1_000, 1_500, 300, 800];

const WEB = JSON.stringify({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    ...{ minReplicas: 1, maxReplicas: 30 },
    metrics: [
      {
        type: "External",
        external: {
          metric: { name: "lag" },
          target: { type: "AverageValue", averageValue: "100" },
        },
      },
    ],
    behavior: { scaleDown: { stabilizationWindowSeconds: 300 } },
  },
});

let world: SeriesWorld;
beforeAll(async () => {
  world = await seriesWorld({ web: 2 }, WEB);
  world.milli = 500_000n;
  await world.play(7);
  await world.service.replaceCluster({ name: "eu-1", syncPeriodMs: LONG_MS });
  for (const load of [...LOADS, ...LOADS]) {
    world.milli = BigInt(load) * 1_000n;
    world.wait(LONG_MS - PERIOD_MS);
    await world.play(1);
  }
});
afterAll(async () => world.close());

it("a sync period of five minutes is replayed at the instants at which syncs came", async () => {
  const { out } = await inside(["replay", "web", "--since", "100m", "-o", "json"], {
    open: async () => ({
      service: world.service,
      ...{ place: "folder of a test", nowMs: world.nowMs, clock: () => world.nowMs },
      close: async () => {},
    }),
  });
  const { fidelity, policies } = JSON.parse(out);
  expect(fidelity).toEqual({ sameMinutes: 1, hoursOff: 0 });
  expect(policies[0].scales).toBeGreaterThan(10);
});
