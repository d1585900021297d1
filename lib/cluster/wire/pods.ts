import { list, map, message, one, type WireKind } from "./message.ts";
import { DURATION, listOf, POD_META, QUANTITY, TIME } from "./meta.ts";

const RESOURCE_REQUIREMENTS = message("k8s.io.api.core.v1.ResourceRequirements", { limits: map(1, QUANTITY), requests: map(2, QUANTITY) });

const CONTAINER = message("k8s.io.api.core.v1.Container", {
  name: one(1, "text"),
  resources: one(8, RESOURCE_REQUIREMENTS),
  restartPolicy: one(24, "text"),
});

const POD_SPEC = message("k8s.io.api.core.v1.PodSpec", {
  containers: list(2, CONTAINER),
  initContainers: list(20, CONTAINER),
  overhead: map(32, QUANTITY),
  resources: one(40, RESOURCE_REQUIREMENTS),
});

const POD_CONDITION = message("k8s.io.api.core.v1.PodCondition", {
  type: one(1, "text"),
  status: one(2, "text"),
  lastTransitionTime: one(4, TIME),
});

const POD_STATUS = message("k8s.io.api.core.v1.PodStatus", {
  phase: one(1, "text"),
  conditions: list(2, POD_CONDITION),
  startTime: one(7, TIME),
});

const POD = message("k8s.io.api.core.v1.Pod", { metadata: one(1, POD_META), spec: one(2, POD_SPEC), status: one(3, POD_STATUS) });

export const POD_LIST: WireKind = { kind: "PodList", message: listOf("k8s.io.api.core.v1.PodList", POD) };

const CONTAINER_METRICS = message("k8s.io.metrics.pkg.apis.metrics.v1beta1.ContainerMetrics", { name: one(1, "text"), usage: map(2, QUANTITY) });

const POD_METRICS = message("k8s.io.metrics.pkg.apis.metrics.v1beta1.PodMetrics", {
  metadata: one(1, POD_META),
  timestamp: one(2, TIME),
  window: one(3, DURATION),
  containers: list(4, CONTAINER_METRICS),
});

/** The field numbers are the same in every version of the group. */
export const POD_METRICS_LIST: WireKind = {
  kind: "PodMetricsList",
  message: listOf("k8s.io.metrics.pkg.apis.metrics.v1beta1.PodMetricsList", POD_METRICS),
};
