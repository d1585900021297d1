import type { App } from "../control-plane/fill.ts";

/**
 * The two clusters of a run. Both are the same API server; the autoscalers of the second are its
 * objects.
 */
export const FROM_TABLE = "eu-1";
export const FROM_OBJECTS = "eu-2";
export const CLUSTERS = [FROM_TABLE, FROM_OBJECTS] as const;
type Name = (typeof CLUSTERS)[number];

const POLICY = { pods: 3, periodMs: 30_000 };
const BOUNDS = { minReplicas: 1, maxReplicas: 8 };
/** What every autoscaler of a run keeps to. */
export const LIMITS = { ...POLICY, ...BOUNDS };

const APPS_EACH = 3;

/** The workloads of each namespace. */
const appsIn = (namespaces: readonly string[], prefix: string): readonly App[] =>
  namespaces.flatMap((namespace, at) =>
    Array.from({ length: APPS_EACH }, (_, app) => ({ namespace, name: `${prefix}-${at}-${app}` })),
  );

/** A namespace is a partition. The first of a cluster also takes what no other partition names. */
export const NAMESPACES: Readonly<Record<Name, readonly string[]>> = {
  [FROM_TABLE]: ["team-0", "team-1", "team-2", "team-3"],
  [FROM_OBJECTS]: ["team-4", "team-5"],
};
export const APPS: Readonly<Record<Name, readonly App[]>> = {
  [FROM_TABLE]: appsIn(NAMESPACES[FROM_TABLE], "app"),
  [FROM_OBJECTS]: appsIn(NAMESPACES[FROM_OBJECTS], "own"),
};

export const partitionsOf = (
  namespaces: readonly string[],
): readonly { readonly name: string; readonly namespaces?: readonly string[] }[] => {
  const [rest = "", ...divided] = namespaces;
  return [{ name: rest }, ...divided.map((name) => ({ name, namespaces: [name] }))];
};

const policies = [{ type: "Pods", value: POLICY.pods, periodSeconds: POLICY.periodMs / 1_000 }];
const behavior = {
  scaleUp: { stabilizationWindowSeconds: 0, policies },
  scaleDown: { stabilizationWindowSeconds: 0, policies },
};
const metrics = [
  {
    type: "Resource",
    resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 100 } },
  },
];

const targetOf = ({ name }: App): object => ({ apiVersion: "apps/v1", kind: "Deployment", name });

export const hpaOf = (app: App): object => ({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: app.name, namespace: app.namespace },
  spec: { scaleTargetRef: targetOf(app), ...BOUNDS, metrics, behavior },
});

/** The same rules as an object of the cluster. */
export const podAutoscalerOf = (app: App): object => ({
  apiVersion: "tidemark.dev/v1",
  kind: "PodAutoscaler",
  metadata: { name: app.name, namespace: app.namespace },
  spec: { rules: "hpa", scaleTargetRef: targetOf(app), ...BOUNDS, hpa: { metrics, behavior } },
});
