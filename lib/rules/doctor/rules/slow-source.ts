import { SOURCE_LIMITS } from "../../model/metric-source.ts";
import { lineOf } from "../manifest-line.ts";
import type { DoctorRule } from "../patient.ts";

export const SLOW_SOURCE: DoctorRule = {
  name: "slow-source",
  severity: "advice",
  finds: "a registered source took half of its time limit or more for its last answer",
  examine: (patient) =>
    (patient.evaluation?.slow ?? []).map(({ metric, at, source, seconds, timeoutSeconds }) => ({
      evidence: `source "${source}" took ${seconds} s of its time limit of ${timeoutSeconds} s to answer metric "${metric}"`,
      cost: "each sync that asks it waits so long; beyond the limit the metric is missing, and nothing shrinks",
      change: {
        ...lineOf(patient.manifest, `spec.metrics[${at}].everySeconds`),
        advice: `write a larger everySeconds or a query that reads less; or an administrator raises timeoutSeconds of source "${source}" (\`tidemark source put --timeout-seconds\`, at most ${SOURCE_LIMITS.timeoutSeconds.most})`,
      },
    })),
};
