import { utcText } from "../../model/time-text.ts";
import type { Because, Limit, MetricOutcome, StepOutcome } from "../../model/decision.ts";

/**
 * What a limit did to a step, before the count that it left. Any other limit is named by its step.
 */
const LIMIT_WORDS: Readonly<Record<string, string>> = {
  ScaleUpStabilized: "stabilization allowed",
  ScaleDownStabilized: "stabilization allowed",
  ScaleUpLimit: "the rate limit allowed",
  ScaleDownLimit: "the rate limit allowed",
  TooManyReplicas: "maxReplicas allowed",
  TooFewReplicas: "minReplicas allowed",
  BelowMinReplicas: "minReplicas allowed",
  ReplicaModulo: "the modulo made it",
};

interface Scaled {
  readonly metrics: readonly MetricOutcome[];
  readonly steps: readonly StepOutcome[];
  /** The count that the metrics ask for together; absent where they were not asked. */
  readonly wanted?: number;
  /** Why it scales where no metric says so: "Current number of replicas below Spec.MinReplicas". */
  readonly trigger: string;
}

/**
 * Why a count changes, and then what limited the change: "cpu 13% of 60% asks for 3; stabilization
 * allowed 15". Of several limits the one that left the count comes first.
 */
export const scaleSentence = ({ metrics, steps, wanted, trigger }: Scaled): string => {
  const why = metricsSentence(metrics, wanted) ?? [trigger];
  const limits = steps.flatMap(limitWords);
  const binding = limits.length > 1 ? limits.slice(-1) : [];
  return [...binding, ...why, ...limits.slice(0, limits.length - binding.length)]
    .filter(Boolean)
    .join("; ");
};

const metricsSentence = (
  metrics: readonly MetricOutcome[],
  wanted: number | undefined,
): readonly string[] | undefined => {
  if (wanted === undefined) return undefined;
  const measured = metrics.filter((metric) => metric.kind === "measured");
  const leading = measured.find(({ proposal }) => proposal === wanted);
  // A mean is asked for by no metric of its own. Where one failed, its fallback may have decided,
  // and the trigger says so.
  const named = leading ? [leading] : measured.length === metrics.length ? measured : [];
  if (named.length === 0) return undefined;
  const asked = named
    .map(
      ({ name, value, target, proposal }) =>
        `${shortMetricName(name)} ${value} of ${target} asks for ${proposal}`,
    )
    .join(", ");
  return [leading ? asked : `${asked}: together ${wanted}`];
};

const limitWords = ({ step, before, after, limit }: StepOutcome): readonly string[] =>
  limit && before !== after ? [`${LIMIT_WORDS[limit.reason] ?? `${step} made it`} ${after}`] : [];

interface Change extends Omit<Scaled, "wanted"> {
  readonly from: number;
  readonly to: number;
}

/**
 * Why a count changes: by the metrics, where they ask for that direction; else by the limit that
 * moved it, such as a window that holds a higher count than the current one. `down` is the reason
 * of these rules for a way down.
 */
export const scaleBecause = ({ from, to, steps, ...scaled }: Change, down: string): Because => {
  const wanted = steps.find(({ step }) => step === "propose" || step === "combine")?.after;
  const message = scaleSentence({ ...scaled, steps, ...(wanted !== undefined && { wanted }) });
  const moved = steps.findLast(
    ({ before, after, limit }) => limit !== undefined && before !== after,
  )?.limit;
  if (wanted !== undefined && Math.sign(wanted - from) !== Math.sign(to - from) && moved)
    return to > from && moved.reason === "ScaleDownStabilized"
      ? wantedBefore(moved, message)
      : { reason: moved.reason, message };
  return { reason: to > from ? "MetricAboveTarget" : down, message };
};

/**
 * The window of the way down also raises the count: to what was wanted inside it and never reached,
 * because a rate or a bound cut it then. The word of the window would say the opposite.
 */
