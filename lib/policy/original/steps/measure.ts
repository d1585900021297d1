import { decimalText } from "../../../model/quantity.ts";
import { podSamples, selectedPodMetrics } from "../../../sources/resource.ts";
import type { HpaStep, HpaSync } from "../../hpa/steps/sync.ts";
import type { Measurement } from "../../shared/metrics/measurement.ts";
import { warning } from "../../shared/steps.ts";
import { utilizationOf } from "../metrics/utilization.ts";

/** Percentage that counts when the manifest gives none (proposals.md §1). */
const DEFAULT_TARGET_PERCENT = 80;
const NAME = "cpu resource utilization (percentage of request)";

/** proposals.md §1: the one metric there is. */
export const measureUtilization: HpaStep = (sync) => {
  const measurement = measured(sync);
  if (measurement.kind === "failed") {
    const { name, reason, message } = measurement;
    return {
      ...sync,
      measurements: [measurement],
      currentMetrics: [{ type: "" }],
      metrics: [{ name, type: "Resource", kind: "failed", reason, message }],
      events: [...sync.events, warning(reason, message)],
    };
  }
  const { name, value, target, ratio, proposal, status } = measurement;
  return {
    ...sync,
    measurements: [measurement],
    currentMetrics: [status],
    metrics: [{ name, type: "Resource", kind: "measured", value, target, ratio, proposal }],
  };
};

/** The metrics API gives the average over its own window, which stands for the document's last minute. */
const measured = (sync: HpaSync): Measurement => {
  const targetPercent = sync.input.spec.metrics[0]?.target.averageUtilization ?? DEFAULT_TARGET_PERCENT;
  const metrics = selectedPodMetrics(sync.input.observation.answers, sync.selector);
  const outcome = "message" in metrics ? metrics : utilizationOf(sync.pods, podSamples(metrics, "cpu"), targetPercent);
  if ("message" in outcome) {
    const message = `failed to get cpu utilization: ${outcome.message}`;
    return { kind: "failed", name: NAME, reason: "FailedGetResourceMetric", message, chain: `failed to get cpu resource metric value: ${message}` };
  }
  const { wanted, percent, ratio, outside, usageMilli } = outcome;
  const current = { averageUtilization: percent, averageValue: decimalText(usageMilli) };
  return {
    kind: "measured",
    name: NAME,
    proposal: outside ? wanted : sync.current,
    value: `${percent}%`,
    target: `${targetPercent}%`,
    ratio,
    usageMilli,
    utilization: percent,
    status: { type: "Resource", resource: { name: "cpu", current } },
  };
};
