import { setTimeout as wait } from "node:timers/promises";
import { expect, inject, it } from "vitest";
import { watchReplicas } from "../control-plane/watch-replicas.ts";
import type { Workload } from "./objects.ts";
import { onServer } from "./on-server.ts";
import { CASES, hpaOf, scriptOf } from "./parity-cases.ts";
import type { Scene } from "./scene.ts";

/** A phase ends when no count has changed for so long, and for so many syncs of ours: longer than the periods and windows of the cases and one sync. */
const QUIET_MS = 3_300;
const QUIET_STEPS = 4;
const PHASE_MAX_MS = 30_000;
const SYNC_MS = 1_000;
/** Where the machine is so busy that pods come or go later than the next sync, each side may see other pods. Another rule would differ every time. */
const MAY_REPEAT = { timeout: 240_000, retry: 1 };
const NAMES = Object.keys(CASES);
const PHASES = Math.max(...Object.values(CASES).map(({ phases }) => phases.length));

/** The counts of each deployment, phase by phase: the one that it begins with, and each that follows. */
type Sequences = Readonly<Record<string, readonly (readonly number[])[]>>;

/** Plays all phases while something scales, and records the counts. `step` is called each second. */
const play = async (scene: Scene, deployments: string, step: () => Promise<unknown>): Promise<Sequences> => {
  const shared = inject("cluster");
  const recorded = new Map<string, number[][]>(Object.entries(CASES).map(([name, { replicas }]) => [name, [[replicas]]]));
  let changedMs = performance.now();
  let quietSteps = 0;
  const { ready, stop } = watchReplicas({ ...shared, token: shared.adminToken }, deployments, (name, replicas) => {
    const counts = recorded.get(name)?.at(-1);
    if (!counts || counts.at(-1) === replicas) return;
    counts.push(replicas);
    changedMs = performance.now();
    quietSteps = 0;
  });
  for (let phase = 0; phase < PHASES; phase++) {
    for (const [name, { phases }] of Object.entries(CASES)) await scene.metrics(scriptOf(scene.namespace, name, phases[phase] ?? {}));
    for (const phasesOf of recorded.values()) phasesOf.push(phasesOf.at(-1)?.slice(-1) ?? []);
    await ready;
    const beginMs = performance.now();
    changedMs = beginMs;
    quietSteps = 0;
    const isQuiet = (): boolean => quietSteps >= QUIET_STEPS && performance.now() - changedMs >= QUIET_MS;
    while (!isQuiet() && performance.now() - beginMs < PHASE_MAX_MS) {
      const nextMs = performance.now() + SYNC_MS;
      await step();
      quietSteps++;
      await wait(Math.max(0, nextMs - performance.now()));
    }
  }
  stop();
  return Object.fromEntries([...recorded].map(([name, phases]) => [name, phases.slice(1)]));
};

onServer("the same manifests under the same script of metrics", (newScene) => {
  it("give the same sequence of counts under the HPA controller of Kubernetes and then under Tidemark", MAY_REPEAT, async () => {
    const scene = await newScene("parity");
    const { namespace, admin } = scene;
    const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    const hpas = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`;
    const workloads: Workload[] = [];
    for (const [name, { replicas, labels }] of Object.entries(CASES)) workloads.push(await scene.make("Deployment", name, replicas, labels));
    const begin = async (): Promise<void> => {
      for (const { name, replicas } of workloads)
        await admin("PATCH", `${deployments}/${name}/scale`, { spec: { replicas } }, "application/merge-patch+json");
      for (const workload of workloads) await scene.running(workload, workload.replicas);
      for (const [name, { phases }] of Object.entries(CASES)) {
        const none = Object.fromEntries(phases.flatMap((phase) => Object.keys(phase).map((key) => [key, null])));
        await scene.metrics(scriptOf(namespace, name, { ...none, ...phases[0] }));
      }
    };
    await begin();
    for (const [name, one] of Object.entries(CASES)) await admin("POST", hpas, hpaOf(name, one));
    const byController = await play(scene, deployments, () => Promise.resolve());
    for (const name of NAMES) await admin("DELETE", `${hpas}/${name}`);
    await begin();
    await scene.apply(...Object.entries(CASES).map(([name, one]) => hpaOf(name, one)));
    const byTidemark = await play(scene, deployments, scene.sync);
    expect(byTidemark).toEqual(byController);
    // Each case did something under the controller.
    expect(NAMES.filter((name) => new Set(byController[name]?.flat()).size < 2)).toEqual([]);
  });
});
