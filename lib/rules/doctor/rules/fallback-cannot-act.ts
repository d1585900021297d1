import { asCount, asList, asObject } from "../../model/json.ts";
import { lineOf } from "../manifest-line.ts";
import type { DoctorRule } from "../patient.ts";

export const FALLBACK_CANNOT_ACT: DoctorRule = {
  name: "fallback-cannot-act",
  severity: "problem",
  finds: "a fallback of a missing metric is not above minReplicas, or is above maxReplicas",
  ofManifest: true,
  examine: ({ manifest, spec: { minReplicas, maxReplicas } }) =>
    asList(asObject(manifest["spec"])["metrics"]).flatMap((metric, at) => {
      const { action, replicas: raw } = asObject(asObject(metric)["onMissing"]);
      const replicas = action === "fallback" ? asCount(raw) : undefined;
      if (replicas === undefined || (replicas > minReplicas && replicas <= maxReplicas)) return [];
      const isLow = replicas <= minReplicas;
      return [
        {
          evidence: isLow
            ? `the fallback of ${replicas} is not above minReplicas, which is ${minReplicas}, and a fallback never takes pods away`
            : `the fallback of ${replicas} is above maxReplicas, which is ${maxReplicas}`,
          cost: isLow
            ? "while the metric is missing the count stays where it is"
            : `while the metric is missing there are ${maxReplicas} pods, not ${replicas}`,
          change: {
            ...lineOf(manifest, `spec.metrics[${at}].onMissing.replicas`),
            advice: `write a count above ${minReplicas} and up to ${maxReplicas}`,
          },
        },
      ];
    }),
};
