import { readExternalValues, readPodMetrics } from "../../../lib/cluster/read/metrics.ts";
import { readPods } from "../../../lib/cluster/read/pods.ts";
import { labelIndex } from "../../../lib/model/label-index.ts";
import type { MetricAnswers, Observation, Pod, ScaleRead } from "../../../lib/model/observation.ts";
import { type Questions, queryKey, questions } from "../../../lib/model/query.ts";
import type { AutoscalerSpec } from "../../../lib/model/spec.ts";
import type { TargetRef } from "../../../lib/model/spec-governed.ts";
import type { CountsStep } from "./case.ts";

const LABELS = { app: "workload" };
const CONTAINER = "app";
/** Long before the first step: started, and ready a day later, so that no initial delay is still running. */
const STARTED = "2025-01-01T00:00:00Z";
const READY_SINCE = "2025-01-02T00:00:00Z";

export interface Workload {
  readonly spec: AutoscalerSpec;
  readonly namespace: string;
  readonly replicas: number;
}

/** What a sync sees at a step: raw answers of the APIs, read as production reads them, to the questions that the spec asks. */
export const observe = ({ spec, namespace, replicas }: Workload, step: CountsStep, nowMs: number): Observation => {
  const scale: ScaleRead = {
    kind: "read",
    specReplicas: replicas,
    statusReplicas: replicas,
    selector: "app=workload",
    uid: "u",
    resourceVersion: "1",
  };
  const asked = questions(spec, namespace, scale);
  const names = asked.pods || asked.podMetrics ? Array.from({ length: replicas }, (_, index) => `workload-${index}`) : [];
  return {
    scale,
    pods: labelIndex<Pod>(readPods(names.map((name) => podOf(name, spec.target)))),
    answers: answersOf(asked, names, step, new Date(nowMs).toISOString()),
    others: [],
  };
};

const podOf = (name: string, target: TargetRef): unknown => ({
  metadata: { name, labels: LABELS, ownerReferences: [ownerOf(target)] },
  spec: { containers: [{ name: CONTAINER, resources: { requests: { cpu: "100m" }, limits: { cpu: "200m" } } }] },
  status: { phase: "Running", startTime: STARTED, conditions: [{ type: "Ready", status: "True", lastTransitionTime: READY_SINCE }] },
});

/** A Deployment owns its pods through a ReplicaSet. */
const ownerOf = ({ kind, name }: TargetRef): unknown => (kind === "Deployment" ? { kind: "ReplicaSet", name: `${name}-5d4f8c7b96` } : { kind, name });

/** A metric that the step does not name is one that the API has not. */
const answersOf = (asked: Questions, names: readonly string[], { external = {}, cpu }: CountsStep, timestamp: string): MetricAnswers => {
  const metrics = typeof cpu === "string" ? names.map((name) => usageOf(name, cpu, timestamp)) : [];
  return {
    custom: new Map(asked.custom.map((query) => [queryKey(query), { kind: "answered", items: [] }])),
    external: new Map(asked.external.map((query) => [queryKey(query), readExternalValues(seriesOf(external?.[query.metric], timestamp))])),
    ...(asked.podMetrics && { resource: { kind: "answered" as const, items: labelIndex(readPodMetrics(metrics)) } }),
  };
};

const seriesOf = (value: string | readonly string[] | null | undefined, timestamp: string): readonly unknown[] =>
  (typeof value === "string" ? [value] : (value ?? [])).map((series) => ({ value: series, timestamp }));

const usageOf = (name: string, cpu: string, timestamp: string): unknown => ({
  metadata: { name, labels: LABELS },
  timestamp,
  window: "60s",
  containers: [{ name: CONTAINER, usage: { cpu } }],
});
