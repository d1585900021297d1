import { LOAD_PER_POD } from "../cluster.ts";
import type { Random } from "../random.ts";
import { LONGEST_WINDOW_SECONDS, PODS_MAX } from "./bounds.ts";
import type { Place } from "./shapes.ts";

/** A whole load at or below this is none: the workload is idle. */
export const ACTIVATION = 4;

/** The smallest factor of a policy. */
const SLOWEST = "1.5";

const metricOf = (random: Random, name: string) => ({
  name: "load",
  external: { metric: `load-${name}` },
  measure: "Average",
  // One level for both directions: at rest one count alone is right.
  ...(random.chance(1 / 2)
    ? { target: LOAD_PER_POD }
    : { watermarks: { low: LOAD_PER_POD, high: LOAD_PER_POD } }),
  ...(random.chance(1 / 4) && { onMissing: { action: "scaleUpOnly" } }),
});

const policiesOf = (random: Random, up: boolean) => {
  const periodSeconds = random.pick([15, 30, 60]);
  const pods = { type: "Pods", value: 2 + periodSeconds / 15, periodSeconds };
  const factor = {
    type: "Factor",
    value: up ? random.pick([SLOWEST, "2"]) : "2",
    periodSeconds: random.pick([15, 30]),
  };
  const percent = { type: "Percent", value: up ? 100 : 50, periodSeconds: 30 };
  return random.pick([[pods], [factor], [pods, factor], [percent, pods]]);
};

const directionOf = (random: Random, up: boolean) => ({
  sustainSeconds: random.pick([0, 0, 20]),
  stabilizationWindowSeconds: random.pick(up ? [0, 0, 30] : [0, 60, LONGEST_WINDOW_SECONDS]),
  policies: policiesOf(random, up),
  forbiddenAfterEventSeconds: random.pick([0, 0, 20]),
});

/**
 * A PodAutoscaler by the native rules: breaches that last, windows, policies with factors,
 * cool-downs, flap budget, modulo; one shape goes to rest.
 */
export const nativeManifest = (
  random: Random,
  shape: "native" | "native idle",
  { namespace, name, target }: Place,
): object => {
  const minReplicas = random.int(1, 2);
  const idle = shape === "native idle";
  const [scaleUp, scaleDown] = [directionOf(random, true), directionOf(random, false)];
  // A step of half the count is less than two pods: it would never reach the next even count.
  const modulo =
    idle || JSON.stringify(scaleUp).includes(SLOWEST)
      ? {}
      : { replicaModulo: random.pick([1, 1, 2]) };
  return {
    apiVersion: "tidemark.dev/v1",
    kind: "PodAutoscaler",
    metadata: { name, namespace },
    spec: {
      scaleTargetRef: target,
      minReplicas,
      maxReplicas: random.int(minReplicas + 2, PODS_MAX),
      metrics: [{ ...metricOf(random, name), ...(idle && { activation: ACTIVATION }) }],
      scaleUp: { ...scaleUp, ...modulo },
      scaleDown: { ...scaleDown, ...modulo },
      ...(random.chance(1 / 3) && {
        flapBudget: { reversals: random.int(2, 3), periodSeconds: 90 },
      }),
      ...(idle && { idle: { replicas: 0, afterSeconds: 20 } }),
    },
  };
};
