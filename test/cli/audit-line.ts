export const HPA_CONTROLLER = "system:serviceaccount:kube-system:horizontal-pod-autoscaler";
/** The field manager of Tidemark in the cluster eu-1. */
export const OURS = "tidemark-cluster-eu-1";

/** A write to a Deployment of the namespace shop, by a user or by a field manager of Tidemark. */
export interface AuditedWrite {
  readonly atMs: number;
  readonly by: string;
  /** The user, where it is not the one of Tidemark or `by`. */
  readonly user?: string;
  readonly name?: string;
  readonly code?: number;
  readonly query?: string;
  readonly verb?: string;
  readonly subresource?: string | null;
  readonly body?: object | null;
}

/**
 * An event as kube-apiserver 1.37 writes it at the level Request; without a body (`null`) as at the
 * level Metadata.
 */
export const auditLine = (write: AuditedWrite): string => {
  const {
    atMs,
    by,
    user = by.startsWith("tidemark-") ? "tidemark" : by,
    name = "web",
    code = 200,
    query = "",
    verb = "update",
    subresource = "scale",
    body,
  } = write;
  const at = new Date(atMs).toISOString().replace("Z", "000Z");
  const manager = by.startsWith("tidemark-") ? `fieldManager=${by}` : "";
  return JSON.stringify({
    kind: "Event",
    apiVersion: "audit.k8s.io/v1",
    level: "Request",
    stage: "ResponseComplete",
    requestURI: `/apis/apps/v1/namespaces/shop/deployments/${name}${subresource === null ? "" : "/scale"}?${[manager, query].filter(Boolean).join("&")}`,
    verb,
    user: {
      username: user,
      groups: ["system:authenticated"],
    },
    objectRef: {
      resource: "deployments",
      namespace: "shop",
      name,
      apiGroup: "apps",
      apiVersion: "v1",
      ...(subresource !== null && { subresource }),
    },
    responseStatus: { metadata: {}, code },
    ...(body !== null && { requestObject: body ?? { kind: "Scale", spec: { replicas: 4 } } }),
    requestReceivedTimestamp: at,
    stageTimestamp: at,
  });
};
