import type { HpaMetric } from "../../../model/spec-hpa.ts";
import { measureExternal } from "./external.ts";
import type { Measurement, MetricContext } from "./measurement.ts";
import { measureObject } from "./object.ts";
import { measurePods } from "./pods.ts";
import { measureResource } from "./resource.ts";

/** One metric of any type: what it proposes, or why it cannot (hpa.md 2.5). */
export const measureMetric = (metric: HpaMetric, context: MetricContext): Measurement => {
  switch (metric.type) {
    case "Resource":
    case "ContainerResource":
      return measureResource(metric, context);
    case "Pods":
      return measurePods(metric, context);
    case "Object":
      return measureObject(metric, context);
    case "External":
      return measureExternal(metric, context);
  }
};
