import { UNREADY } from "../control-plane/kubelet.ts";
import type { MetricsScript } from "../control-plane/metrics-script.ts";
import { WITH_SIDECAR } from "./objects.ts";

/** A deployment, its HPA, and what its metrics say in each phase. */
export interface ParityCase {
  readonly replicas: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly minReplicas?: number;
    readonly maxReplicas: number;
    readonly metrics: readonly object[];
    readonly behavior: object;
  };
  /**
   * By phase: keys without the namespace and the name, which come behind the first word. A metric
   * keeps its value until another phase sets it.
   */
  readonly phases: readonly MetricsScript[];
}

const cpu = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 100 } },
};
const cpuOfApp = {
  type: "ContainerResource",
  containerResource: {
    name: "cpu",
    container: "app",
    target: { type: "Utilization", averageUtilization: 100 },
  },
};
const cpuOfAppInAll = {
  type: "ContainerResource",
  containerResource: {
    name: "cpu",
    container: "app",
    target: { type: "AverageValue", averageValue: "100m" },
  },
};
const rps = {
  type: "Pods",
  pods: { metric: { name: "rps" }, target: { type: "AverageValue", averageValue: "10" } },
};
const queue = {
  type: "External",
  external: { metric: { name: "queue" }, target: { type: "AverageValue", averageValue: "10" } },
};
const backlog = {
  type: "External",
  external: { metric: { name: "backlog" }, target: { type: "AverageValue", averageValue: "100" } },
};
const hits = (name: string) => ({
  type: "Object",
  object: {
    describedObject: { apiVersion: "apps/v1", kind: "Deployment", name },
    metric: { name: "hits" },
    target: { type: "Value", value: "50" },
  },
});

const PERIOD = { periodSeconds: 2 };
/**
 * The default policies of the way up count 15 s: a slow machine would spread them over more phases.
 */
const UP_AT_ONCE = { policies: [{ type: "Pods", value: 100, ...PERIOD }] };
const AT_ONCE = { scaleUp: UP_AT_ONCE, scaleDown: { stabilizationWindowSeconds: 0 } };

/**
 * Loads are in thousandths of a core, of which each pod asks for 100; in requests, of which each
 * pod takes 10; and in messages, of which each pod takes 10.
 */
