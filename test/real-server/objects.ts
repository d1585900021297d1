/** A workload with pods of 100 millicores each, by the label `app`. */
export interface Workload {
  readonly kind: string;
  readonly apiVersion: string;
  readonly plural: string;
  readonly name: string;
  readonly replicas: number;
}

export const KINDS = {
  Deployment: { kind: "Deployment", apiVersion: "apps/v1", plural: "deployments" },
  StatefulSet: { kind: "StatefulSet", apiVersion: "apps/v1", plural: "statefulsets" },
  ReplicaSet: { kind: "ReplicaSet", apiVersion: "apps/v1", plural: "replicasets" },
  ReplicationController: {
    kind: "ReplicationController",
    apiVersion: "v1",
    plural: "replicationcontrollers",
  },
  Fleet: { kind: "Fleet", apiVersion: "tidemark.test/v1", plural: "fleets" },
} as const;
export type KindName = keyof typeof KINDS;

export const basePath = (apiVersion: string): string =>
  apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;

/** A pod with this label has a second container, named "sidecar". */
export const WITH_SIDECAR = { "tidemark.test/sidecar": "yes" } as const;

const container = (name: string) => ({
  name,
  image: "none",
  resources: { requests: { cpu: "100m" } },
});

export const podTemplate = (name: string, labels: Readonly<Record<string, string>> = {}) => ({
  metadata: { labels: { app: name, ...labels } },
  spec: {
    containers: Object.keys(WITH_SIDECAR).every((label) => label in labels)
      ? [container("app"), container("sidecar")]
      : [container("app")],
  },
});

export const workloadObject = (
  { kind, apiVersion, name, replicas }: Workload,
  labels: Readonly<Record<string, string>> = {},
): object => {
  const head = { apiVersion, kind, metadata: { name } };
  const template = podTemplate(name, labels);
  switch (kind) {
    case "ReplicationController":
      return { ...head, spec: { replicas, selector: { app: name }, template } };
    case "Fleet":
      return { ...head, spec: { replicas } };
    case "StatefulSet":
      return {
        ...head,
        spec: {
          replicas,
          serviceName: name,
          podManagementPolicy: "Parallel",
          selector: { matchLabels: { app: name } },
          template,
        },
      };
    default:
      return { ...head, spec: { replicas, selector: { matchLabels: { app: name } }, template } };
  }
};

/** A custom resource with a scale. No controller makes its pods. */
export const FLEET_DEFINITION = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "fleets.tidemark.test" },
  spec: {
    group: "tidemark.test",
    scope: "Namespaced",
    names: { plural: "fleets", singular: "fleet", kind: "Fleet" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        },
        subresources: {
          status: {},
          scale: {
            specReplicasPath: ".spec.replicas",
            statusReplicasPath: ".status.replicas",
            labelSelectorPath: ".status.selector",
          },
        },
      },
    ],
  },
};

const target = ({ apiVersion, kind, name }: Pick<Workload, "apiVersion" | "kind" | "name">) => ({
  apiVersion,
  kind,
  name,
});

export type MetricName = "cpu" | "pods" | "external";

/** Three units in all ask for three pods. */
const HPA_METRICS = {
  cpu: () => ({
    type: "Resource",
    resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 100 } },
  }),
  pods: () => ({
    type: "Pods",
    pods: { metric: { name: "rps" }, target: { type: "AverageValue", averageValue: "10" } },
  }),
  external: (name: string) => ({
    type: "External",
    external: {
      metric: { name: `load-${name}` },
      target: { type: "AverageValue", averageValue: "10" },
    },
  }),
};
const NATIVE_METRICS = {
  cpu: () => ({ resource: { name: "cpu" }, target: 100 }),
  pods: () => ({ pods: { metric: "rps" }, target: 10 }),
  external: (name: string) => ({
    external: { metric: `load-${name}` },
    measure: "Average",
    target: 10,
  }),
};
const WATERMARK_METRICS = {
  cpu: (name: string) => ({
    type: "Resource",
    resource: {
      name: "cpu",
      metricSelector: { matchLabels: { app: name } },
      highWatermark: "100m",
      lowWatermark: "100m",
    },
  }),
  external: (name: string) => ({
    type: "External",
    external: {
      metricName: `load-${name}`,
      metricSelector: {},
      highWatermark: "10",
      lowWatermark: "10",
    },
  }),
};

const BOUNDS = { minReplicas: 1, maxReplicas: 10 };

/** A manifest of each dialect that scales one workload by one metric, without any wait. */
export const MANIFESTS = {
  hpa: (workload: Workload, metric: MetricName) => ({
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: workload.name },
    spec: {
      scaleTargetRef: target(workload),
      ...BOUNDS,
      metrics: [HPA_METRICS[metric](workload.name)],
      behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
    },
  }),
  native: (workload: Workload, metric: MetricName) => ({
    apiVersion: "tidemark.dev/v1",
    kind: "PodAutoscaler",
    metadata: { name: workload.name },
    spec: {
      scaleTargetRef: target(workload),
      ...BOUNDS,
      metrics: [NATIVE_METRICS[metric](workload.name)],
      scaleDown: { stabilizationWindowSeconds: 0 },
    },
  }),
  watermark: (workload: Workload, metric: "cpu" | "external") => ({
    apiVersion: "datadoghq.com/v1alpha1",
    kind: "WatermarkPodAutoscaler",
    metadata: { name: workload.name },
    spec: {
      scaleTargetRef: target(workload),
      ...BOUNDS,
      algorithm: "average",
      tolerance: "0.01",
      metrics: [WATERMARK_METRICS[metric](workload.name)],
      scaleUpLimitFactor: "200",
      scaleDownLimitFactor: "90",
      upscaleForbiddenWindowSeconds: 1,
      downscaleForbiddenWindowSeconds: 1,
    },
  }),
};
