import { afterEach, describe, expect, it } from "vitest";
import { autoscalerRow } from "../../lib/command/output/autoscaler-rows.ts";
import { describeSheet } from "../../lib/command/output/describe-sheet.ts";
import { explainSheet } from "../../lib/command/output/explain-sheet.ts";
import { painter } from "../../lib/command/io.ts";
import { decisionText } from "../../lib/embedded/view/plain-view.ts";
import { line } from "../../lib/stack/report/printed.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { tableRowOf } from "../../lib/answers/service/views/row-view.ts";
import { type SeriesWorld, seriesWorld } from "./series-world.ts";

const QUEUE = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: web, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
  minReplicas: 2
  maxReplicas: 10
  metrics:
    - type: External
      external: { metric: { name: queue }, target: { type: AverageValue, averageValue: "100" } }
`;

let world: SeriesWorld | undefined;
afterEach(() => world?.close());

/** Four replicas, synced once at their target, then stopped while the queue asks for seven. */
const stopped = async (stop: (service: Service) => Promise<unknown>): Promise<SeriesWorld> => {
  const begun = await seriesWorld({ web: 4 }, QUEUE);
  world = begun;
  begun.milli = 400_000n;
  await begun.play(1);
  await stop(begun.service);
  begun.milli = 700_000n;
  await begun.play(1);
  return begun;
};

const plain = painter(false);
const asked = { name: "web" };

describe.each([
  ["frozen", "FleetFrozen", (service: Service) => service.freeze("incident")],
  ["paused", "ClusterPaused", (service: Service) => service.pauseCluster("eu-1")],
  ["paused", "AutoscalerPaused", (service: Service) => service.pause(asked)],
] as const)("an autoscaler that is %s (%s)", (state, reason, stop) => {
  const without = { to: 7, reason: "MetricAboveTarget" };

  it("is shown with its state, its metrics and the count that it would have", async () => {
    const { service } = await stopped(stop);
    const view = await service.get(asked);
    expect(view).toMatchObject({
      state,
      currentReplicas: 4,
      desiredReplicas: 7,
      decision: { kind: "hold", from: 4, reason, withoutHold: without },
    });
    expect(view.metrics).toMatchObject([{ kind: "measured", proposal: 7 }]);
    expect(
      autoscalerRow(tableRowOf(view), 0, plain)
        .slice(7, 11)
        .map((cell) => line(cell).written()),
    ).toEqual(["4", "7", state, reason]);
    expect(decisionText(view)).toMatch(/^holds: .*; without that 4 → 7$/);
  });

  it("is described and explained with what would happen", async () => {
    const { service, nowMs } = await stopped(stop);
    expect(describeSheet(await service.describe(asked), nowMs, plain).written()).toMatch(
      /^Without hold: +scale 4 -> 7: MetricAboveTarget: /m,
    );
    const explanation = await service.explain(asked);
    expect(explanation.otherwise[0]).toMatch(/; without this hold the count would be 7$/);
    expect(explainSheet(explanation, nowMs, plain).written()).toMatch(
      /^Outcome: +hold at 4\nReason: .*\nWithout hold: +scale 4 -> 7: MetricAboveTarget: /m,
    );
  });

  it("is not scaled by any sync", async () => {
    const { cluster, play } = await stopped(stop);
    await play(8);
    expect(cluster.puts).toEqual([]);
  });
});
