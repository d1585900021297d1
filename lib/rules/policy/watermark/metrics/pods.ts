import { foreignText } from "../../../model/foreign-text.ts";
import type { Pod, ScaleRead } from "../../../model/observation.ts";
import type { WatermarkSpec } from "../../../model/spec-watermark.ts";
import type { StepNote } from "../steps/sentences.ts";

/**
 * A failed count carries its message, with which the metric fails, and what else there is to say.
 */
export type Counted<Value> =
  | { readonly kind: "counted"; readonly value: Value }
  | { readonly kind: "failed"; readonly message: string; readonly notes?: readonly StepNote[] };

type PodRules = Pick<
  WatermarkSpec,
  "readinessDelaySeconds" | "skipOwnerCheck" | "minAvailableReplicaPercentage"
> & {
  readonly target: { readonly name: string };
};

/**
 * A pod is the target's own when an owner carries the target's name; of a ReplicaSet's, the part
 * from the last dash on does not count (watermark.md 2.4).
 */
export const ownerMatches = (owners: Pod["owners"], targetName: string): boolean =>
  owners.some(
    ({ kind, name }) =>
      (kind === "ReplicaSet" && name.includes("-")
        ? name.slice(0, name.lastIndexOf("-"))
        : name) === targetName,
  );

const isForeign = (pod: Pod, { skipOwnerCheck, target }: PodRules): boolean =>
  !skipOwnerCheck && !ownerMatches(pod.owners, target.name);

/**
 * Ready pods for External metrics and recommenders, and those that do not belong (watermark.md
 * 2.4).
 */
export const countReady = (
  pods: readonly Pod[],
  rules: PodRules,
  nowMs: number,
): { readonly ready: number; readonly wrong: number } => {
  const own = pods.filter(
    (pod) => !isForeign(pod, rules) && pod.phase !== "Failed" && pod.phase !== "Succeeded",
  );
  const ready = own.filter((pod) => isTakenAsReady(pod, rules.readinessDelaySeconds, nowMs)).length;
  return { ready, wrong: pods.length - own.length };
};

/** A Pending pod counts while its Ready condition is young: it is expected to help soon. */
const isTakenAsReady = (
  { ready, startMs, deleting, phase }: Pod,
  readinessDelaySeconds: number,
  nowMs: number,
): boolean => {
  if (ready === undefined || startMs === undefined || deleting) return false;
  if (phase === "Running" && ready.status === "True") return true;
  return phase === "Pending" && nowMs - ready.transitionMs < readinessDelaySeconds * 1000;
};

/**
 * The ready count that External metrics and recommenders multiply with: never more than the scale's
 * status says, and refused while too few of the pods are available.
 */
export const availableReady = (
  pods: readonly Pod[],
  { statusReplicas, selector }: Pick<ScaleRead, "statusReplicas" | "selector">,
  rules: PodRules,
  { autoscaler, nowMs }: { readonly autoscaler: string; readonly nowMs: number },
): Counted<number> => {
  if (pods.length === 0)
    return {
      kind: "failed",
      message: "no pods returned by selector while calculating replica count",
    };
  const counted = countReady(pods, rules, nowMs);
  if (counted.ready === 0)
    return {
      kind: "failed",
      message: `unable to get the number of ready pods across all namespaces for ${foreignText(selector)}: ${noneReady(pods.length)}`,
    };
  const ready = Math.min(counted.ready, statusReplicas);
  const ratio = Math.trunc((100 * ready) / (pods.length - counted.wrong));
  return ratio < rules.minAvailableReplicaPercentage
    ? tooFewAvailable(ratio, autoscaler)
    : { kind: "counted", value: ready };
};

/** A target without one ready pod says nothing about its load: hold. */
export const noneReady = (pods: number): string =>
  `among the ${pods} pods, none is ready. Skipping recommendation`;

/** The number printed is the share that is ready, whatever the sentence says. */
const tooFewAvailable = (ratio: number, autoscaler: string): Counted<never> => ({
  kind: "failed",
  message: `${ratio} % of the pods are unready, will not autoscale ${autoscaler}`,
});

/**
 * Pods whose usage counts for a resource metric, and those whose samples are left out (watermark.md
 * 2.4).
 */
export const countedPods = (
  pods: readonly Pod[],
  hasSample: (podName: string) => boolean,
  resource: string,
  rules: PodRules,
): { readonly ready: number; readonly ignored: ReadonlySet<string> } => {
  const ignored = new Set<string>();
  let ready = 0;
  for (const pod of pods) {
    if (isForeign(pod, rules)) continue;
    if (pod.phase === "Failed" || pod.phase === "Pending") ignored.add(pod.name);
    else if (!hasSample(pod.name)) continue;
    else if (resource === "cpu" && isStarting(pod, rules.readinessDelaySeconds))
      ignored.add(pod.name);
    else ready++;
  }
  return { ready, ignored };
};

/**
 * Two recorded times are compared, not the clock: a pod that became ready early is left out until
 * its condition changes again. "Unknown" is not "False".
 */
const isStarting = ({ ready, startMs }: Pod, readinessDelaySeconds: number): boolean =>
  ready === undefined ||
  startMs === undefined ||
  ready.status === "False" ||
  startMs + readinessDelaySeconds * 1000 > ready.transitionMs;

/**
 * The ready count of a resource metric. Where every pod is ignored the original divides by zero and
 * swallows the crash; here the metric fails and says so, and the workload holds.
 */
export const resourceReady = (
  pods: readonly Pod[],
  {
    resource,
    hasSample,
  }: { readonly resource: string; readonly hasSample: (podName: string) => boolean },
  rules: PodRules,
  autoscaler: string,
): Counted<{ readonly ready: number; readonly ignored: ReadonlySet<string> }> => {
  if (pods.length === 0)
    return {
      kind: "failed",
      message: "no pods returned by selector while calculating replica count",
    };
  const grouped = countedPods(pods, hasSample, resource, rules);
  const counted = pods.length - grouped.ignored.size;
  if (counted === 0)
    return { kind: "failed", message: `every one of the ${pods.length} pods is ignored, holding` };
  const ratio = Math.trunc((100 * grouped.ready) / counted);
  return ratio < rules.minAvailableReplicaPercentage
    ? tooFewAvailable(ratio, autoscaler)
    : { kind: "counted", value: grouped };
};
