import type { Sample } from "../../model/scale-records.ts";
import { DAY_MS } from "../../model/time-text.ts";
import { highestOf, lastsSince, lastsText } from "../days.ts";
import { lineOf } from "../manifest-line.ts";
import type { DoctorRule, Patient } from "../patient.ts";

/** So long at the maximum is no peak any more. */
export const AT_MAXIMUM_MS = DAY_MS;

const isCut = ({ current, wanted, max }: Sample): boolean =>
  current !== undefined &&
  wanted !== undefined &&
  max !== undefined &&
  current >= max &&
  wanted > max;

/** At the maximum, with a step that a limit cut. */
const isAtMaxNow = ({ evaluation }: Patient): boolean => {
  const { bounds, from = 0, steps = [] } = evaluation ?? {};
  return (
    bounds !== undefined && from >= bounds.max && steps.some(({ before }) => before > bounds.max)
  );
};

export const AT_MAXIMUM: DoctorRule = {
  name: "at-maximum",
  severity: "problem",
  finds: "more than the maximum has been wanted for a day",
  asksDays: isAtMaxNow,
  examine: (patient) => {
    const { days = [], nowMs, spec } = patient;
    const sinceMs = isAtMaxNow(patient) ? lastsSince(days, isCut) : undefined;
    if (sinceMs === undefined || nowMs - sinceMs < AT_MAXIMUM_MS) return [];
    const cut = days.filter(({ atMs }) => atMs >= sinceMs);
    const max = cut.at(-1)?.max ?? spec.maxReplicas;
    const most = highestOf(cut, ({ wanted }) => wanted) ?? max;
    return [
      {
        evidence: `more than the maximum of ${max} has been wanted for ${lastsText(patient, sinceMs)}: up to ${most}`,
        cost: `the load is above its target: up to ${most - max} pods are missing`,
        change: {
          ...lineOf(patient.manifest, "spec.maxReplicas"),
          advice: `write ${most}, or a higher target`,
        },
      },
    ];
  },
};
