import { decimalText } from "../../../model/quantity.ts";
import type { HpaMetric, Marks } from "../../../model/spec-hpa.ts";

/** Name of a metric for people, whatever it is compared with. */
export const plainName = (metric: HpaMetric): string => {
  switch (metric.type) {
    case "Resource":
      return `${metric.name} resource`;
    case "ContainerResource":
      return `${metric.name} resource of container ${metric.container}`;
    case "Pods":
      return `pods metric ${metric.metric.name}`;
    case "Object":
      return `${metric.describedObject.kind} metric ${metric.metric.name}`;
    case "External":
      return `external metric ${metric.metric.name}`;
  }
};

/** Two watermarks as people read them: "150m..400m". */
export const marksText = ({ lowMilli, highMilli }: Marks): string => `${decimalText(lowMilli)}..${decimalText(highMilli)}`;
