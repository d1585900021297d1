import { workloadPlace } from "../manifest-line.ts";
import type { DoctorRule } from "../patient.ts";

const REASON = "AmbiguousSelector";

export const SELECTORS_OVERLAP: DoctorRule = {
  name: "selectors-overlap",
  severity: "problem",
  finds: "the workload of another autoscaler selects the same pods",
  examine: ({ evaluation, spec }) => {
    const { because, status } = evaluation ?? {};
    const found =
      because?.reason === REASON
        ? because
        : status?.conditions.find(({ reason }) => reason === REASON);
    if (!found) return [];
    return [
      {
        evidence: found.message,
        cost: "it does not scale, as two autoscalers would count the same pods",
        change: {
          ...workloadPlace(spec.target, "spec.selector"),
          advice: "give the pods of each workload a label of their own, and select by it",
        },
      },
    ];
  },
};
