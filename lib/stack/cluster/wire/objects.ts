import {
  repeated,
  type Message,
  map,
  message,
  NAMED,
  one,
  single,
  type WireKind,
} from "./message.ts";

/**
 * The messages that all kinds share, with the fields that are read of them (k8s.io/apimachinery).
 */

/** The nanoseconds of a Time are not read. The API server does not write them into JSON either. */
export const TIME = single(
  "k8s.io.apimachinery.pkg.apis.meta.v1.Time",
  "seconds",
  one(1, "bigint64"),
);
/** A Duration in nanoseconds. */
export const DURATION = single(
  "k8s.io.apimachinery.pkg.apis.meta.v1.Duration",
  "duration",
  one(1, "bigint64"),
);
export const QUANTITY_MESSAGE = single(
  "k8s.io.apimachinery.pkg.api.resource.Quantity",
  "string",
  one(1, "text"),
);

const OWNER_REFERENCE = message("k8s.io.apimachinery.pkg.apis.meta.v1.OwnerReference", {
  kind: one(1, "text"),
  name: one(3, "text"),
});

const OBJECT_META = "k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta";
/** The metadata of a pod and of its metrics. */
export const POD_META = message(OBJECT_META, {
  name: one(1, "text"),
  namespace: one(3, "text"),
  resourceVersion: one(6, "text"),
  deletionTimestamp: one(9, TIME),
  labels: map(11, "text"),
  ownerReferences: repeated(13, OWNER_REFERENCE),
});
/** The fields that a writer of an object has set, as the bytes of a JSON document. */
const FIELDS = single("k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1", "Raw", one(1, "bytes"));
const MANAGED_FIELDS_ENTRY = message("k8s.io.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry", {
  manager: one(1, "text"),
  fieldsV1: one(7, FIELDS),
  subresource: one(8, "text"),
});

/** The metadata of a workload, with the fields that a write of its scale needs. */
const WORKLOAD_META = message(OBJECT_META, {
  name: one(1, "text"),
  namespace: one(3, "text"),
  uid: one(5, "text"),
  resourceVersion: one(6, "text"),
  generation: one(7, "int64"),
  managedFields: repeated(17, MANAGED_FIELDS_ENTRY),
});
/** The metadata of another controller of a workload. */
const RIVAL_META = message(OBJECT_META, {
  name: one(1, "text"),
  namespace: one(3, "text"),
  uid: one(5, "text"),
  ownerReferences: repeated(13, OWNER_REFERENCE),
});

const LABEL_SELECTOR_REQUIREMENT = message(
  "k8s.io.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement",
  {
    key: one(1, "text"),
    operator: one(2, "text"),
    values: repeated(3, "text"),
  },
);
const LABEL_SELECTOR = message("k8s.io.apimachinery.pkg.apis.meta.v1.LabelSelector", {
  matchLabels: map(1, "text"),
  matchExpressions: repeated(2, LABEL_SELECTOR_REQUIREMENT),
});

const LIST_META = message("k8s.io.apimachinery.pkg.apis.meta.v1.ListMeta", {
  resourceVersion: one(2, "text"),
  continue: one(3, "text"),
  remainingItemCount: one(4, "int64"),
});
/** Every list has metadata and items at the same field numbers. */
export const listMessage = (fullName: string, item: Message): Message =>
  message(fullName, { metadata: one(1, LIST_META), items: repeated(2, item) });

/** Of any list the names of its items. */
export const NAMED_LIST = listMessage("NamedList", NAMED);

/** The Status object of a refused call. */
export const STATUS = message("k8s.io.apimachinery.pkg.apis.meta.v1.Status", {
  message: one(3, "text"),
  reason: one(4, "text"),
  code: one(6, "int32"),
});

/** The envelope of every answer. */
export const UNKNOWN_MESSAGE = message("k8s.io.apimachinery.pkg.runtime.Unknown", {
  typeMeta: one(
    1,
    message("k8s.io.apimachinery.pkg.runtime.TypeMeta", {
      apiVersion: one(1, "text"),
      kind: one(2, "text"),
    }),
  ),
  raw: one(2, "bytes"),
  contentEncoding: one(3, "text"),
});

