import { INITIAL_REPLICAS } from "../../embedded/run/played-load.ts";
import { isUse } from "../../replay/load.ts";
import type { Policy, ReplayedWorkload, ReplayJob } from "../../replay/replay.ts";
import { capacityOf, targetOf, tracedMetrics } from "../../replay/traced.ts";
import { autoscalerName, namespace } from "../../rules/model/ids.ts";
import { DEFAULT_SETTINGS } from "../../rules/model/spec-common.ts";
import type { MetricLevel } from "../../rules/policy/shared/levels.ts";
import { usage } from "../usage-error.ts";
import { type CandidatePolicy, containerOf, metricsOrThrow } from "./candidates.ts";
import { refuseIdleNames } from "./idle-names.ts";
import type { TraceInput } from "./trace-input.ts";

type TracedCandidate = Pick<CandidatePolicy, "label" | "admitted">;

/** What replays policies on a recorded load, in their order; the first one sets the target. */
export const tracedJobs = (
  candidates: readonly TracedCandidate[],
  input: TraceInput,
  periodMs: number,
): readonly ReplayJob[] => {
  const policies = candidates.map((candidate) => policyOf(candidate, input));
  const levels = policies.flatMap(({ specs: [{ metrics }] }) => metrics.map(({ level }) => level));
  refuseIdleNames("--metric", input.traced.own, levels);
  refuseIdleNames("--model", input.traced.models, levels);
  refuseUseModels(input.traced.models, levels);
  const workload = workloadOf(candidates, policies, input);
  const span = { fromMs: input.fromMs, untilMs: input.untilMs, periodMs };
  return policies.map((policy) => ({ policy, workload, span }));
};

/** The use of a resource has one model under a load. */
const refuseUseModels = (
  models: TraceInput["traced"]["models"],
  levels: readonly MetricLevel[],
): void => {
  for (const name of models.keys())
    if (levels.filter((level) => level.name === name).every(isUse))
      throw usage(
        `Cannot use --model "${name}": the use of a resource is shared by the pods of a load; leave it out`,
      );
};

const policyOf = ({ label, admitted }: TracedCandidate, { traced }: TraceInput): Policy => {
  const { spec, metadata } = admitted;
  const metrics = metricsOrThrow(label, tracedMetrics(spec, traced));
  return {
    namespace: namespace(metadata.namespace ?? "default"),
    name: autoscalerName(metadata.name),
    settings: DEFAULT_SETTINGS,
    specs: [{ fromMs: 0, spec, metrics }],
  };
};

/** The target of the first policy counts for all. */
const workloadOf = (
  [firstOf]: readonly TracedCandidate[],
  [first, ...others]: readonly Policy[],
  { traced, podStartMs }: TraceInput,
): ReplayedWorkload => {
  if (!first || !firstOf) throw usage("Cannot replay: there is no autoscaler in the files of -f");
  const [{ spec, metrics }] = first.specs;
  const target = targetOf(metrics, traced);
  if (target.length === 0)
    throw usage(
      `Cannot compare with "${firstOf.label}": no number of pods is right by its metrics; give a policy with a target for each pod first`,
    );
  const { pod } = traced;
  return {
    pods: {
      target: spec.target,
      container: containerOf([first, ...others].flatMap(({ specs }) => specs)),
      requests: { cpu: BigInt(pod.requestMilli) },
      limits: { cpu: BigInt(pod.limitMilli) },
      startMs: podStartMs,
    },
    initialReplicas: Math.max(INITIAL_REPLICAS, spec.minReplicas),
    target,
    served: { load: traced.load, perPod: capacityOf(pod) },
  };
};
