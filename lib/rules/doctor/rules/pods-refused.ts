import { workloadPlace } from "../manifest-line.ts";
import type { DoctorRule } from "../patient.ts";

export const PODS_REFUSED: DoctorRule = {
  name: "pods-refused",
  severity: "problem",
  finds: "the cluster refuses pods of the workload, as a ResourceQuota or a webhook does",
  examine: ({ evaluation, spec }) => {
    const refused = evaluation?.podsRefused;
    if (!refused) return [];
    return [
      {
        evidence: `the cluster refuses pods of ${spec.target.kind} "${spec.target.name}" (${refused.reason}): ${refused.message}`,
        cost: "the count is written and its pods are missing: the load stays on the pods that are there",
        change: {
          ...workloadPlace(spec.target, "its pods"),
          advice:
            "raise the quota or correct what the message names; `--ask-cluster` says how much room a quota has",
        },
      },
    ];
  },
};
