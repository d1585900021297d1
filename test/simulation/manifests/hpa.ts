import { LOAD_PER_POD } from "../cluster.ts";
import type { Random } from "../random.ts";
import { LONGEST_WINDOW_SECONDS, PODS_MAX } from "./bounds.ts";
import type { Place } from "./shapes.ts";

const externalMetric = (name: string) => [
  {
    type: "External",
    external: {
      metric: { name: `load-${name}` },
      target: { type: "AverageValue", averageValue: String(LOAD_PER_POD) },
    },
  },
];

const cpuMetric = [
  {
    type: "Resource",
    resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
  },
];

const podsPolicy = (random: Random) => {
  const periodSeconds = random.pick([15, 30, 60]);
  return { type: "Pods", value: 1 + periodSeconds / 15 + random.int(0, 1), periodSeconds };
};

/** The percentage that is allowed on the way up crosses the range in three steps at most. */
const percentPolicy = (random: Random) => ({
  type: "Percent",
  value: random.pick([50, 100]),
  periodSeconds: 30,
});

/**
 * Rules that limit growth and shrinking over periods, and still cross the whole range in the quiet
 * time, when the windows have passed.
 */
const behaviorOf = (random: Random, minReplicas: number) => {
  // A percentage of nothing is nothing: beside the smaller of two policies no workload would leave
  // zero.
  const policies = [podsPolicy(random), percentPolicy(random)].slice(
    0,
    minReplicas === 0 ? 1 : random.int(1, 2),
  );
  return {
    scaleUp: {
      stabilizationWindowSeconds: random.pick([0, 0, 30, 60]),
      selectPolicy: random.pick(["Max", "Min"]),
      policies,
    },
    scaleDown: {
      stabilizationWindowSeconds: random.pick([0, 60, 90, LONGEST_WINDOW_SECONDS]),
      policies: [podsPolicy(random)],
    },
  };
};

/** An HPA with behavior, without it, by CPU, or one that goes to zero. */
export const hpaManifest = (
  random: Random,
  shape: "behavior" | "legacy" | "cpu" | "zero",
  { namespace, name, target }: Place,
): object => {
  const minReplicas = shape === "zero" ? 0 : random.int(1, 2);
  const behavior =
    shape === "behavior" || (shape === "zero" && random.chance(1 / 2))
      ? { behavior: behaviorOf(random, minReplicas) }
      : {};
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name, namespace },
    spec: {
      scaleTargetRef: target,
      minReplicas,
      maxReplicas: random.int(minReplicas + 2, PODS_MAX),
      metrics: shape === "cpu" ? cpuMetric : externalMetric(name),
      ...behavior,
    },
  };
};
