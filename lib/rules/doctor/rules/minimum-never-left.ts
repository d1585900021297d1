import { coverDays, highestOf } from "../days.ts";
import { lineOf } from "../manifest-line.ts";
import type { DoctorRule, Patient } from "../patient.ts";
import { counted, DAYS_BACK, isUnscaled } from "../patient.ts";

const isAtMinimum = (patient: Patient): boolean => {
  const { evaluation } = patient;
  return (
    isUnscaled(patient) &&
    evaluation?.bounds !== undefined &&
    evaluation.bounds.minBy === undefined &&
    evaluation.bounds.min > 1 &&
    (evaluation.from ?? Number.POSITIVE_INFINITY) <= evaluation.bounds.min &&
    evaluation.steps.every(({ before }) => before <= (evaluation.bounds?.min ?? 0))
  );
};

export const MINIMUM_NEVER_LEFT: DoctorRule = {
  name: "minimum-never-left",
  severity: "advice",
  finds: "fewer pods than the minimum were wanted in each of seven days",
  asksDays: isAtMinimum,
  examine: (patient) => {
    const { days = [], evaluation } = patient;
    const min = evaluation?.bounds?.min;
    const most = highestOf(days, ({ wanted }) => wanted);
    if (
      min === undefined ||
      most === undefined ||
      most >= min ||
      !isAtMinimum(patient) ||
      !coverDays(days, DAYS_BACK) ||
      days.some(({ current = min }) => current > min)
    )
      return [];
    const least = Math.max(1, most);
    return [
      {
        evidence: `in ${DAYS_BACK} days the count never was above the minimum of ${min}, and at most ${counted(most, "pod")} ${most === 1 ? "was" : "were"} wanted`,
        cost: `${counted(min - least, "pod")} all day that the load does not need`,
        change: {
          ...lineOf(patient.manifest, "spec.minReplicas"),
          advice: `write ${least}, unless so many are there for another reason than the load`,
        },
      },
    ];
  },
};
