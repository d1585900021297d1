import type { AutoscalerView } from "../../service/views/view-types.ts";
import { namesIn } from "../../service/views/row-view.ts";

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

/** An autoscaler in the form of `kubectl get -o yaml`: the manifest as it was applied, with metadata and status. */
export const kubernetesObject = ({ manifest, name, namespace, uid, generation, createdAt, ...status }: AutoscalerView): Added => {
  const { apiVersion, kind, metadata, ...rest } = manifest as { readonly apiVersion?: string; readonly kind?: string; readonly metadata?: object };
  return { ...{ apiVersion, kind }, metadata: { ...metadata, name, namespace, uid, generation, creationTimestamp: createdAt }, ...rest, status };
};

export const kubernetesList = (views: readonly AutoscalerView[]) => listOf(views.map(kubernetesObject));

/** A list, as Kubernetes prints one. */
export const listOf = <Item>(items: readonly Item[]) => ({ apiVersion: "v1", kind: "List", items });
