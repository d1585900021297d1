import { LOAD_PER_POD } from "./cluster.ts";
import type { Random } from "./random.ts";

/** JSON of a manifest, with the parts that an edit changes. */
export type Manifest = { readonly metadata: { readonly name: string; readonly namespace: string }; readonly spec: Readonly<Record<string, unknown>> };

export type Shape = "behavior" | "legacy" | "cpu" | "watermark";
/** One after the other: with twenty autoscalers in three clusters every cluster has each. */
export const SHAPES: readonly Shape[] = ["behavior", "watermark", "behavior", "legacy", "behavior", "watermark", "cpu"];

/** Largest count that any autoscaler may want: above eight pods a tolerance of a tenth leaves more than one count at rest. */
export const PODS_MAX = 8;

const externalMetric = (name: string) => [
  { type: "External", external: { metric: { name: `load-${name}` }, target: { type: "AverageValue", averageValue: String(LOAD_PER_POD) } } },
];

const cpuMetric = [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } }];

const podsPolicy = (random: Random) => {
  const periodSeconds = random.pick([15, 30, 60]);
  return { type: "Pods", value: 1 + periodSeconds / 15 + random.int(0, 1), periodSeconds };
};

/** Rules that limit growth and shrinking over periods, and still cross the whole range inside `LONGEST_WINDOW_SECONDS`. */
const behaviorOf = (random: Random) => ({
  scaleUp: {
    stabilizationWindowSeconds: random.pick([0, 0, 30, 60]),
    selectPolicy: random.pick(["Max", "Min"]),
    policies: [podsPolicy(random), { type: "Percent", value: random.pick([50, 100]), periodSeconds: random.pick([30, 60]) }].slice(
      0,
      random.int(1, 2),
    ),
  },
  scaleDown: {
    stabilizationWindowSeconds: random.pick([0, 60, 90, LONGEST_WINDOW_SECONDS]),
    policies: [podsPolicy(random)],
  },
});

export const LONGEST_WINDOW_SECONDS = 120;

interface Place {
  readonly namespace: string;
  readonly name: string;
  readonly target: object;
}

/** Steps large enough to cross the whole range in three, so that the windows between them end inside the quiet time. */
const watermarkManifest = (random: Random, { namespace, name, target }: Place): object => {
  const minReplicas = random.int(1, 2);
  const mark = String(LOAD_PER_POD);
  return {
    apiVersion: "datadoghq.com/v1alpha1",
    kind: "WatermarkPodAutoscaler",
    metadata: { name, namespace },
    spec: {
      scaleTargetRef: target,
      minReplicas,
      maxReplicas: random.int(minReplicas + 2, PODS_MAX),
      algorithm: "average",
      tolerance: "50m",
      scaleUpLimitFactor: "100",
      scaleDownLimitFactor: "50",
      upscaleForbiddenWindowSeconds: random.pick([15, 30]),
      downscaleForbiddenWindowSeconds: random.pick([30, 60]),
      upscaleDelayAboveWatermarkSeconds: random.pick([0, 0, 15]),
      metrics: [
        {
          type: "External",
          external: { metricName: `load-${name}`, metricSelector: { matchLabels: { app: name } }, highWatermark: mark, lowWatermark: mark },
        },
      ],
    },
  };
};

/** An autoscaler of the seed, as a person would write it. */
export const newManifest = (random: Random, shape: Shape, place: Place): object => {
  if (shape === "watermark") return watermarkManifest(random, place);
  const minReplicas = random.int(1, 2);
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: place.name, namespace: place.namespace },
    spec: {
      scaleTargetRef: place.target,
      minReplicas,
      maxReplicas: random.int(minReplicas + 2, PODS_MAX),
      metrics: shape === "cpu" ? cpuMetric : externalMetric(place.name),
      ...(shape === "behavior" && { behavior: behaviorOf(random) }),
    },
  };
};

/** The same autoscaler with other bounds. */
export const editedManifest = (random: Random, manifest: object): object => {
  const { spec } = manifest as { spec: object };
  const minReplicas = random.int(1, 3);
  return { ...manifest, spec: { ...spec, minReplicas, maxReplicas: random.int(minReplicas + 1, PODS_MAX) } };
};
