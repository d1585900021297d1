/** Manifests as people write them: three labels, behavior, two metrics, an owner to ask. */

const NAMESPACES = [
  "cart",
  "catalog",
  "mail",
  "pay",
  "search",
  "shop",
  "stock",
  "track",
  "user",
  "web",
];

const numberIn = (name: string): number => Number(name.slice(name.lastIndexOf("-") + 1));

/** Ten namespaces, in turns. */
export const namespaceOf = (name: string): string =>
  NAMESPACES[numberIn(name) % NAMESPACES.length] ?? "";

const metadataOf = (name: string): object => ({
  name,
  namespace: namespaceOf(name),
  labels: {
    "app.kubernetes.io/name": name,
    "app.kubernetes.io/part-of": namespaceOf(name),
    tier: numberIn(name) % 3 === 0 ? "critical" : "standard",
  },
  annotations: {
    "example.com/runbook": `https://runbooks.example.com/${namespaceOf(name)}/${name}/scaling.md`,
  },
});

const targetOf = (name: string): object => ({ apiVersion: "apps/v1", kind: "Deployment", name });

const BOUNDS = { minReplicas: 2, maxReplicas: 100 };

const BEHAVIOR = {
  scaleUp: {
    stabilizationWindowSeconds: 0,
    selectPolicy: "Max",
    policies: [
      { type: "Percent", value: 400, periodSeconds: 15 },
      { type: "Pods", value: 20, periodSeconds: 15 },
    ],
  },
  scaleDown: {
    stabilizationWindowSeconds: 300,
    selectPolicy: "Max",
    policies: [
      { type: "Percent", value: 50, periodSeconds: 60 },
      { type: "Pods", value: 4, periodSeconds: 60 },
    ],
  },
};

/** The external metrics that the autoscalers are on. */
export const METRICS = ["load", "queue_depth"] as const;

const external = (name: string, value: string): object => ({
  type: "External",
  external: { metric: { name }, target: { type: "AverageValue", averageValue: value } },
});

const hpa = (name: string): object => ({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: metadataOf(name),
  spec: {
    scaleTargetRef: targetOf(name),
    ...BOUNDS,
    metrics: [external("load", "1"), external("queue_depth", "40")],
    behavior: BEHAVIOR,
  },
});

const mark = (metricName: string, high: string, low: string): object => ({
  type: "External",
  external: { metricName, metricSelector: {}, highWatermark: high, lowWatermark: low },
});

const watermark = (name: string): object => ({
  apiVersion: "datadoghq.com/v1alpha1",
  kind: "WatermarkPodAutoscaler",
  metadata: metadataOf(name),
  spec: {
    scaleTargetRef: targetOf(name),
    ...BOUNDS,
    algorithm: "average",
    tolerance: "0.05",
    metrics: [mark("load", "1200m", "700m"), mark("queue_depth", "60", "0")],
    scaleUpLimitFactor: 200,
    scaleDownLimitFactor: 20,
    upscaleForbiddenWindowSeconds: 60,
    downscaleForbiddenWindowSeconds: 300,
  },
});

const native = (name: string): object => ({
  apiVersion: "tidemark.dev/v1",
  kind: "PodAutoscaler",
  metadata: metadataOf(name),
  spec: {
    owner: namespaceOf(name),
    scaleTargetRef: targetOf(name),
    ...BOUNDS,
    combine: "Max",
    metrics: [
      {
        name: "load",
        external: { metric: "load" },
        measure: "Average",
        target: 1,
        tolerance: { up: "0.1", down: "0.2" },
      },
      { name: "queue", external: { metric: "queue_depth" }, measure: "Average", target: 40 },
    ],
    scaleUp: { policies: [{ type: "Factor", value: "4", periodSeconds: 60 }] },
    scaleDown: {
      stabilizationWindowSeconds: 300,
      policies: [{ type: "Pods", value: 3, periodSeconds: 60 }],
      forbiddenAfterEventSeconds: 120,
    },
  },
});

/** Watermarks inside an HPA, as the multi-threshold document has them. */
const multiThreshold = (name: string): object => ({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: metadataOf(name),
  spec: {
    scaleTargetRef: targetOf(name),
    ...BOUNDS,
    algorithm: "average",
    tolerance: 0.01,
    metrics: [mark("load", "1200m", "700m"), mark("queue_depth", "60", "0")],
    scaleUpLimitFactor: 100,
    scaleDownLimitFactor: 30,
    upscaleForbiddenWindowSeconds: 30,
    downscaleForbiddenWindowSeconds: 60,
  },
});

const KINDS = [hpa, watermark, native, multiThreshold];

/** The manifest of an autoscaler by the number at the end of its name: four kinds, in turns. */
export const realManifest = (name: string): string =>
  JSON.stringify((KINDS[numberIn(name) % KINDS.length] ?? hpa)(name));
