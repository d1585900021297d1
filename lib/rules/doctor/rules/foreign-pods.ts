import type { DoctorRule } from "../patient.ts";
import { counted } from "../patient.ts";
import { countsOwnOnly, measuredIn, podsChange } from "../measured.ts";
import { workloadPlace } from "../manifest-line.ts";

export const FOREIGN_PODS: DoctorRule = {
  name: "foreign-pods",
  severity: "problem",
  finds: "the selector of the workload matches pods that belong to something else",
  examine: (patient) => {
    const { evaluation, spec } = patient;
    return measuredIn(evaluation)
      .flatMap(({ name, pods }) => {
        const { matched = 0, owned = matched } = pods ?? {};
        if (matched <= owned || countsOwnOnly(spec)) return [];
        return [
          {
            evidence: `${counted(matched, "pod")} match the selector and ${owned} belong to ${spec.target.kind} "${spec.target.name}", as ${name} was measured`,
            cost: "the load of the others may be measured as its own, so that the count follows another workload",
            change: podsChange(patient, {
              ...workloadPlace(spec.target, "spec.selector"),
              advice:
                "give its pods a label that no other pods have, and select by it; or leave out the others by a PodAutoscaler: tidemark convert --pods owned",
            }),
          },
        ];
      })
      .slice(0, 1);
  },
};
