import { present } from "../../model/json.ts";
import type { DraftBehavior, DraftSpec, ManifestMetric, Rules } from "./v2-shape.ts";

const DEFAULT_MIN_REPLICAS = 1;
const DEFAULT_CPU_PERCENT = 80;

const SCALE_UP: Rules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
};
/** No window here, because the cluster's downscale stabilization counts. */
const SCALE_DOWN: Rules = {
  selectPolicy: "Max",
  policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
};

export const cpuMetric = (percent: number | undefined = DEFAULT_CPU_PERCENT): ManifestMetric => ({
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: percent } },
});

/**
 * The defaults of hpa.md 1.1 without behavior, which some forms default after validation (hpa.md
 * 1.2).
 */
export const defaultedSpec = (spec: DraftSpec): DraftSpec => ({
  ...spec,
  minReplicas: spec.minReplicas ?? DEFAULT_MIN_REPLICAS,
  metrics: spec.metrics === undefined || spec.metrics.length === 0 ? [cpuMetric()] : spec.metrics,
});

/**
 * Completes both directions. An absent behavior stays absent, and an empty list of policies stays
 * empty.
 */
export const defaultedBehavior = (behavior: DraftBehavior | undefined): DraftBehavior | undefined =>
  behavior && {
    scaleUp: completed(SCALE_UP, behavior.scaleUp),
    scaleDown: completed(SCALE_DOWN, behavior.scaleDown),
  };

const completed = (defaults: Rules, written: Rules = {}): Rules => ({
  ...defaults,
  ...present(written),
});
