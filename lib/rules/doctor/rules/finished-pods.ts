import type { DoctorRule } from "../patient.ts";
import { counted } from "../patient.ts";
import { countsOwnOnly, measuredIn, podsChange } from "../measured.ts";
import { workloadPlace } from "../manifest-line.ts";

export const FINISHED_PODS: DoctorRule = {
  name: "finished-pods",
  severity: "problem",
  finds: "the selector matches pods that have ended, and they are counted as pods without a value",
  examine: (patient) => {
    const { evaluation, spec } = patient;
    return measuredIn(evaluation)
      .flatMap(({ name, pods, assumed }) => {
        // Failed pods are left out, and so are all that ended where the rules do so.
        const finished = (pods?.finished ?? 0) - (pods?.leftOut ?? 0);
        if (finished <= 0 || !assumed || countsOwnOnly(spec)) return [];
        return [
          {
            evidence: `${counted(finished, "pod")} of ${pods?.matched} that match the selector ${finished === 1 ? "has" : "have"} ended, and ${name} is taken for ${assumed.as} there`,
            cost: "the count moves up and down less than the load, until the ended pods are removed",
            change: podsChange(patient, {
              ...workloadPlace(spec.target, "spec.selector"),
              advice: `\`tidemark cluster add CLUSTER --replace --hpa-version 1.38\` leaves them out; or remove them (kubectl delete pods --field-selector status.phase=Succeeded), or give the pods of ${spec.target.kind} "${spec.target.name}" a label of their own`,
            }),
          },
        ];
      })
      .slice(0, 1);
  },
};
