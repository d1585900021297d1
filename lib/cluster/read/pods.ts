import type { Container, Pod } from "../../model/observation.ts";
import { asList, asName, asObject, asText, asTexts, type Json } from "../../model/read/json.ts";
import { readAmounts } from "../../model/read/amounts.ts";
import { readTime } from "../../model/read/time.ts";

/** Items of a core/v1 PodList. */
export const readPods = (items: unknown): readonly Pod[] => asList(items).map(readPod);

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
    if (condition["type"] === "Ready") return { status: asText(condition["status"]), transitionMs: readTime(condition["lastTransitionTime"]) ?? 0 };
  }
  return undefined;
};

const readContainer = (raw: unknown): Container => {
  const container = asObject(raw);
  const resources: Json = asObject(container["resources"]);
  return {
    name: asName(container["name"]),
    requests: readAmounts(resources["requests"]),
    limits: readAmounts(resources["limits"]),
    restartable: container["restartPolicy"] === "Always",
  };
};