export const CASES: Readonly<Record<string, ParityCase>> = {
  cpu: {
    replicas: 2,
    spec: { minReplicas: 1, maxReplicas: 8, metrics: [cpu], behavior: AT_ONCE },
    phases: [{ cpu: 200 }, { cpu: 520 }, { cpu: 540 }, { cpu: 2_000 }, { cpu: 90 }],
  },
  several: {
    replicas: 2,
    spec: { minReplicas: 1, maxReplicas: 9, metrics: [cpu, rps, queue], behavior: AT_ONCE },
    phases: [
      { cpu: 150, "pods rps": 15, "external queue": 15 },
      { "pods rps": 44 },
      { "external queue": 68 },
      { "pods rps": 5, cpu: 130 },
      { "external queue": 35 },
    ],
  },
  policies: {
    replicas: 2,
    spec: {
      minReplicas: 1,
      maxReplicas: 12,
      metrics: [queue],
      behavior: {
        scaleUp: {
          policies: [
            { type: "Pods", value: 3, ...PERIOD },
            { type: "Percent", value: 50, ...PERIOD },
          ],
          selectPolicy: "Max",
        },
        scaleDown: {
          stabilizationWindowSeconds: 0,
          policies: [
            { type: "Pods", value: 4, ...PERIOD },
            { type: "Percent", value: 50, ...PERIOD },
          ],
          selectPolicy: "Min",
        },
      },
    },
    phases: [
      { "external queue": 20 },
      { "external queue": 110 },
      { "external queue": 110 },
      { "external queue": 15 },
      { "external queue": 15 },
    ],
  },
  window: {
    replicas: 3,
    spec: {
      minReplicas: 1,
      maxReplicas: 9,
      metrics: [queue],
      behavior: {
        scaleUp: { ...UP_AT_ONCE, stabilizationWindowSeconds: 2 },
        scaleDown: { stabilizationWindowSeconds: 2 },
      },
    },
    phases: [
      { "external queue": 30 },
      { "external queue": 55 },
      { "external queue": 20 },
      { "external queue": 31 },
      { "external queue": 10 },
    ],
  },
  missing: {
    replicas: 2,
    spec: { minReplicas: 1, maxReplicas: 9, metrics: [cpu, queue], behavior: AT_ONCE },
    phases: [
      { cpu: 200, "external queue": 10 },
      { cpu: null },
      { "external queue": 50 },
      { "external queue": 10 },
      { cpu: 100 },
    ],
  },
  unmeasured: {
    replicas: 4,
    spec: { minReplicas: 2, maxReplicas: 9, metrics: [cpu], behavior: AT_ONCE },
    phases: [
      { cpu: 400 },
      { cpu: 200, unmeasured: 1 },
      { cpu: 700 },
      { cpu: 150 },
      { unmeasured: null },
    ],
  },
  unready: {
    replicas: 2,
    labels: UNREADY,
    spec: { minReplicas: 1, maxReplicas: 9, metrics: [cpu, queue], behavior: AT_ONCE },
    phases: [
      { cpu: 200, "external queue": 20 },
      { cpu: 800 },
      { "external queue": 35 },
      { cpu: 50, "external queue": 10 },
      { cpu: null },
    ],
  },
  // What the other container uses must not count, and a sample without the container is a missing
  // metric.
  container: {
    replicas: 2,
    labels: WITH_SIDECAR,
    spec: { minReplicas: 1, maxReplicas: 9, metrics: [cpuOfApp], behavior: AT_ONCE },
    phases: [
      { "cpu app": 200, "cpu sidecar": 100 },
      { "cpu sidecar": 2_000 },
      { "cpu app": 520 },
      { "cpu app": null },
      { "cpu app": 90 },
    ],
  },
  average: {
    replicas: 2,
    labels: WITH_SIDECAR,
    spec: { minReplicas: 1, maxReplicas: 9, metrics: [cpuOfAppInAll, queue], behavior: AT_ONCE },
    phases: [
      { "cpu app": 200, "cpu sidecar": 900, "external queue": 20 },
      { "cpu app": 340 },
      { "cpu app": null },
      { "external queue": 58 },
      { "cpu app": 100, "external queue": 10 },
    ],
  },
  zero: {
    replicas: 1,
    spec: { minReplicas: 0, maxReplicas: 6, metrics: [backlog], behavior: AT_ONCE },
    phases: [
      { "external backlog": 100 },
      { "external backlog": 0 },
      { "external backlog": 90 },
      { "external backlog": 250 },
      { "external backlog": 0 },
    ],
  },
  object: {
    replicas: 2,
    spec: { minReplicas: 1, maxReplicas: 9, metrics: [hits("object")], behavior: AT_ONCE },
    phases: [
      { "object hits": 50 },
      { "object hits": 51 },
      { "object hits": 52 },
      { "object hits": 20 },
      { "object hits": 50 },
    ],
  },
};

/** The keys of the metrics stand-in. */
export const scriptOf = (namespace: string, name: string, phase: MetricsScript): MetricsScript =>
  Object.fromEntries(
    Object.entries(phase).map(([key, value]) => {
      const [kind = "", metric] = key.split(" ");
      switch (kind) {
        case "cpu":
          return [`cpu ${namespace}/${name}${metric === undefined ? "" : `/${metric}`}`, value];
        case "pods":
          return [`pods ${namespace}/${name}/${metric}`, value];
        case "external":
          return [`external ${namespace}/${name}-${metric}`, value];
        case "object":
          return [`object ${namespace}/deployments/${name}/${metric}`, value];
        default:
          return [`${kind} ${namespace}/${name}`, value];
      }
    }),
  );

/** The HPA of a case. External metrics have the name of the case before their own. */
export const hpaOf = (name: string, { spec }: ParityCase): object => {
  const text = JSON.stringify(spec.metrics).replaceAll(/"(queue|backlog)"/g, `"${name}-$1"`);
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name };
  const metadata = { name };
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata,
    spec: { ...spec, scaleTargetRef, metrics: JSON.parse(text) },
  };
};
