import type { Decision, Limit } from "../../../lib/rules/model/decision.ts";
import { NOON } from "../../noon.ts";

const limitText = ({ reason, value, message, untilMs }: Limit): string =>
  ` [${reason} ${value}${untilMs === undefined ? "" : ` until +${(untilMs - NOON) / 1000} s`}: ${message}]`;

/**
 * A decision line by line, so that a test can say all of it: what, each metric, each step with its
 * limit, events, conditions, and what the status shows.
 */
export const told = (decision: Decision): readonly string[] => {
  const { because, metrics, steps, events, windows } = decision;
  const { conditions, currentReplicas, desiredReplicas, currentMetrics } = windows.status;
  const moved =
    decision.kind === "scale"
      ? `scale ${decision.from} to ${decision.to}, ${decision.trigger}`
      : `hold ${decision.from}${decision.failed ? ", failed" : ""}`;
  return [
    moved,
    `because ${because.reason}: ${because.message}`,
    ...metrics.map((metric) =>
      metric.kind === "failed"
        ? `metric ${metric.name} ${metric.type} failed, ${metric.reason}: ${metric.message}`
        : `metric ${metric.name} ${metric.type} ${metric.value} against ${metric.target}, ratio ${metric.ratio} gives ${metric.proposal}`,
    ),
    ...steps.map(
      ({ step, before, after, limit }) =>
        `step ${step} ${before} to ${after}${limit ? limitText(limit) : ""}`,
    ),
    ...events.map(({ type, reason, message }) => `event ${type} ${reason}: ${message}`),
    ...conditions.map(
      ({ type, status, reason, message }) => `condition ${type} ${status} ${reason}: ${message}`,
    ),
    `status ${currentReplicas}, wanted ${desiredReplicas}, ${JSON.stringify(currentMetrics)}`,
  ];
};