const GROUP_VERSION = message("k8s.io.apimachinery.pkg.apis.meta.v1.GroupVersionForDiscovery", {
  version: one(2, "text"),
});
export const API_GROUP = message("k8s.io.apimachinery.pkg.apis.meta.v1.APIGroup", {
  versions: repeated(2, GROUP_VERSION),
  preferredVersion: one(3, GROUP_VERSION),
});
const API_RESOURCE = message("k8s.io.apimachinery.pkg.apis.meta.v1.APIResource", {
  name: one(1, "text"),
  kind: one(3, "text"),
});
/** The kinds of one version of an API group. */
export const API_RESOURCES = message("k8s.io.apimachinery.pkg.apis.meta.v1.APIResourceList", {
  resources: repeated(2, API_RESOURCE),
});

/** The fields of a condition that Deployment, ReplicaSet and ReplicationController share. */
const workloadCondition = (
  file: string,
  kind: string,
  at: { readonly reason: number; readonly message: number },
): Message =>
  message(`k8s.io.api.${file}.${kind}Condition`, {
    type: one(1, "text"),
    status: one(2, "text"),
    reason: one(at.reason, "text"),
    message: one(at.message, "text"),
  });

const listKind = (
  file: string,
  kind: string,
  replicasInStatus: number,
  conditions: Message | undefined,
  selector = one(2, LABEL_SELECTOR),
): WireKind => {
  const name = `k8s.io.api.${file}.${kind}`;
  const spec = message(`${name}Spec`, { replicas: one(1, "int32"), selector });
  const status = message(`${name}Status`, {
    replicas: one(replicasInStatus, "int32"),
    ...(conditions && { conditions: repeated(6, conditions) }),
  });
  const workload = message(name, {
    metadata: one(1, WORKLOAD_META),
    spec: one(2, spec),
    status: one(3, status),
  });
  return { kind: `${kind}List`, message: listMessage(`${name}List`, workload) };
};

/** The kinds by their resource, as in messages of the API server. */
export const WORKLOAD_LISTS: Readonly<Record<string, WireKind>> = {
  "deployments.apps": listKind(
    "apps.v1",
    "Deployment",
    2,
    workloadCondition("apps.v1", "Deployment", { reason: 4, message: 5 }),
  ),
  // Its controller never says that pods are refused.
  "statefulsets.apps": listKind("apps.v1", "StatefulSet", 2, undefined),
  "replicasets.apps": listKind(
    "apps.v1",
    "ReplicaSet",
    1,
    workloadCondition("apps.v1", "ReplicaSet", { reason: 4, message: 5 }),
  ),
  replicationcontrollers: listKind(
    "core.v1",
    "ReplicationController",
    1,
    workloadCondition("core.v1", "ReplicationController", { reason: 4, message: 5 }),
    map(2, "text"),
  ),
};

const SCALE_TARGET_REF = message("k8s.io.api.autoscaling.v2.CrossVersionObjectReference", {
  kind: one(1, "text"),
  name: one(2, "text"),
  apiVersion: one(3, "text"),
});

const HPA_SPEC = message("k8s.io.api.autoscaling.v2.HorizontalPodAutoscalerSpec", {
  scaleTargetRef: one(1, SCALE_TARGET_REF),
});

const HPA_CONDITION = message("k8s.io.api.autoscaling.v2.HorizontalPodAutoscalerCondition", {
  type: one(1, "text"),
  status: one(2, "text"),
  reason: one(4, "text"),
  message: one(5, "text"),
});

const HPA_STATUS = message("k8s.io.api.autoscaling.v2.HorizontalPodAutoscalerStatus", {
  lastScaleTime: one(2, TIME),
  desiredReplicas: one(4, "int32"),
  conditions: repeated(6, HPA_CONDITION),
});

const HPA = message("k8s.io.api.autoscaling.v2.HorizontalPodAutoscaler", {
  metadata: one(1, RIVAL_META),
  spec: one(2, HPA_SPEC),
  status: one(3, HPA_STATUS),
});

export const HPA_LIST: WireKind = {
  kind: "HorizontalPodAutoscalerList",
  message: listMessage("k8s.io.api.autoscaling.v2.HorizontalPodAutoscalerList", HPA),
};
