import type { Container, Pod, PodMetrics } from "../../../lib/rules/model/observation.ts";
import type { Workload } from "../cluster.ts";
import type { ClusterObject } from "../objects/object-store.ts";

/** An object in the JSON of the API. */
export type Raw = Readonly<Record<string, unknown>>;

const SECOND_CHARS = "2026-11-21T12:00:00".length;
/** An API server writes whole seconds. */
const timeText = (ms: number): string => `${new Date(ms).toISOString().slice(0, SECOND_CHARS)}Z`;

const SECOND_MS = 1_000;

const amounts = (milli: Container["requests"]): Raw =>
  Object.fromEntries(Object.entries(milli).map(([name, value]) => [name, `${value}m`]));

export const rawWorkload = ({
  namespace,
  target,
  uid,
  resourceVersion,
  generation,
  replicas,
}: Workload): Raw => ({
  metadata: {
    name: target.name,
    namespace,
    uid,
    resourceVersion: String(resourceVersion),
    ...(generation !== undefined && { generation }),
  },
  spec: { replicas, selector: { matchLabels: { app: target.name } } },
  status: { replicas },
});

export const rawPod = (
  namespace: string,
  { name, labels, owners, phase, startMs, ready, containers }: Pod,
): Raw => ({
  metadata: { name, namespace, labels, ownerReferences: owners },
  spec: {
    containers: containers.map((container) => ({
      name: container.name,
      resources: { requests: amounts(container.requests) },
    })),
  },
  status: {
    phase,
    ...(startMs !== undefined && { startTime: timeText(startMs) }),
    conditions: ready
      ? [{ type: "Ready", status: ready.status, lastTransitionTime: timeText(ready.transitionMs) }]
      : [],
  },
});

export const rawPodMetrics = (
  namespace: string,
  { name, labels, timestampMs, windowMs, containers }: PodMetrics,
): Raw => ({
  metadata: { name, namespace, labels },
  timestamp: timeText(timestampMs),
  window: `${windowMs / SECOND_MS}s`,
  containers: containers.map((container) => ({
    name: container.name,
    usage: amounts(container.usage),
  })),
});

export const rawMetricValue = (load: number, atMs: number): Raw => ({
  value: String(load),
  timestamp: timeText(atMs),
});

export const rawScaledObject = (name: string, { namespace, target }: Workload): Raw => ({
  metadata: { name, namespace },
  spec: { scaleTargetRef: target },
});

/** The object with what an API server adds to its manifest. */
export const rawObject = ({
  uid,
  generation,
  resourceVersion,
  manifest,
  status,
  statusBy,
}: ClusterObject): Raw => {
  const { metadata, ...rest } = JSON.parse(manifest) as { readonly metadata: Raw };
  const writers = [
    { manager: "a person", time: timeText(0) },
    ...(statusBy
      ? [{ manager: statusBy.manager, subresource: "status", time: timeText(statusBy.atMs) }]
      : []),
  ];
  return {
    ...rest,
    metadata: {
      ...metadata,
      uid,
      generation,
      resourceVersion: String(resourceVersion),
      managedFields: writers,
    },
    ...(status && { status }),
  };
};
