import { setTimeout as wait } from "node:timers/promises";
import { inject } from "vitest";
import { askedMetrics } from "../control-plane/metrics-script.ts";
import { watchReplicas } from "../control-plane/watch.ts";
import { CASES, scriptOf } from "./parity-cases.ts";
import type { Scene } from "./scene.ts";

/**
 * A phase ends when no count has changed for so long, longer than the periods and windows of the
 * cases and one sync, and each deployment had so many syncs meanwhile.
 */
const QUIET_MS = 3_300;
const QUIET_SYNCS = 4;
const PHASE_MAX_MS = 45_000;
const SYNC_MS = 1_000;
const PHASES = Math.max(...Object.values(CASES).map(({ phases }) => phases.length));

/**
 * The counts of each deployment, phase by phase: the one that it begins with, and each that
 * follows.
 */
export type Sequences = Readonly<Record<string, readonly (readonly number[])[]>>;

/**
 * How often the HPA controller has looked at the metrics of the deployment that it looked at least.
 */
export const looksOfController = async ({ namespace }: Scene): Promise<number> => {
  const asked = Object.entries(await askedMetrics(inject("cluster").metricsUrl)).filter(
    ([question]) => question.includes(`/namespaces/${namespace}/`),
  );
  const looks = (name: string): number =>
    Math.max(
      0,
      ...asked.map(([question, count]) =>
        question.includes(`/${name}-`) ||
        question.includes(`/${name}/`) ||
        question.endsWith(`app=${name}`)
          ? count
          : 0,
      ),
    );
  return Math.min(...Object.keys(CASES).map(looks));
};

/**
 * Plays all phases while something scales, and records the counts. `syncs` is called each second,
 * and gives how many syncs each deployment has had.
 */
export const play = async (
  scene: Scene,
  deployments: string,
  syncs: () => Promise<number>,
): Promise<Sequences> => {
  const shared = inject("cluster");
  const recorded = new Map<string, number[][]>(
    Object.entries(CASES).map(([name, { replicas }]) => [name, [[replicas]]]),
  );
  let [changedMs, syncsNow, syncsAtChange] = [0, 0, 0];
  const changed = (): void => {
    changedMs = performance.now();
    syncsAtChange = syncsNow;
  };
  const { ready, stop } = watchReplicas(
    { ...shared, token: shared.adminToken },
    deployments,
    (name, replicas) => {
      const counts = recorded.get(name)?.at(-1);
      if (!counts || counts.at(-1) === replicas) return;
      counts.push(replicas);
      changed();
    },
  );
  await ready;
  for (let phase = 0; phase < PHASES; phase++) {
    for (const phases of recorded.values()) phases.push(phases.at(-1)?.slice(-1) ?? []);
    const scripts = Object.entries(CASES).map(([name, { phases }]) =>
      scriptOf(scene.namespace, name, phases[phase] ?? {}),
    );
    await scene.metrics(Object.assign({}, ...scripts));
    changed();
    const beginMs = performance.now();
    // The sync that was under way at the change does not count.
    const isQuiet = (): boolean =>
      syncsNow - syncsAtChange > QUIET_SYNCS && performance.now() - changedMs >= QUIET_MS;
    while (!isQuiet() && performance.now() - beginMs < PHASE_MAX_MS) {
      const nextMs = performance.now() + SYNC_MS;
      syncsNow = await syncs();
      await wait(Math.max(0, nextMs - performance.now()));
    }
  }
  stop();
  return Object.fromEntries([...recorded].map(([name, phases]) => [name, phases.slice(1)]));
};
