import { repeated, map, message, one, type WireKind } from "../wire/message.ts";
import { DURATION, listMessage, POD_META, QUANTITY_MESSAGE, TIME } from "../wire/objects.ts";
import type { Container, Pod } from "../../../rules/model/observation.ts";
import {
  asList,
  asName,
  asObject,
  asText,
  asTexts,
  type Json,
  readAmounts,
  readTime,
} from "../../../rules/model/json.ts";

const RESOURCE_REQUIREMENTS = message("k8s.io.api.core.v1.ResourceRequirements", {
  limits: map(1, QUANTITY_MESSAGE),
  requests: map(2, QUANTITY_MESSAGE),
});

const CONTAINER = message("k8s.io.api.core.v1.Container", {
  name: one(1, "text"),
  resources: one(8, RESOURCE_REQUIREMENTS),
  restartPolicy: one(24, "text"),
});

const POD_SPEC = message("k8s.io.api.core.v1.PodSpec", {
  containers: repeated(2, CONTAINER),
  initContainers: repeated(20, CONTAINER),
  overhead: map(32, QUANTITY_MESSAGE),
  resources: one(40, RESOURCE_REQUIREMENTS),
});

const POD_CONDITION = message("k8s.io.api.core.v1.PodCondition", {
  type: one(1, "text"),
  status: one(2, "text"),
  lastTransitionTime: one(4, TIME),
});

const POD_STATUS = message("k8s.io.api.core.v1.PodStatus", {
  phase: one(1, "text"),
  conditions: repeated(2, POD_CONDITION),
  startTime: one(7, TIME),
});

const POD = message("k8s.io.api.core.v1.Pod", {
  metadata: one(1, POD_META),
  spec: one(2, POD_SPEC),
  status: one(3, POD_STATUS),
});

export const POD_LIST: WireKind = {
  kind: "PodList",
  message: listMessage("k8s.io.api.core.v1.PodList", POD),
};

const CONTAINER_METRICS = message("k8s.io.metrics.pkg.apis.metrics.v1beta1.ContainerMetrics", {
  name: one(1, "text"),
  usage: map(2, QUANTITY_MESSAGE),
});

const POD_METRICS = message("k8s.io.metrics.pkg.apis.metrics.v1beta1.PodMetrics", {
  metadata: one(1, POD_META),
  timestamp: one(2, TIME),
  window: one(3, DURATION),
  containers: repeated(4, CONTAINER_METRICS),
});

/** The field numbers are the same in every version of the group. */
export const POD_METRICS_LIST: WireKind = {
  kind: "PodMetricsList",
  message: listMessage("k8s.io.metrics.pkg.apis.metrics.v1beta1.PodMetricsList", POD_METRICS),
};

export const readPod = (raw: unknown): Pod => {
  const pod = asObject(raw);
  const metadata = asObject(pod["metadata"]);
  const spec = asObject(pod["spec"]);
  const status = asObject(pod["status"]);
  const startMs = readTime(status["startTime"]);
  const ready = readReady(status["conditions"]);
  const podRequests = asObject(spec["resources"])["requests"];
  return {
    name: asName(metadata["name"]),
    labels: asTexts(metadata["labels"]),
    owners: asList(metadata["ownerReferences"]).map(readOwner),
    deleting: isTime(metadata["deletionTimestamp"]),
    phase: asText(status["phase"]),
    containers: asList(spec["containers"]).map(readContainer),
    initContainers: asList(spec["initContainers"]).map(readContainer),
    overhead: readAmounts(spec["overhead"]),
    ...(startMs === undefined ? {} : { startMs }),
    ...(ready === undefined ? {} : { ready }),
    ...(podRequests === undefined ? {} : { podRequests: readAmounts(podRequests) }),
  };
};

/** A text in JSON, seconds in protobuf; a time that cannot be read is one, too. */
const isTime = (raw: unknown): boolean => asText(raw) !== "" || typeof raw === "bigint";

const readOwner = (raw: unknown): { kind: string; name: string } => {
  const owner = asObject(raw);
  return { kind: asText(owner["kind"]), name: asText(owner["name"]) };
};

const readReady = (conditions: unknown): Pod["ready"] => {
  for (const raw of asList(conditions)) {
    const condition = asObject(raw);
    // A missing transition time is the zero time, as in the controller.
    if (condition["type"] === "Ready")
      return {
        status: asText(condition["status"]),
        transitionMs: readTime(condition["lastTransitionTime"]) ?? 0,
      };
  }
  return undefined;
};

export const readContainer = (raw: unknown): Container => {
  const container = asObject(raw);
  const resources: Json = asObject(container["resources"]);
  return {
    name: asName(container["name"]),
    requests: readAmounts(resources["requests"]),
    limits: readAmounts(resources["limits"]),
    restartable: container["restartPolicy"] === "Always",
  };
};
