import type { Decision, FailedRead } from "../model/decision.ts";
import type { Answer, ApiFailure, Observation } from "../model/observation.ts";

/** The failed read behind a failed decision, by its code, so that the state of a cluster does not depend on words. The scale comes first: without it no metric counts. */
export const failedReadOf = ({ scale, answers, recommender }: Observation, decision: Decision): FailedRead | undefined => {
  if (decision.kind !== "hold" || !decision.failed) return undefined;
  if (scale.kind === "failed") return { of: "scale", code: scale.failure.code };
  const all: readonly (Answer<unknown> | undefined)[] = [...answers.values(), recommender];
  const failures = all.flatMap((answer) => (answer?.kind === "failed" ? [answer.failure] : []));
  const own = failures.find((failure) => isNamedBy(decision, failure));
  return own && { of: "metric", code: own.code };
};

/** True for a failure that this decision reports. The answers are shared by all autoscalers of a namespace, so another one's failure may be among them. */
const isNamedBy = ({ because, metrics }: Decision, { message }: ApiFailure): boolean =>
  because.message.includes(message) || metrics.some((metric) => metric.kind === "failed" && metric.message.includes(message));
