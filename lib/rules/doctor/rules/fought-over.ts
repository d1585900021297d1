import type { DoctorRule } from "../patient.ts";
import { counted, lasted } from "../patient.ts";
import { workloadPlace } from "../manifest-line.ts";
import { utcText } from "../../model/time-text.ts";

/** What to do about a program that keeps setting a count, by the name under which it writes. */
const ADVICE: Readonly<Record<string, string>> = {
  "argocd-controller":
    "leave spec.replicas out of the manifest in Git, or list it in ignoreDifferences of the Application and set RespectIgnoreDifferences",
  "kustomize-controller": "leave spec.replicas out of the manifest in Git",
  "helm-controller": "leave the count out of the values of the chart",
  helm: "leave the count out of the values of the chart",
  "kube-controller-manager": "delete the HorizontalPodAutoscaler of this workload, or take it over",
  "keda-operator": "delete or pause the ScaledObject of this workload, or take it over",
};

const OTHERWISE = "stop it, leave spec.replicas out of what it applies, or pause this autoscaler";

export const FOUGHT_OVER: DoctorRule = {
  name: "fought-over",
  severity: "problem",
  finds: "others change the count four times, each within twenty minutes of the last",
  examine: ({ evaluation, spec, nowMs }) => {
    const series = evaluation?.contested;
    if (!series) return [];
    const { changes, firstMs, lastMs, by } = series;
    const who = by === undefined ? "a program that gives no name" : `"${by}"`;
    return [
      {
        evidence: `others changed the count ${counted(changes, "time")} in ${lasted(lastMs - firstMs)}, the last time ${who}, ${lasted(nowMs - lastMs)} ago (${utcText(lastMs)})`,
        cost: "each change starts or ends pods that the next sync ends or starts again",
        change: {
          ...workloadPlace(spec.target, "spec.replicas"),
          advice: `${by === undefined ? "" : `${who}: `}${(by !== undefined && ADVICE[by]) || OTHERWISE}`,
        },
      },
    ];
  },
};
