import type { MilliByResource } from "../../model/observation.ts";
import type { Labels, Selector } from "../../model/selector.ts";
import type { AutoscalerSpec } from "../../model/spec.ts";
import type { TargetRef } from "../../model/spec-common.ts";
import { askDialect } from "../../policy/dialects.ts";
import type { RequestShare } from "../../policy/explanations.ts";
import type { DoctorFinding, DoctorRule } from "../patient.ts";

/** What an autoscaler does to its workload, as much as objects beside the workload may refuse. */
export interface Scaled {
  readonly target: TargetRef;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  /** What is measured in percent of the requests. */
  readonly requestShares: readonly RequestShare[];
}

export const scaledBy = (spec: AutoscalerSpec): Scaled => ({
  target: spec.target,
  minReplicas: spec.minReplicas,
  maxReplicas: spec.maxReplicas,
  requestShares: askDialect(spec, ({ explains }, own) => explains.requestShares(own)),
});

/** The objects of its namespace that act on the pods of the workload too. */
export interface BesideObjects {
  readonly workload: WorkloadPods;
  readonly verticals: readonly Vertical[];
  readonly budgets: readonly DisruptionBudget[];
  readonly quotas: readonly Quota[];
}

export interface WorkloadPods {
  readonly replicas: number;
  readonly labels: Labels;
  /** The names of its containers, in order. */
  readonly containers: readonly string[];
  /** What one pod takes of each resource of a quota: "pods", "requests.cpu", "limits.memory". */
  readonly takes: MilliByResource;
}

/** A VerticalPodAutoscaler that is about the workload. */
export interface Vertical {
  readonly name: string;
  readonly mode: string;
  /** The resources that it sets, by container; "*" is every other container. */
  readonly sets: ReadonlyMap<string, readonly string[]>;
}

/** A PodDisruptionBudget; a count, or a text such as "50%". */
export interface DisruptionBudget {
  readonly name: string;
  readonly selector: Selector;
  readonly minAvailable?: number | string;
  readonly maxUnavailable?: number | string;
}

/** A ResourceQuota that every pod of the namespace counts for. */
export interface Quota {
  readonly name: string;
  readonly hard: MilliByResource;
  readonly used: MilliByResource;
}

/** A rule about objects that no sync reads: the doctor asks the cluster for them. */
export interface BesideRule extends Pick<DoctorRule, "name" | "severity" | "finds"> {
  readonly examine: (scaled: Scaled, beside: BesideObjects) => readonly DoctorFinding[];
}
