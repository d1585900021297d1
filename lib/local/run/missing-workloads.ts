import { isTidemarkError } from "../../model/errors.ts";
import { isObject } from "../../model/json.ts";
import type { AutoscalerView } from "../../views/autoscaler.ts";
import { deploymentsOf } from "./manifest-files.ts";
import type { Run } from "./open-run.ts";
import type { World } from "./world.ts";

/** Real time between two looks. A look that takes long makes the next one wait for so many times as long. */
const LOOK_EVERY_MS = 1_000;
const WAIT_FACTOR = 20;

/**
 * Makes the workloads and metrics that autoscalers ask for which were applied during a run, or while it was stopped: in a simulated cluster `apply` is all that a person does.
 * Every edit is looked at once. What cannot be made is said.
 */
export const missingWorkloads = (
  { worlds: [world], reader }: { readonly worlds: readonly Pick<World, "name" | "make">[]; readonly reader: Pick<Run["reader"], "autoscalers"> },
  say: (line: string) => void,
  elapsed: () => number = () => performance.now(),
): (() => Promise<void>) => {
  const { name: cluster, make } = world ?? {};
  if (!make) return async () => {};
  const looked = new Map<string, number>();
  let nextMs = 0;
  return async () => {
    const beganMs = elapsed();
    if (beganMs < nextMs) return;
    for (const view of await reader.autoscalers()) {
      if (view.cluster !== cluster || looked.get(view.uid) === view.generation) continue;
      looked.set(view.uid, view.generation);
      for (const line of await madeFor(view, make)) say(line);
    }
    const endedMs = elapsed();
    nextMs = endedMs + Math.max(LOOK_EVERY_MS, WAIT_FACTOR * (endedMs - beganMs));
  };
};

const madeFor = async ({ namespace, name, manifest, problem }: AutoscalerView, make: NonNullable<World["make"]>): Promise<readonly string[]> => {
  if (problem !== undefined) return [];
  try {
    const said: string[] = [];
    // The manifest was admitted when it was stored.
    const text = JSON.stringify(inNamespace(manifest, namespace));
    for (const deployment of deploymentsOf([{ file: `${namespace}/${name}`, text }], { validate: "ignore" })) {
      if ((await make(deployment)) === "made") said.push(`Made ${deployment.kind ?? "Deployment"} ${namespace}/${deployment.name} for ${name}`);
    }
    return said;
  } catch (error) {
    if (!isTidemarkError(error)) throw error;
    return [error.message];
  }
};

/** As it is stored: a manifest need not say its namespace. */
const inNamespace = (manifest: unknown, namespace: string): unknown =>
  isObject(manifest) && isObject(manifest["metadata"]) ? { ...manifest, metadata: { ...manifest["metadata"], namespace } } : manifest;
