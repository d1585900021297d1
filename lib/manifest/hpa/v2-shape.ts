import { anything, int32, listOf, objectOf, quantity, type ReadAs, text, textMap } from "../shape.ts";

/** The fields of autoscaling/v2 as a manifest has them (hpa.md 1.1); v2beta2 has the same but for tolerance. */

export const CROSS_VERSION_REFERENCE = objectOf({ kind: text, name: text, apiVersion: text });

export const LABEL_SELECTOR = objectOf({
  matchLabels: textMap,
  matchExpressions: listOf(objectOf({ key: text, operator: text, values: listOf(text, "") }), {}),
});

const METRIC_IDENTIFIER = objectOf({ name: text, selector: LABEL_SELECTOR });

const METRIC_TARGET = objectOf({ type: text, value: quantity, averageValue: quantity, averageUtilization: int32 });

const METRIC = objectOf({
  type: text,
  object: objectOf({ describedObject: CROSS_VERSION_REFERENCE, metric: METRIC_IDENTIFIER, target: METRIC_TARGET }),
  external: objectOf({ metric: METRIC_IDENTIFIER, target: METRIC_TARGET }),
  pods: objectOf({ metric: METRIC_IDENTIFIER, target: METRIC_TARGET }),
  resource: objectOf({ name: text, target: METRIC_TARGET }),
  containerResource: objectOf({ name: text, container: text, target: METRIC_TARGET }),
});

const SCALING_RULES = objectOf({
  stabilizationWindowSeconds: int32,
  selectPolicy: text,
  policies: listOf(objectOf({ type: text, value: int32, periodSeconds: int32 }), {}),
  tolerance: quantity,
});

export const BEHAVIOR = objectOf({ scaleUp: SCALING_RULES, scaleDown: SCALING_RULES });

export const V2_SPEC_FIELDS = {
  scaleTargetRef: CROSS_VERSION_REFERENCE,
  minReplicas: int32,
  maxReplicas: int32,
  metrics: listOf(METRIC, {}),
  behavior: BEHAVIOR,
  constraints: anything,
} as const;

export type Reference = ReadAs<typeof CROSS_VERSION_REFERENCE>;
export type Metric = ReadAs<typeof METRIC>;
export type Target = ReadAs<typeof METRIC_TARGET>;
export type Selector = ReadAs<typeof LABEL_SELECTOR>;
export type Rules = ReadAs<typeof SCALING_RULES>;
export type DraftBehavior = ReadAs<typeof BEHAVIOR>;

/** The spec of any HPA form, in the terms of v2: as read, then defaulted. */
export interface DraftSpec {
  readonly scaleTargetRef?: Reference | undefined;
  readonly minReplicas?: number | undefined;
  readonly maxReplicas?: number | undefined;
  readonly metrics?: readonly Metric[] | undefined;
  readonly behavior?: DraftBehavior | undefined;
}
