import { asObject, isObject, type Json } from "../../model/json.ts";

/** What becomes of an object, a field or a trigger that is not carried over as it is. */
export interface ImportFinding {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /**
   * The field or the trigger: "spec.idleReplicaCount", "triggers[1] (prometheus)". Absent where it
   * is the whole object.
   */
  readonly of?: string;
  /**
   * "lost": it has an effect, and the manifest does not have it. "changed": its effect is had in
   * another way. "without effect": nothing depends on it.
   */
  readonly severity: "lost" | "changed" | "without effect";
  readonly message: string;
}

/** A finding inside one object. */
export type Detail = Pick<ImportFinding, "of" | "severity" | "message">;

/**
 * Annotations of tools about how an object got into its cluster. Applied elsewhere they would be
 * wrong.
 */
const TOOL_ANNOTATION =
  /^(?:kubectl\.kubernetes\.io\/|autoscaling\.alpha\.kubernetes\.io\/|meta\.helm\.sh\/|argocd\.argoproj\.io\/tracking-id$)/;

/** What Flux and KEDA write on the objects that they apply or watch. */
const TOOL_LABEL = /^(?:(?:kustomize|helm)\.toolkit\.fluxcd\.io\/|scaledobject\.keda\.sh\/name$)/;

const without = (entries: unknown, ...patterns: readonly RegExp[]): Json =>
  // Only what is kept is read: the rest is still to be accounted for.
  Object.fromEntries(
    Object.keys(isObject(entries) ? entries : {})
      .filter((key) => !patterns.some((pattern) => pattern.test(key)))
      .map((key) => [key, (entries as Json)[key]]),
  );

/**
 * An object of a cluster as a person would write it: without status and without what the server and
 * its tools have added to the metadata.
 */
export const cleanObject = (raw: Json, dropped: RegExp = TOOL_ANNOTATION): Json => {
  const { apiVersion, kind, spec } = raw;
  return { apiVersion, kind, metadata: cleanMetadata(raw, dropped), spec };
};

export const cleanMetadata = ({ metadata }: Json, dropped: RegExp = TOOL_ANNOTATION): Json => {
  const { name, namespace, ...added } = isObject(metadata) ? metadata : {};
  const labels = without(added["labels"], TOOL_LABEL);
  const annotations = without(added["annotations"], TOOL_ANNOTATION, dropped);
  return {
    name,
    namespace,
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  };
};

const ADAPTER = /^metric-config\.([^.]+)\.(.+)\.[^.]+\/(.+)$/;

/**
 * kube-metrics-adapter collects what such an annotation of an HPA says, and serves it only while
 * the HPA is there.
 */
export const adapterDetails = (hpa: Json): readonly Detail[] => {
  const annotations = asObject(asObject(hpa["metadata"])["annotations"]);
  return Object.keys(annotations).flatMap((key): readonly Detail[] => {
    const [, type, metric] = ADAPTER.exec(key) ?? [];
    return type === undefined
      ? []
      : [
          {
            of: `metadata.annotations["${key}"]`,
            severity: "changed",
            message: `kube-metrics-adapter serves the metric "${metric}" only while an HPA has this annotation: let another adapter or a registered source serve it, because without the HPA it is missing`,
          },
        ];
  });
};
