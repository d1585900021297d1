import { afterEach, describe, expect, it } from "vitest";
import { wholeHistory } from "../../lib/answers/service/history/history.ts";
import { SIX_HOURS_MS } from "../../lib/stack/projections/journal-slots.ts";
import { BIN_MS } from "../../lib/stack/projections/samples.ts";
import { PERIOD_MS, type SeriesWorld, seriesWorld } from "./series-world.ts";
import { DAY_MS } from "../../lib/rules/model/time-text.ts";

const MANIFEST = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: web, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
  minReplicas: 1
  maxReplicas: 30
  metrics: [{ type: External, external: { metric: { name: lag }, target: { type: AverageValue, averageValue: "200" } } }]
`;

let world: SeriesWorld;
afterEach(() => world.close());

const MINUTE_MS = 60_000;

describe("the history beyond the journal", () => {
  it("has the five minutes of each autoscaler for 13 months, rolled up by a sync after each six hours, also a late one", {
    timeout: 60_000,
  }, async () => {
    world = await seriesWorld({ web: 3 }, MANIFEST);
    world.milli = 400_000n;
    await world.play(40);
    world.milli = 3_000_000n;
    await world.play(44);
    const since = world.nowMs - 84 * PERIOD_MS;
    const before = await wholeHistory(world.service, {
      name: "web",
      sinceMs: since,
      stepMs: BIN_MS,
    });
    expect(before.points.length).toBeGreaterThan(3);
    // Two days without a sync: the call that rolls up comes late, and the first minutes of syncs do
    // all of it.
    world.wait(2 * DAY_MS);
    await world.play(60);
    world.wait(20 * DAY_MS);
    const after = await wholeHistory(world.service, {
      name: "web",
      sinceMs: since,
      untilMs: Date.parse(before.until),
      stepMs: BIN_MS,
    });
    expect(after.points).toEqual(before.points);
    expect(
      after.points.some(({ held, load }) => held !== undefined && load !== undefined && load > 1),
    ).toBe(true);
  });

  it("is the same after calls that died and repeats", { timeout: 60_000 }, async () => {
    world = await seriesWorld({ web: 3 }, MANIFEST);
    world.milli = 900_000n;
    await world.play(30);
    const since = world.nowMs - 30 * PERIOD_MS;
    const before = await wholeHistory(world.service, {
      name: "web",
      sinceMs: since,
      stepMs: BIN_MS,
    });
    world.wait(SIX_HOURS_MS + 10 * MINUTE_MS);
    world.failRollups = 1;
    const failures = await world.reports(8);
    expect(
      failures.filter(({ projections }) =>
        projections.some(({ failure }) => failure !== undefined),
      ),
    ).toHaveLength(1);
    await world.play(8);
    world.forget();
    await world.play(8);
    world.wait(20 * DAY_MS);
    const after = await wholeHistory(world.service, {
      name: "web",
      sinceMs: since,
      untilMs: Date.parse(before.until),
      stepMs: BIN_MS,
    });
    expect(after.points).toEqual(before.points);
  });
});
