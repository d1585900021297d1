import { isObject } from "../../model/json.ts";
import { namesIn } from "../../service/views/row-view.ts";
import type { AutoscalerView } from "../../views/autoscaler.ts";

/** What Tidemark adds to a manifest. `apply` passes over it, so that what `get` and `describe` print can be applied again. */
interface Added {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly generation: number;
    readonly creationTimestamp: string;
  };
  /** The other fields of the view. */
  readonly status: object;
}

/** The kind of the manifest. */
export const kindOf = ({ manifest }: Pick<AutoscalerView, "manifest">): string => namesIn(manifest).kind;

/** The labels of the manifest. */
export const labelsOf = ({ manifest }: Pick<AutoscalerView, "manifest">): Readonly<Record<string, string>> => namesIn(manifest).labels;

/** An autoscaler in the form of `kubectl get -o yaml`: the manifest as it was applied, with metadata, and the status of its own API beside ours, so that a jsonpath for kubectl finds its fields. */
export const kubernetesObject = ({ manifest, name, namespace, uid, generation, createdAt, ...view }: AutoscalerView): Added => {
  const status = { ...view, ...ownStatus(view) };
  const { apiVersion, kind, metadata, ...rest } = manifest as { readonly apiVersion?: string; readonly kind?: string; readonly metadata?: object };
  return { ...{ apiVersion, kind }, metadata: { ...metadata, name, namespace, uid, generation, creationTimestamp: createdAt }, ...rest, status };
};

type OwnFields = Pick<AutoscalerView, "lastScaleAt" | "currentMetrics" | "conditions">;

/** Fields of the status of autoscaling/v1 and v2 that have another name here, or none. */
const ownStatus = ({ lastScaleAt, currentMetrics, conditions }: OwnFields): object => {
  const cpu = cpuUtilization(currentMetrics);
  return {
    ...(lastScaleAt !== undefined && { lastScaleTime: lastScaleAt }),
    ...(cpu !== undefined && { currentCPUUtilizationPercentage: cpu }),
    conditions: conditions.map((condition) => ({ ...condition, lastTransitionTime: condition.since })),
  };
};

const cpuUtilization = (metrics: AutoscalerView["currentMetrics"] = []): number | undefined => {
  for (const { type, resource } of metrics) {
    if (type !== "Resource" || !isObject(resource) || resource["name"] !== "cpu" || !isObject(resource["current"])) continue;
    const { averageUtilization } = resource["current"];
    if (typeof averageUtilization === "number") return averageUtilization;
  }
  return undefined;
};

export const kubernetesList = (views: readonly AutoscalerView[]) => listOf(views.map(kubernetesObject));

/** A list, as Kubernetes prints one. */
export const listOf = <Item>(items: readonly Item[]) => ({ apiVersion: "v1", kind: "List", items });
