import { LOAD_PER_POD } from "../cluster.ts";
import type { Random } from "../random.ts";
import { PODS_MAX } from "./bounds.ts";
import type { Place } from "./shapes.ts";

/**
 * Steps large enough to cross the whole range in three, so that the windows between them end inside
 * the quiet time.
 */
const WHOLE_STEPS = { scaleUpLimitFactor: "100", scaleDownLimitFactor: "50" };

/** Steps that bite, and breaches that must last. */
const velocityOf = (random: Random) => ({
  scaleUpLimitFactor: random.pick(["50", "80", "100"]),
  scaleDownLimitFactor: random.pick(["33.4", "50", "60"]),
  upscaleDelayAboveWatermarkSeconds: random.pick([0, 15, 20]),
  downscaleDelayBelowWatermarkSeconds: random.pick([0, 20]),
});

const metricsOf = (name: string) => {
  const mark = String(LOAD_PER_POD);
  return [
    {
      type: "External",
      external: {
        metricName: `load-${name}`,
        metricSelector: { matchLabels: { app: name } },
        highWatermark: mark,
        lowWatermark: mark,
      },
    },
  ];
};

const recommenderOf = () => ({
  url: "https://recommender.example/",
  targetType: "load",
  highWatermark: String(LOAD_PER_POD),
  lowWatermark: String(LOAD_PER_POD),
});

/** A WatermarkPodAutoscaler that takes whole steps, small ones, or asks a recommender. */
export const watermarkManifest = (
  random: Random,
  shape: "watermark" | "velocity" | "recommended",
  { namespace, name, target }: Place,
): object => {
  const minReplicas = random.int(1, 2);
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
      ...(shape === "watermark"
        ? { ...WHOLE_STEPS, upscaleDelayAboveWatermarkSeconds: random.pick([0, 0, 15]) }
        : velocityOf(random)),
      upscaleForbiddenWindowSeconds: random.pick(shape === "watermark" ? [15, 30] : [10, 15]),
      downscaleForbiddenWindowSeconds: random.pick(shape === "watermark" ? [30, 60] : [15, 30]),
      ...(shape === "recommended"
        ? { recommender: recommenderOf() }
        : { metrics: metricsOf(name) }),
    },
  };
};
