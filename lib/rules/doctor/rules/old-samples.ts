import type { MetricOutcome } from "../../model/decision.ts";
import { levelLine } from "../manifest-line.ts";
import type { DoctorRule } from "../patient.ts";
import { lasted } from "../patient.ts";

/** Metrics servers measure every 15 to 60 seconds: an older value has missed several rounds. */
export const OLD_SECONDS = 180;

/** The oldest of what made a value, in seconds. */
const ageOf = (metric: MetricOutcome): number =>
  Math.max(
    0,
    (metric.kind === "measured" && metric.pods?.oldestSeconds) || 0,
    ...(metric.inputs ?? []).map(({ ageSeconds = 0 }) => ageSeconds),
  );

export const OLD_SAMPLES: DoctorRule = {
  name: "old-samples",
  severity: "problem",
  finds: "the sample behind a value is three minutes old or older",
  examine: (patient) =>
    (patient.evaluation?.metrics ?? []).flatMap((metric, at, all) => {
      const seconds = ageOf(metric);
      if (seconds < OLD_SECONDS) return [];
      return [
        {
          evidence: `the oldest sample of ${metric.name} is ${lasted(seconds * 1_000)} old`,
          cost: "the count follows the load so much later, up and down",
          change: {
            ...levelLine(patient.manifest, at, all.length),
            advice:
              "look at the source: a metrics server that stands still, a scrape that fails; a PodAutoscaler refuses old values of a registered source with maxAgeSeconds",
          },
        },
      ];
    }),
};
