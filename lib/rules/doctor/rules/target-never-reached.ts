import { coverDays, highestOf } from "../days.ts";
import { shortMetricName } from "../../policy/shared/scale-sentence.ts";
import { levelLine } from "../manifest-line.ts";
import type { DoctorRule, Patient } from "../patient.ts";
import { DAYS_BACK, isUnscaled } from "../patient.ts";

/** A metric that stays below this share of its target never decided. */
export const NEVER_ABOVE = 0.5;

/** The types whose values are compared with what pods request. */
const OF_REQUESTS: ReadonlySet<string> = new Set(["Resource", "ContainerResource"]);

const isLow = (patient: Patient): boolean =>
  isUnscaled(patient) &&
  (patient.evaluation?.metrics ?? []).some(
    (metric) => metric.kind === "measured" && (metric.ratio ?? 1) < NEVER_ABOVE,
  );

export const TARGET_NEVER_REACHED: DoctorRule = {
  name: "target-never-reached",
  severity: "advice",
  finds: "nothing was scaled for seven days, and a metric stayed below half of its target",
  asksDays: isLow,
  examine: (patient) => {
    const { days = [], evaluation } = patient;
    if (!isLow(patient) || !coverDays(days, DAYS_BACK)) return [];
    return (evaluation?.metrics ?? []).flatMap((metric, at, all) => {
      const name = shortMetricName(metric.name);
      const most = highestOf(days, (day) => day.metrics.find((one) => one.name === name)?.ratio);
      if (metric.kind !== "measured" || most === undefined || most >= NEVER_ABOVE) return [];
      const percent = Math.round(100 * most);
      return [
        {
          evidence: `in ${DAYS_BACK} days ${name} reached ${percent}% of its target of ${metric.target} at most; it is ${metric.value} now`,
          cost:
            all.length === 1
              ? "the count is the minimum whatever happens: each pod does less than half of what it could"
              : "it decides nothing beside the other metrics",
          change: {
            ...levelLine(patient.manifest, at, all.length),
            advice: [
              "write a lower target",
              ...(OF_REQUESTS.has(metric.type) ? ["smaller requests"] : []),
              ...(all.length > 1 ? ["remove the metric"] : []),
            ].join(", or "),
          },
        },
      ];
    });
  },
};
