import { isObject } from "../../model/json.ts";
import { fieldAt, type KubeObject } from "./list-selectors.ts";
import type { Resource } from "./served-resources.ts";

type Cell = (object: KubeObject) => string | number;

/** A number that a real server leaves out when it is 0. */
const count =
  (path: string): Cell =>
  (object) =>
    Number(fieldAt(object, path) ?? 0);

const podStatus: Cell = (object) => {
  if (fieldAt(object, "metadata.deletionTimestamp") !== undefined) return "Terminating";
  const phase = String(fieldAt(object, "status.phase"));
  return phase === "Pending" && fieldAt(object, "status.startTime") !== undefined ? "ContainerCreating" : phase;
};

/** A field of the object; empty where it is absent. */
const field =
  (path: string): Cell =>
  (object) => {
    const value = fieldAt(object, path);
    return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
  };

const ready: Cell = (object) => {
  const conditions = fieldAt(object, "status.conditions");
  const condition = Array.isArray(conditions) ? conditions.findIndex((each) => isObject(each) && each["type"] === "Ready") : -1;
  return field(`status.conditions.${condition}.reason`)(object);
};

/** What stands between NAME and AGE. */
const COLUMNS: Readonly<Record<string, Readonly<Record<string, Cell>>>> = {
  Deployment: {
    Ready: (object) => `${count("status.readyReplicas")(object)}/${count("spec.replicas")(object)}`,
    "Up-to-date": count("status.updatedReplicas"),
    Available: count("status.availableReplicas"),
  },
  ReplicaSet: { Desired: count("spec.replicas"), Current: count("status.replicas"), Ready: count("status.readyReplicas") },
  Pod: {
    Ready: (object) => (fieldAt(object, "status.containerStatuses.0.ready") === true ? "1/1" : "0/1"),
    Status: podStatus,
    Restarts: () => 0,
  },
  PodAutoscaler: {
    Reference: field("spec.scaleTargetRef.name"),
    Targets: field("status.targets"),
    MinPods: field("spec.minReplicas"),
    MaxPods: field("spec.maxReplicas"),
    Replicas: field("status.currentReplicas"),
    Why: ready,
  },
  WatermarkPodAutoscaler: {
    Value: field("status.currentMetrics.0.external.currentValue"),
    "High Watermark": field("spec.metrics.0.external.highWatermark"),
    "Low Watermark": field("spec.metrics.0.external.lowWatermark"),
    "Min Replicas": field("spec.minReplicas"),
    "Max Replicas": field("spec.maxReplicas"),
    "Dry-run": field("spec.dryRun"),
  },
  Event: { Type: field("type"), Reason: field("reason"), Object: field("involvedObject.name"), Message: field("message") },
  Namespace: { Status: (object) => String(fieldAt(object, "status.phase")) },
};

/** True for clients that let the server lay out what people read, as kubectl does. */
export const wantsTable = (accept: string): boolean =>
  accept.split(",").some((type) => /;as=Table\b/.test(type) && /;g=meta\.k8s\.io\b/.test(type) && /;v=v1(;|$)/.test(type));

/** Objects as rows. Ages are by the cluster's own clock, which the client's may be far from. */
export const table = ({ kind }: Resource, objects: readonly KubeObject[], metadata: unknown, nowMs: number) => {
  const between = Object.entries(COLUMNS[kind] ?? {});
  const names = ["Name", ...between.map(([name]) => name), "Age"];
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: names.map((name) => ({ name, type: "string", format: name === "Name" ? "name" : "", description: "", priority: 0 })),
    rows: objects.map((object) => ({
      cells: [object.metadata.name, ...between.map(([, cell]) => cell(object)), ageOf(object, nowMs)],
      object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata },
    })),
  };
};

const AGE_UNITS = [
  { letter: "d", ms: 86_400_000, from: 2 },
  { letter: "h", ms: 3_600_000, from: 3 },
  { letter: "m", ms: 60_000, from: 2 },
] as const;

const ageOf = (object: KubeObject, nowMs: number): string => {
  const ageMs = nowMs - Date.parse(String(fieldAt(object, "metadata.creationTimestamp")));
  if (Number.isNaN(ageMs)) return "<unknown>";
  const unit = AGE_UNITS.find(({ ms, from }) => ageMs >= ms * from);
  return unit ? `${Math.floor(ageMs / unit.ms)}${unit.letter}` : `${Math.floor(ageMs / 1000)}s`;
};
