import { metricLine, workloadPlace } from "../manifest-line.ts";
import type { DoctorRule, DoctorFinding, Patient } from "../patient.ts";

/** How the rules of all dialects begin this sentence. */
const REQUEST = /missing request for (\S+) in container (\S+) of Pod (\S+)/;

const NOTHING_SHRINKS = "the count does not fall, and rises by the other metrics only";

/** The failed metrics of one kind, with their places. */
const failedIn = (
  { evaluation }: Patient,
  isWanted: (message: string) => boolean,
): readonly { readonly name: string; readonly message: string; readonly at: number }[] =>
  (evaluation?.metrics ?? []).flatMap((metric, at) =>
    metric.kind === "failed" && isWanted(metric.message)
      ? [{ name: metric.name, message: metric.message, at }]
      : [],
  );

export const REQUESTS_MISSING: DoctorRule = {
  name: "requests-missing",
  severity: "problem",
  finds: "a container has no request of the resource that is measured in percent of it",
  examine: (patient) =>
    failedIn(patient, (message) => REQUEST.test(message)).map(({ message }): DoctorFinding => {
      const [, resource = "", container = "", pod = ""] = REQUEST.exec(message) ?? [];
      return {
        evidence: `container "${container}" of pod "${pod}" has no request of ${resource}`,
        cost: NOTHING_SHRINKS,
        change: {
          ...workloadPlace(
            patient.spec.target,
            `spec.template.spec.containers["${container}"].resources.requests.${resource}`,
          ),
          advice: "write a request, or measure the other container alone (ContainerResource)",
        },
      };
    }),
};

export const METRIC_MISSING: DoctorRule = {
  name: "metric-missing",
  severity: "problem",
  finds: "a metric could not be read in the newest sync",
  examine: (patient) =>
    failedIn(patient, (message) => !REQUEST.test(message)).map(
      ({ name, message, at }): DoctorFinding => ({
        evidence: `${name} is missing: ${message}`,
        cost: NOTHING_SHRINKS,
        change: {
          ...metricLine(patient.manifest, at, patient.evaluation?.metrics.length ?? 0),
          advice: "`tidemark cluster check CLUSTER` or `tidemark source list` looks at the source",
        },
      }),
    ),
};