const wantedBefore = ({ value, wantedMs }: Limit, message: string): Because => {
  const when = wantedMs === undefined ? "" : ` at ${utcText(wantedMs)}`;
  return {
    reason: "WantedBefore",
    message: `${value} was wanted${when}, inside the stabilization window; ${message}`,
  };
};

/**
 * A scale says what the metrics ask for, and then what limited it; a hold names the limit that had
 * the last word, or `inside`, the words of these rules where no metric asks for another count.
 */
export const reasonOf = (
  {
    current,
    count,
    steps,
    trigger,
  }: Pick<Scaled, "steps" | "trigger"> & { readonly current: number; readonly count: number },
  metrics: readonly MetricOutcome[],
  { down, inside }: { readonly down: string; readonly inside: Because },
): Because => {
  if (count !== current)
    return scaleBecause({ from: current, to: count, metrics, steps, trigger }, down);
  const limited = steps.findLast(({ limit }) => limit !== undefined)?.limit;
  return limited
    ? {
        reason: limited.reason,
        message: trigger === "" ? limited.message : `${trigger}: ${limited.message}`,
      }
    : inside;
};

const LABEL_SELECTOR = String.raw`&LabelSelector\{MatchLabels:map\[string\]string\{([^}]*)\},MatchExpressions:\[\]LabelSelectorRequirement\{(.*?)\},\}`;
/**
 * The selector of a metric as the HPA controller prints it, in brackets or as the last part of a
 * path.
 */
const STRUCT = new RegExp(String.raw`\(${LABEL_SELECTOR}\)|/${LABEL_SELECTOR}`, "g");
const NO_SELECTOR = /\(nil\)|(?<=metric [^\s:]+)\/nil(?=:|$)/g;
/** The labels of a metric as the Watermark Pod Autoscaler prints them: `{map[queue:orders]}`. */
const MAP = /\{map\[([^\]]*)\]\}/g;
const EXPRESSION = /LabelSelectorRequirement\{Key:([^,]*),Operator:([^,]*),Values:\[([^\]]*)\],\}/g;

const braced = (requirements: readonly string[]): string =>
  requirements.length === 0 ? "" : `{${requirements.join(",")}}`;

const labelsOf = (text: string, between: string, separator: string): readonly string[] =>
  text
    .split(separator)
    .filter((label) => label !== "")
    .map((label) => label.replace(between, "="));

const requirementOf = (key: string, operator: string, values: string): string => {
  const list = `(${values.replaceAll(" ", ",")})`;
  switch (operator) {
    case "In":
      return `${key} in ${list}`;
    case "NotIn":
      return `${key} notin ${list}`;
    case "DoesNotExist":
      return `!${key}`;
    default:
      return key;
  }
};

/**
 * Selectors as people write them: `sqs_messages_visible{queue=orders}`, in a text that has them in
 * the syntax of Go, as the messages of both controllers do.
 */
export const withReadableSelectors = (text: string): string => {
  if (!text.includes("&LabelSelector{") && !text.includes("map[") && !text.includes("nil"))
    return text;
  return text
    .replace(
      STRUCT,
      (
        _whole,
        ...[inLabels, inExpressions, pathLabels, pathExpressions]: readonly (string | undefined)[]
      ) => {
        const expressions = [...(inExpressions ?? pathExpressions ?? "").matchAll(EXPRESSION)];
        return braced([
          ...labelsOf(inLabels ?? pathLabels ?? "", ": ", ","),
          ...expressions.map(([, key = "", operator = "", values = ""]) =>
            requirementOf(key, operator, values),
          ),
        ]);
      },
    )
    .replace(NO_SELECTOR, "")
    .replace(MAP, (_whole, labels: string) => braced(labelsOf(labels, ":", " ")));
};

const KIND = /^(?:external|pods) metric /;
const RESOURCE = / resource(?: utilization \(percentage of request\))?(?= |$)/;

/** The name of a metric in a sentence: "cpu", "sqs_messages_visible{queue=orders}". */
export const shortMetricName = (name: string): string =>
  withReadableSelectors(name).replace(KIND, "").replace(RESOURCE, "");
