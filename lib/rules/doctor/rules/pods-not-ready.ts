import type { Sample } from "../../model/scale-records.ts";
import { HOUR_MS } from "../../model/time-text.ts";
import { lastsSince, lastsText } from "../days.ts";
import { workloadPlace } from "../manifest-line.ts";
import type { DoctorRule, Patient } from "../patient.ts";

/** Pods that are not ready for so long do not just start. */
export const NOT_READY_MS = HOUR_MS;

const lacks = ({ ready, current }: Pick<Sample, "ready" | "current">): boolean =>
  ready !== undefined && current !== undefined && ready < current;

const lacksNow = ({ evaluation }: Patient): boolean =>
  evaluation !== undefined &&
  lacks({
    ...(evaluation.ready !== undefined && { ready: evaluation.ready }),
    ...(evaluation.from !== undefined && { current: evaluation.from }),
  });

export const PODS_NOT_READY: DoctorRule = {
  name: "pods-not-ready",
  severity: "problem",
  finds: "fewer pods than the count have been ready for an hour",
  asksDays: lacksNow,
  examine: (patient) => {
    const { days = [], evaluation, nowMs, spec } = patient;
    const sinceMs = lacksNow(patient) ? lastsSince(days, lacks) : undefined;
    if (sinceMs === undefined || nowMs - sinceMs < NOT_READY_MS) return [];
    return [
      {
        evidence: `${evaluation?.ready} of ${evaluation?.from} pods are ready, and fewer than the count have been for ${lastsText(patient, sinceMs)}`,
        cost: "the load is carried by fewer pods than the count says; pods that are not ready count as 0 for CPU",
        change: {
          ...workloadPlace(spec.target, "its pods"),
          advice:
            "`kubectl describe` of its ReplicaSet and of a pod that is not ready says whether a quota, the scheduler or a probe refuses it",
        },
      },
    ];
  },
};
