import type { LabelSelector } from "../rules/model/selector.ts";
import type { AutoscalerSpec } from "../rules/model/spec.ts";
import type { MetricLevel } from "../rules/policy/shared/levels.ts";
import { levelsOf } from "../rules/policy/dialects.ts";
import {
  isUse,
  type MetricModel,
  type PodShare,
  type ReplayedMetric,
  shareAtLevel,
} from "./load.ts";
import type { Series } from "./series.ts";

/** A pod by what a unit of the load costs it. CPU in thousandths of a core. */
export interface LoadedPod {
  readonly requestMilli: number;
  readonly limitMilli: number;
  readonly idleMilli: number;
  readonly eachMilli: number;
}

/** A recorded load that is not of a metric yet. */
export interface TracedLoad {
  readonly load: Series;
  readonly stepMs: number;
  readonly pod: LoadedPod;
  /** Loads that metrics have of their own, by the name of the metric. */
  readonly own: ReadonlyMap<string, Series>;
  /** Models that a person chose, by the name of the metric. */
  readonly models: ReadonlyMap<string, MetricModel["kind"]>;
}

/** Why a policy cannot be replayed on a load: what of it, and what to do. */
export interface NotReplayed {
  readonly of: string;
  readonly why: string;
}

/** The metrics of a policy on a recorded load, or why they cannot be put there. */
export const tracedMetrics = (
  spec: AutoscalerSpec,
  traced: TracedLoad,
):
  | { readonly metrics: readonly ReplayedMetric[] }
  | { readonly refused: readonly NotReplayed[] } => {
  const levels = levelsOf(spec);
  const refused = levels.flatMap((level) => [
    ...refusalOf(level),
    ...(traced.models.has(level.name) ? [] : delayRefused(level)),
  ]);
  if (levels.length === 0)
    return { refused: [{ of: "spec", why: "it has no metric, so no load says what it does" }] };
  if (refused.length > 0) return { refused };
  return { metrics: levels.map((level) => ({ level, model: modelOf(level, traced) })) };
};

const refusalOf = (level: MetricLevel): readonly NotReplayed[] => {
  const { source } = level;
  if (!isUse(level) || !("name" in source)) return [];
  if (source.name !== "cpu")
    return [
      {
        of: level.name,
        why: `the use of ${source.name} does not follow from a load: it often stays where it is when pods are added; leave the metric out`,
      },
    ];
  return "selector" in source && source.selector !== undefined && hasLabels(source.selector)
    ? [{ of: level.name, why: "it is measured on other pods, whose load is not recorded" }]
    : [];
};

/** Words of names whose values do not follow from a load and the number of pods. */
const DELAY = /latenc|duration|response|_seconds|quantile|\bp9\d/i;

/** Why a metric that is a delay by its name is not replayed, where nobody chose a model. */
export const delayRefused = ({ name, source }: MetricLevel): readonly NotReplayed[] => {
  if (!DELAY.test("query" in source ? String(source.query) : name)) return [];
  return [
    {
      of: name,
      why: `a delay does not follow from a load and the number of pods; --model ${name}=shared takes it to`,
    },
  ];
};

const hasLabels = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean =>
  Object.keys(matchLabels).length + matchExpressions.length > 0;

const modelOf = (level: MetricLevel, traced: TracedLoad): MetricModel => {
  const { pod, own, models, stepMs } = traced;
  const load = own.get(level.name) ?? traced.load;
  if (isUse(level)) {
    const { idleMilli, eachMilli, limitMilli } = pod;
    return { kind: "shared", load, idleMilli, eachMilli, mostMilli: limitMilli };
  }
  const kind = models.get(level.name) ?? usualModel(level);
  const eachMilli = 1_000;
  if (kind === "total") return { kind, load, eachMilli };
  if (kind === "backlog") return { kind, load, eachMilli, servedByPod: capacityOf(pod), stepMs };
  return { kind, load, eachMilli, idleMilli: 0, mostMilli: Number.POSITIVE_INFINITY };
};

/**
 * A value that is compared as a whole is taken to be shared: the arithmetic of such a target counts
 * on it that the value falls as pods are added.
 */
const usualModel = ({ source, measure }: MetricLevel): MetricModel["kind"] => {
  if (source.type === "Sqs") return "backlog";
  return source.type === "Pods" || measure === "Total" ? "shared" : "total";
};

/** Units that a pod serves before its CPU limit throttles it. */
export const capacityOf = ({ limitMilli, idleMilli, eachMilli }: LoadedPod): number =>
  (limitMilli - idleMilli) / eachMilli;

/** What a pod takes of the load at the targets of a policy. */
export const targetOf = (
  metrics: readonly ReplayedMetric[],
  { pod }: Pick<TracedLoad, "pod">,
): readonly PodShare[] =>
  metrics.flatMap((metric) => {
    const { source } = metric.level;
    const isOfLimit = "of" in source && source.of === "limit";
    return shareAtLevel(metric, isOfLimit ? pod.limitMilli : pod.requestMilli);
  });
