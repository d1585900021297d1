import { labelIndex } from "../../../lib/rules/model/selector.ts";
import type { Observation } from "../../../lib/rules/model/observation.ts";
import { queryKey } from "../../../lib/rules/model/query.ts";
import type { AutoscalerSpec } from "../../../lib/rules/model/spec.ts";
import type { TargetRef } from "../../../lib/rules/model/spec-common.ts";
import { questions } from "../../../lib/rules/policy/dialects.ts";
import { type AnswerParts, askedOf, readExternalValues, readPodMetrics } from "../../answers.ts";
import { observationOf, scaleRead } from "../../observation.ts";
import type { CountsStep } from "./case.ts";
import { readPods } from "../../cluster/read/answers.ts";

const LABELS = { app: "workload" };
/** Name of the one container, where the manifest asks for none. */
const CONTAINER = "app";
/**
 * Half a year before the first step, and half a year after the start, so that no delay of readiness
 * is still running, nor was when the pod became ready.
 */
const STARTED = "2025-01-01T00:00:00Z";
const READY_SINCE = "2025-07-01T00:00:00Z";

export interface Workload {
  readonly spec: AutoscalerSpec;
  readonly namespace: string;
  readonly replicas: number;
}

/**
 * What a sync sees at a step: raw answers of the APIs, read as production reads them, to the
 * questions that the spec asks.
 */
export const observe = (
  { spec, namespace, replicas }: Workload,
  step: CountsStep,
  nowMs: number,
): Observation => {
  const scale = scaleRead(replicas, { selector: "app=workload" });
  const asked = askedOf(questions(spec, namespace, scale));
  const container = containerOf(spec);
  const names =
    asked.pods || asked.podMetrics
      ? Array.from({ length: replicas }, (_, index) => `workload-${index}`)
      : [];
  return observationOf({
    scale,
    pods: readPods(names.map((name) => podOf(name, container, spec.target))),
    answers: partsFor(asked, usagesOf(names, container, step.cpu, nowMs), step, nowMs),
  });
};

const podOf = (name: string, container: string, target: TargetRef): unknown => ({
  metadata: { name, labels: LABELS, ownerReferences: [ownerOf(target)] },
  spec: {
    containers: [
      { name: container, resources: { requests: { cpu: "100m" }, limits: { cpu: "200m" } } },
    ],
  },
  status: {
    phase: "Running",
    startTime: STARTED,
    conditions: [{ type: "Ready", status: "True", lastTransitionTime: READY_SINCE }],
  },
});

/** A Deployment owns its pods through a ReplicaSet. */
const ownerOf = ({ kind, name }: TargetRef): unknown =>
  kind === "Deployment" ? { kind: "ReplicaSet", name: `${name}-5d4f8c7b96` } : { kind, name };

/** Of a metric of one container the manifest says what it is called. */
const containerOf = (spec: AutoscalerSpec): string => {
  if (spec.dialect === "watermark") return CONTAINER;
  const sources =
    spec.dialect === "native" ? spec.metrics.map(({ source }) => source) : spec.metrics;
  return (
    sources
      .map((source) => ("container" in source ? source.container : undefined))
      .find((name) => name !== undefined) ?? CONTAINER
  );
};

/** A metric that the step does not name is one that the API has not. */
const partsFor = (
  asked: ReturnType<typeof askedOf>,
  usages: readonly unknown[],
  { external }: CountsStep,
  nowMs: number,
): AnswerParts => ({
  custom: new Map(asked.custom.map((query) => [queryKey(query), { kind: "answered", items: [] }])),
  external: new Map(
    asked.external.map((query) => [
      queryKey(query),
      readExternalValues(seriesOf(external?.[query.metric], nowMs)),
    ]),
  ),
  ...(asked.podMetrics && {
    resource: { kind: "answered" as const, items: labelIndex(readPodMetrics(usages)) },
  }),
});

const timeText = (atMs: number): string => new Date(atMs).toISOString();

const seriesOf = (
  value: string | readonly string[] | null | undefined,
  nowMs: number,
): readonly unknown[] =>
  (typeof value === "string" ? [value] : (value ?? [])).map((series) => ({
    value: series,
    timestamp: timeText(nowMs),
  }));

const usagesOf = (
  names: readonly string[],
  container: string,
  cpu: CountsStep["cpu"],
  nowMs: number,
): readonly unknown[] =>
  typeof cpu !== "string"
    ? []
    : names.map((name) => ({
        metadata: { name, labels: LABELS },
        timestamp: timeText(nowMs),
        window: "60s",
        containers: [{ name: container, usage: { cpu } }],
      }));
