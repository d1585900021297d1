import type { NativeMetric, NativeSpec } from "../../model/spec-native.ts";
import type { Explanations } from "../explanations.ts";
import { levelsText } from "./metrics/measure.ts";
import { combinedOf, takesPart } from "./steps/combine.ts";
import { isAbsenceOf } from "./steps/sentences.ts";
import { ownership } from "../shared/pods/owned.ts";

export const NATIVE_EXPLANATIONS: Explanations<NativeSpec> = {
  targets: ({ metrics }) =>
    metrics
      .filter(({ input }) => !input)
      .map((metric) => ({
        type: metric.source.type,
        name: metric.name,
        target: levelsText(metric),
      })),
  cpuPercent: ({ metrics }) => metrics.map(cpuPercentOf).find((percent) => percent !== undefined),
  requestShares: ({ metrics }) =>
    metrics.flatMap(({ source, measure }) => {
      if (measure !== "Percent") return [];
      if (source.type === "ContainerResource" && source.of === "request")
        return [{ resource: source.name, container: source.container }];
      return source.type === "Resource" && source.of === "request"
        ? [{ resource: source.name }]
        : [];
    }),
  behavior: () => undefined,
  publishesBands: false,
  combination: ({ combine }) => combine,
  combined: ({ combine }, proposals) => combinedOf(proposals, combine),
  takesPart: ({ metrics }, { name, proposal }, from) => {
    const metric = metrics.find((candidate) => candidate.name === name);
    return !metric || takesPart(metric, proposal, from);
  },
  ownPodsOnly: ({ pods, target }) => pods !== "asHpa" && ownership(target) !== undefined,
  rest: ({ metrics, minReplicas }, from) => {
    if (from >= minReplicas) return undefined;
    const levels = metrics.flatMap(({ name, activationMilli }) =>
      activationMilli === undefined ? [] : [{ name, aboveMilli: activationMilli }],
    );
    return { wakesTo: minReplicas, levels };
  },
  stoppedBy: ({ metrics }, because) => {
    const metric = metrics.find(({ name }) => isAbsenceOf(name, because.message));
    if (!metric) return undefined;
    const { onMissing } = metric;
    return { name: metric.name, ...(onMissing.action === "fallback" && { fallback: onMissing }) };
  },
};

const cpuPercentOf = ({ source, measure, band }: NativeMetric): number | undefined =>
  source.type === "Resource" &&
  source.name === "cpu" &&
  source.of === "request" &&
  measure === "Percent" &&
  band.kind === "target"
    ? Number(band.milli) / 1000
    : undefined;
