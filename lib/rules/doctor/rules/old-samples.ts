import type { MetricOutcome } from "../../model/decision.ts";
import { lineOf, metricLine } from "../manifest-line.ts";
import type { DoctorRule, ManifestChange, Patient } from "../patient.ts";
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
          change: changeOf(patient.manifest, at, all.length),
        },
      ];
    }),
};

const SOURCE = "look at the source: a metrics server that stands still, a scrape that fails";

/** A metric of native rules can refuse an old value. Other rules write the type of each metric. */
const changeOf = (manifest: Patient["manifest"], at: number, of: number): ManifestChange => {
  const { field, value } = metricLine(manifest, at, of);
  const isNative = value === undefined && lineOf(manifest, `${field}.type`).value === undefined;
  return isNative
    ? {
        ...lineOf(manifest, `${field}.maxAgeSeconds`),
        advice: `write ${OLD_SECONDS}, so that an older value is missing and nothing shrinks on it; and ${SOURCE}`,
      }
    : {
        field,
        advice: `${SOURCE}; a PodAutoscaler (\`tidemark convert --pods owned\`) counts a pod with an older sample as one without`,
      };
};
