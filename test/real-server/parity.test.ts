import { expect, it } from "vitest";
import type { Workload } from "./objects.ts";
import { onServer } from "./on-server.ts";
import { CASES, hpaOf, scriptOf } from "./parity-cases.ts";
import { looksOfController, play } from "./parity-play.ts";

/**
 * Where the machine is so busy that pods come or go later than the next sync, each side may see
 * other pods. Another rule would differ every time.
 */
const MAY_REPEAT = { timeout: 300_000, retry: 1 };
const NAMES = Object.keys(CASES);

onServer("the same manifests under the same script of metrics", (newScene) => {
  it(
    "give the same sequence of counts under the HPA controller of Kubernetes and then under Tidemark",
    MAY_REPEAT,
    async () => {
      const scene = await newScene("parity");
      const { namespace, admin } = scene;
      const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
      const hpas = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`;
      const workloads: Workload[] = [];
      for (const [name, { replicas, labels }] of Object.entries(CASES))
        workloads.push(await scene.make("Deployment", name, replicas, labels));
      const begin = async (): Promise<void> => {
        for (const { name, replicas } of workloads)
          await admin(
            "PATCH",
            `${deployments}/${name}/scale`,
            { spec: { replicas } },
            "application/merge-patch+json",
          );
        for (const workload of workloads) await scene.running(workload, workload.replicas);
        for (const [name, { phases }] of Object.entries(CASES)) {
          const none = Object.fromEntries(
            phases.flatMap((phase) => Object.keys(phase).map((key) => [key, null])),
          );
          await scene.metrics(scriptOf(namespace, name, { ...none, ...phases[0] }));
        }
      };
      await begin();
      for (const [name, one] of Object.entries(CASES)) await admin("POST", hpas, hpaOf(name, one));
      const byController = await play(scene, deployments, () => looksOfController(scene));
      for (const name of NAMES) await admin("DELETE", `${hpas}/${name}`);
      await begin();
      await scene.apply(...Object.entries(CASES).map(([name, one]) => hpaOf(name, one)));
      let syncs = 0;
      const byTidemark = await play(scene, deployments, async () => {
        await scene.sync();
        return ++syncs;
      });
      expect(byTidemark).toEqual(byController);
      // Each case did something under the controller.
      expect(NAMES.filter((name) => new Set(byController[name]?.flat()).size < 2)).toEqual([]);
    },
  );
});
