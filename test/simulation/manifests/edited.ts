import type { Random } from "../random.ts";
import { PODS_MAX } from "./bounds.ts";
import { newManifest, type Place, type Shape } from "./shapes.ts";

interface Manifest {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: { readonly scaleTargetRef: object };
}

/** The same autoscaler with other bounds, or with other windows, limits and policies as well. */
export const editedManifest = (random: Random, shape: Shape, manifest: object): object => {
  const { metadata, spec } = manifest as Manifest;
  // Scales made without behavior are not recorded (hpa.md 3.9): one that is given some begins with
  // none, which would look like a loss.
  if (shape !== "zero" && random.chance(1 / 2))
    return newManifest(random, shape, { ...metadata, target: spec.scaleTargetRef } satisfies Place);
  const minReplicas = random.int(1, 3);
  return {
    ...manifest,
    spec: { ...spec, minReplicas, maxReplicas: random.int(minReplicas + 1, PODS_MAX) },
  };
};
