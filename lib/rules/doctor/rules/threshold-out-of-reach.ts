import { asList, asObject } from "../../model/json.ts";
import { levelLine } from "../manifest-line.ts";
import type { DoctorRule, DoctorFinding, Patient } from "../patient.ts";
import type { MeasuredOutcome } from "../measured.ts";

/** A percentage of what its containers may use at most has no larger value. */
const WHOLE_PERCENT = 100;

const percentOf = (text: string | undefined): number | undefined =>
  text?.endsWith("%") ? Number(text.slice(0, -1)) : undefined;

/** True of a metric that is measured in percent of the limits of the containers. */
const isOfLimit = ({ manifest }: Patient, at: number): boolean => {
  const metric = asObject(asList(asObject(manifest["spec"])["metrics"])[at]);
  return ["resource", "containerResource"].some((part) => asObject(metric[part])["of"] === "limit");
};

export const THRESHOLD_OUT_OF_REACH: DoctorRule = {
  name: "threshold-out-of-reach",
  severity: "problem",
  finds:
    "no value that can be measured asks for another count: rounding, tolerance or pods without a value put the threshold out of reach",
  examine: (patient) => {
    const { evaluation } = patient;
    const metrics = evaluation?.metrics ?? [];
    return metrics.flatMap((metric, at) =>
      metric.kind === "measured" && metric.turns && evaluation
        ? [...tooHigh(patient, metric, at), ...nothingLess(patient, metric, at)]
        : [],
    );
  },
};

const tooHigh = (
  patient: Patient,
  metric: MeasuredOutcome,
  at: number,
): readonly DoctorFinding[] => {
  const above = metric.turns?.above;
  const level = percentOf(above?.value);
  if (!above || level === undefined || level <= WHOLE_PERCENT || !isOfLimit(patient, at)) return [];
  return [
    {
      evidence: `${metric.name} asks for more from ${above.value} of the limit on, and a container is stopped at 100%`,
      cost: "it never asks for more pods, however high the load",
      change: {
        ...levelLine(patient.manifest, at, patient.evaluation?.metrics.length ?? 0),
        advice: `write a target whose tolerance ends below 100%: ${above.value} is where it turns now`,
      },
    },
  ];
};

/** The least count that can be wanted: with one pod, no value asks for fewer. */
const nothingLess = (
  patient: Patient,
  metric: MeasuredOutcome,
  at: number,
): readonly DoctorFinding[] => {
  const { from = 0, bounds, metrics = [] } = patient.evaluation ?? {};
  const least = Math.max(1, bounds?.min ?? 1);
  const isStuck = metric.turns?.below === undefined && metric.proposal >= from && from > least;
  if (!isStuck) return [];
  const assumed = metric.assumed
    ? `: ${metric.assumed.pods} pods without a value count as ${metric.assumed.as}`
    : "";
  return [
    {
      evidence: `no value of ${metric.name} asks for fewer than ${from} pods, and the minimum is ${least}${assumed}`,
      cost: `${from - least} pods more than the minimum stay, however low the load`,
      change: {
        ...levelLine(patient.manifest, at, metrics.length),
        advice: "write a higher target, or look at the pods without a value",
      },
    },
  ];
};
