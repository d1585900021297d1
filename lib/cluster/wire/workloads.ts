import { list, map, message, one, type WireKind } from "./message.ts";
import { LABEL_SELECTOR, listOf, RIVAL_META, TIME, WORKLOAD_META } from "./meta.ts";

const listKind = (file: string, kind: string, replicasInStatus: number): WireKind => {
  const name = `k8s.io.api.${file}.${kind}`;
  const spec = message(`${name}Spec`, { replicas: one(1, "int32"), selector: one(2, LABEL_SELECTOR) });
  const status = message(`${name}Status`, { replicas: one(replicasInStatus, "int32") });
  const workload = message(name, { metadata: one(1, WORKLOAD_META), spec: one(2, spec), status: one(3, status) });
  return { kind: `${kind}List`, message: listOf(`${name}List`, workload) };
};

const replicationControllers = (): WireKind => {
  const spec = message("k8s.io.api.core.v1.ReplicationControllerSpec", { replicas: one(1, "int32"), selector: map(2, "text") });
  const status = message("k8s.io.api.core.v1.ReplicationControllerStatus", { replicas: one(1, "int32") });
  const workload = message("k8s.io.api.core.v1.ReplicationController", {
    metadata: one(1, WORKLOAD_META),
    spec: one(2, spec),
    status: one(3, status),
  });
  return { kind: "ReplicationControllerList", message: listOf("k8s.io.api.core.v1.ReplicationControllerList", workload) };
};

/** The kinds by their resource, as in messages of the API server. */
export const WORKLOAD_LISTS: Readonly<Record<string, WireKind>> = {
  "deployments.apps": listKind("apps.v1", "Deployment", 2),
  "statefulsets.apps": listKind("apps.v1", "StatefulSet", 2),
  "replicasets.apps": listKind("apps.v1", "ReplicaSet", 1),
  replicationcontrollers: replicationControllers(),
};

const SCALE_TARGET_REF = message("k8s.io.api.autoscaling.v2.CrossVersionObjectReference", {
  kind: one(1, "text"),
  name: one(2, "text"),
  apiVersion: one(3, "text"),
});

const HPA_SPEC = message("k8s.io.api.autoscaling.v2.HorizontalPodAutoscalerSpec", { scaleTargetRef: one(1, SCALE_TARGET_REF) });

const HPA_CONDITION = message("k8s.io.api.autoscaling.v2.HorizontalPodAutoscalerCondition", {
  type: one(1, "text"),
  status: one(2, "text"),
  reason: one(4, "text"),
  message: one(5, "text"),
});

const HPA_STATUS = message("k8s.io.api.autoscaling.v2.HorizontalPodAutoscalerStatus", {
  lastScaleTime: one(2, TIME),
  desiredReplicas: one(4, "int32"),
  conditions: list(6, HPA_CONDITION),
});

const HPA = message("k8s.io.api.autoscaling.v2.HorizontalPodAutoscaler", {
  metadata: one(1, RIVAL_META),
  spec: one(2, HPA_SPEC),
  status: one(3, HPA_STATUS),
});

export const HPA_LIST: WireKind = {
  kind: "HorizontalPodAutoscalerList",
  message: listOf("k8s.io.api.autoscaling.v2.HorizontalPodAutoscalerList", HPA),
};
