import { groupOf } from "../../model/api-group.ts";
import type { TargetRef } from "../../model/spec-governed.ts";

import { forbidden, invalid, type Problem, required } from "../problem.ts";
import { type DraftSpec, isMarked, type Metric, type Reference } from "./v2-shape.ts";
import { behaviorProblems } from "./validate-behavior.ts";
import { markedProblems, selectorProblems } from "./validate-marked.ts";
import { metricProblems } from "./validate-metric.ts";
import { referenceProblems, unreadableVersion } from "./validate-reference.ts";

/** Every rule of hpa.md 1.3 for a spec with defaults. An update that keeps kind and apiVersion of the target does not check its group again. */
export const specProblems = (spec: DraftSpec, oldTarget: TargetRef | undefined): Problem[] => [
  ...replicaProblems(spec.minReplicas ?? 1, spec.maxReplicas ?? 0),
  ...referenceProblems(spec.scaleTargetRef, "spec.scaleTargetRef"),
  ...(sameKind(spec.scaleTargetRef, oldTarget) ? [] : targetVersionProblems(spec.scaleTargetRef)),
  ...(spec.metrics ?? []).flatMap((metric, index) => anyMetricProblems(metric, `spec.metrics[${index}]`)),
  ...(spec.minReplicas === 0 ? zeroProblems(spec.metrics ?? []) : []),
  ...behaviorProblems(spec.behavior),
];

const anyMetricProblems = (metric: Metric, path: string): readonly Problem[] =>
  isMarked(metric) ? markedProblems(metric, path) : [...metricProblems(metric, path), ...selectorProblems(metric, path)];

const replicaProblems = (least: number, most: number): Problem[] => {
  const problems: Problem[] = [];
  const fix = "write spec.maxReplicas: the largest count the workload may have, 1 or more";
  if (least < 0) problems.push(invalid("spec.minReplicas", "must be greater than or equal to 0", "write 1 or more, or 0 to allow scaling to zero"));
  if (most === 0) problems.push(required("spec.maxReplicas", "", fix));
  if (most < 0) problems.push(invalid("spec.maxReplicas", "must be greater than or equal to 1", fix));
  if (most < least) {
    problems.push(
      invalid("spec.maxReplicas", "must be greater than or equal to `minReplicas`", `write ${Math.max(least, 1)} or more, or a smaller minReplicas`),
    );
  }
  return problems;
};

const sameKind = (now: Reference | undefined, before: TargetRef | undefined): boolean =>
  before !== undefined && now?.kind === before.kind && (now.apiVersion ?? "") === before.apiVersion;

const targetVersionProblems = (target: Reference | undefined): Problem[] => {
  const path = "spec.scaleTargetRef.apiVersion";
  const apiVersion = target?.apiVersion ?? "";
  const group = groupOf(apiVersion);
  if (group === undefined) return [unreadableVersion(path, apiVersion)];
  if (group !== "" || target?.kind === "ReplicationController") return [];
  return [invalid(path, "apiVersion must specify API group", "write group and version, such as apps/v1 for a Deployment")];
};

/** CPU and memory cannot be measured without pods, so only an outside metric can scale up from 0. */
const zeroProblems = (metrics: readonly Metric[]): Problem[] =>
  metrics.some(({ type }) => type === "Object" || type === "External")
    ? []
    : [
        forbidden(
          "spec.metrics",
          "must specify at least one Object or External metric to support scaling to zero replicas",
          "add an Object or External metric, or write minReplicas: 1",
        ),
      ];
