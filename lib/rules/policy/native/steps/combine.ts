import { choice } from "../../../fields/field-types.ts";
import type { NativeMetric, NativeSpec } from "../../../model/spec-native.ts";
import { stepped, withCondition } from "../../shared/steps.ts";
import type { CountReading } from "../metrics/measure.ts";
import { isFallbackDue } from "./measure.ts";
import { absence, scalingActive } from "./sentences.ts";
import { stabilize } from "./stabilize.ts";
import { moveOf, type NativeStep, type NativeSync } from "./sync.ts";

declare module "../../../model/spec-native.ts" {
  interface NativeSpec {
    readonly combine: "Max" | "Min" | "Mean";
  }
}

export const COMBINE_FIELDS = {
  combine: choice(
    "How the proposals of the metrics become one: the largest, the smallest, or their mean rounded up.",
    ["Max", "Min", "Mean"],
    {
      default: "Max",
    },
  ),
};

/** One count that takes part, and whose it is. */
interface Voice {
  readonly name: string;
  readonly proposal: number;
}

/**
 * All proposals as one. A metric that is missing never shrinks: it holds everything, leaves the way
 * up open, or asks for its fallback count.
 */
export const combine: NativeStep = (sync) => {
  const stopped = sync.readings.find(
    (reading) => reading.kind === "missing" && holds(reading, sync),
  );
  if (stopped?.kind === "missing")
    return refused(sync, absence(stopped.metric.name, stopped.message));
  const voices = sync.readings.flatMap((reading) => voiceOf(reading, sync) ?? []);
  const incomplete = sync.readings.some(({ kind }) => kind === "missing");
  const proposals = voices.map(({ proposal }) => proposal);
  const combined =
    proposals.length === 0 ? sync.current : combinedOf(proposals, sync.input.spec.combine);
  const count = incomplete ? Math.max(combined, sync.current) : combined;
  if (incomplete && count === sync.current) {
    // As the HPA controller: a count that is asked for goes into the windows, a lower one does not.
    const isAsked = voices.length > 0 && combined === count;
    return refused(
      isAsked ? { ...sync, recommendations: stabilize(sync).recommendations } : sync,
      "a metric is missing, and no other one asks for more pods",
    );
  }
  const leading = leadingOf(voices, combined);
  const after = stepped(sync, "combine", count);
  const trigger = `${leading} ${moveOf(after)?.up ? "above" : "below"} target`;
  const report = scalingActive(
    "True",
    "ValidMetricFound",
    `a count was computed from ${leading || "the metrics"}`,
  );
  return { ...after, conditions: withCondition(sync, report), trigger };
};

const holds = ({ metric }: CountReading, sync: NativeSync): boolean => {
  const { onMissing } = metric;
  return onMissing.action === "fallback"
    ? !isFallbackDue(metric, sync)
    : onMissing.action === "hold";
};

/**
 * A metric that may only scale up takes part only when it does: else its silence would hold every
 * other one.
 */
const voiceOf = (reading: CountReading, { current }: NativeSync): Voice | undefined => {
  const { metric } = reading;
  if (reading.kind === "missing") {
    const { onMissing } = metric;
    if (onMissing.action !== "fallback") return undefined;
    return {
      name: `the fallback of ${metric.name}`,
      proposal: Math.max(current, onMissing.replicas),
    };
  }
  return takesPart(metric, reading.proposal, current)
    ? { name: metric.name, proposal: reading.proposal }
    : undefined;
};

export const takesPart = (
  { scaleUpOnly }: Pick<NativeMetric, "scaleUpOnly">,
  proposal: number,
  current: number,
): boolean => !scaleUpOnly || proposal > current;

/** The mean is rounded up: never fewer pods than the metrics ask for together. */
export const combinedOf = (proposals: readonly number[], how: NativeSpec["combine"]): number => {
  switch (how) {
    case "Max":
      return Math.max(...proposals);
    case "Min":
      return Math.min(...proposals);
    case "Mean":
      return Math.ceil(proposals.reduce((sum, proposal) => sum + proposal, 0) / proposals.length);
  }
};

const leadingOf = (voices: readonly Voice[], count: number): string => {
  const exact = voices.find(({ proposal }) => proposal === count);
  return exact ? exact.name : voices.map(({ name }) => name).join(", ");
};

const refused = (sync: NativeSync, message: string): NativeSync => {
  const report = scalingActive("False", "MetricMissing", message);
  return {
    ...stepped(sync, "combine", sync.current, {
      reason: report.reason,
      value: sync.current,
      message,
    }),
    conditions: withCondition(sync, report),
    events: [...sync.events, { type: "Warning", reason: "FailedComputeMetricsReplicas", message }],
    ending: { kind: "failed", because: { reason: report.reason, message } },
  };
};
