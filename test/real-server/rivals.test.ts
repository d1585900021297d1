import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import type { Rival } from "../../lib/rules/model/observation.ts";
import { MANIFESTS } from "./objects.ts";
import { onServer } from "./on-server.ts";
import { until } from "./scene.ts";

/**
 * The period of the rates that an HPA has by default: for so long the scale of the HPA before the
 * first sync, of which only the time is known, counts as all that the rules allow.
 */
const RATE_PERIOD_MS = 15_000;
/** A new HPA that has written nothing is noticed in the fourth sync after it (docs/clusters.md). */
const SYNCS_UNTIL_NOTICED = 4;

/** Remembers the other controllers that each observation found, by autoscaler. */
const recording = (client: ClusterClient, seen: Map<string, readonly Rival[]>): ClusterClient => ({
  ...client,
  observe: async (watched, limits) => {
    const observed = await client.observe(watched, limits);
    for (const { uid, name } of watched)
      seen.set(name, observed.observations.get(uid)?.rivals ?? []);
    return observed;
  },
});

onServer("beside an HPA of the real controller", (newScene) => {
  it("Tidemark holds, and goes on from the same count without a gap in the sync after the HPA is deleted", async () => {
    const scene = await newScene("rivals");
    const { namespace, admin } = scene;
    const hpas = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`;
    const workload = await scene.make("Deployment", "web", 2);
    await scene.running(workload, 2);
    await scene.metrics({ [`cpu ${namespace}/web`]: 400 });
    const manifest = MANIFESTS.hpa(workload, "cpu");
    await admin("POST", hpas, manifest);
    await scene.running(workload, 4);
    await scene.apply(manifest);
    // The HPA goes on to scale; Tidemark decides the same, shows it, and writes nothing.
    await scene.metrics({ [`cpu ${namespace}/web`]: 600 });
    expect((await scene.sync()).events).toEqual([]);
    const held = await scene.service.get({ name: "web" });
    expect([held.state, held.heldBy]).toEqual(["shadow", "rival"]);
    expect(held.decision?.message).toContain('HorizontalPodAutoscaler "web"');
    await scene.running(workload, 6);
    expect((await scene.sync()).events).toEqual([]);
    await admin("DELETE", `${hpas}/web`);
    await scene.metrics({ [`cpu ${namespace}/web`]: 700 });
    await wait(RATE_PERIOD_MS);
    expect(await scene.replicas(workload)).toBe(6);
    expect((await scene.sync()).events.map(({ from, to, outcome }) => [from, to, outcome])).toEqual(
      [[6, 7, "applied"]],
    );
    expect((await scene.service.get({ name: "web" })).heldBy).toBeUndefined();
  });

  it("a new HPA that has written nothing is noticed in the fourth sync at the latest, and one that has written in the next", async () => {
    const seen = new Map<string, readonly Rival[]>();
    const scene = await newScene("rivals", { wrap: (client) => recording(client, seen) });
    const { namespace, admin } = scene;
    const hpas = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`;
    const [quiet, busy] = [
      await scene.make("Deployment", "quiet", 2),
      await scene.make("Deployment", "busy", 2),
    ];
    for (const workload of [quiet, busy]) await scene.running(workload, 2);
    await scene.metrics({ [`cpu ${namespace}/quiet`]: 200, [`cpu ${namespace}/busy`]: 200 });
    await scene.apply(MANIFESTS.hpa(quiet, "cpu"), MANIFESTS.hpa(busy, "cpu"));
    const noticedAfter = async (name: string): Promise<number> => {
      for (let syncs = 1; syncs <= SYNCS_UNTIL_NOTICED; syncs++) {
        await scene.sync();
        if ((seen.get(name)?.length ?? 0) > 0) return syncs;
      }
      return Number.POSITIVE_INFINITY;
    };
    // The first sync looks for every target, the next three need not.
    await scene.sync();
    await admin("POST", hpas, MANIFESTS.hpa(quiet, "cpu"));
    expect(await noticedAfter("quiet")).toBe(SYNCS_UNTIL_NOTICED);
    await admin("DELETE", `${hpas}/quiet`);
    await scene.sync();
    expect(seen.get("quiet")).toEqual([]);
    // This one has other bounds, and writes.
    const other = MANIFESTS.hpa(busy, "cpu");
    await admin("POST", hpas, { ...other, spec: { ...other.spec, minReplicas: 5 } });
    await until("the HPA scales", async () => (await scene.replicas(busy)) === 5);
    expect(await noticedAfter("busy")).toBe(1);
    expect(await scene.replicas(busy)).toBe(5);
  });
});
