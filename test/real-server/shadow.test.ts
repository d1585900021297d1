import { expect, it } from "vitest";
import { inside } from "../cli/inside.ts";
import { MANIFESTS } from "./objects.ts";
import { onServer } from "./on-server.ts";
import { sessionOn } from "./person.ts";
import { until } from "./scene.ts";

onServer("in the shadow of an HPA of the real controller", (newScene) => {
  it("Tidemark decides as the HPA does, keeps what the HPA wants, and tidemark shadow compares the two", async () => {
    const scene = await newScene("shadow");
    const { namespace, admin } = scene;
    const hpas = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`;
    const workload = await scene.make("Deployment", "web", 2);
    await scene.running(workload, 2);
    await scene.metrics({ [`cpu ${namespace}/web`]: 400 });
    const manifest = MANIFESTS.hpa(workload, "cpu");
    const made = await admin("POST", hpas, manifest);
    await scene.apply(manifest);
    await scene.running(workload, 4);
    const desired = async (): Promise<unknown> =>
      ((await admin("GET", `${hpas}/web`))["status"] as { readonly desiredReplicas?: number })
        .desiredReplicas;
    await until("the HPA wants four", async () => (await desired()) === 4);
    expect((await scene.sync()).events).toEqual([]);
    const view = await scene.service.get({ name: "web" });
    const { uid } = made["metadata"] as { readonly uid: string };
    expect(view).toMatchObject({ state: "shadow", heldBy: "rival", desiredReplicas: 4 });
    expect(view.rivals).toMatchObject([
      {
        kind: "HorizontalPodAutoscaler",
        name: "web",
        uid,
        desiredReplicas: 4,
        reason: "ValidMetricFound",
      },
    ]);
    // Tidemark sees the new load first, as its sync comes before that of the HPA or with it; both
    // end at the same count.
    await scene.metrics({ [`cpu ${namespace}/web`]: 600 });
    await scene.sync();
    await scene.running(workload, 6);
    await until("the HPA wants six", async () => (await desired()) === 6);
    await scene.sync();
    const compared = await scene.service.shadow({ name: "web" });
    expect(compared.syncs).toBe(3);
    expect(compared.agreed).toBeGreaterThanOrEqual(2);
    expect(compared.stretches.at(-1)).toMatchObject({ own: 6, rival: 6, current: 6 });
    const { code, out } = await inside(["shadow", "web", "--since", "1h"], {
      open: sessionOn(scene),
    });
    expect(code).toBe(0);
    expect(out).toContain("Beside:             HorizontalPodAutoscaler/web");
    const all = await inside(["shadow", "-n", namespace], { open: sessionOn(scene) });
    expect(all.out.split("\n")[1]).toMatch(/^real\s+\S+\s+web\s+HorizontalPodAutoscaler\/web\s+3/);
    expect(await scene.replicas(workload)).toBe(6);
  });
});
