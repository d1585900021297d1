import { newReadContext } from "../../../lib/rules/fields/shape.ts";
import {
  milli,
  WATERMARK_SPEC,
  watermarkSpecFrom,
} from "../../../lib/rules/manifest/watermark/shape.ts";
import { factorOf, metricOf, watermarkSpecOf } from "../../../lib/rules/manifest/watermark/spec.ts";
import { type LabelIndex, labelIndex } from "../../../lib/rules/model/selector.ts";
import type { Pod, ScaleRead } from "../../../lib/rules/model/observation.ts";
import type { WatermarkSpec } from "../../../lib/rules/model/spec-watermark.ts";
import type { Condition } from "../../../lib/rules/model/windows.ts";
import { scaleRead } from "../../observation.ts";
import { readPods } from "../../cluster/read/answers.ts";

/** Inputs of single functions (`wpa-vectors/1`) as the raw JSON that a sync reads. */
export type Raw = Readonly<Record<string, unknown>>;

/**
 * Some vectors of the original leave out what a schema would ask for; a spec is read all the same.
 */
export const specFrom = (value: unknown) =>
  watermarkSpecFrom(WATERMARK_SPEC(value ?? {}, "spec", newReadContext()) ?? {});

export const rawOf = (value: unknown): Raw =>
  typeof value === "object" && value !== null ? (value as Raw) : {};
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
export const numberOf = (value: unknown): number => (typeof value === "number" ? value : 0);

/**
 * Milliseconds, with the digits behind them: a window that ends a microsecond from now has not
 * ended. `Date.parse` drops those digits.
 */
export const timeOf = (value: unknown): number => {
  const text = textOf(value);
  const [, digits = ""] = /\.\d{3}(\d+)/.exec(text) ?? [];
  return Date.parse(text) + Number(`0.${digits || 0}`);
};

export const podsOf = (value: unknown): LabelIndex<Pod> =>
  labelIndex(
    readPods(
      (value as readonly Raw[]).map(
        ({ name, labels, ownerReferences, phase, startTime, deletionTimestamp, conditions }) => ({
          metadata: {
            name,
            labels,
            ownerReferences,
            ...(deletionTimestamp === null ? {} : { deletionTimestamp }),
          },
          status: { phase, conditions, ...(startTime === null ? {} : { startTime }) },
        }),
      ),
    ),
  );

export const scaleOf = (value: unknown): ScaleRead => {
  const { specReplicas, statusReplicas, selector } = rawOf(value);
  return scaleRead(numberOf(specReplicas), {
    statusReplicas: numberOf(statusReplicas),
    selector: textOf(selector),
  });
};

/** A spec whose missing members are Go's zeros: no defaults are filled in. */
export const bareSpec = (value: unknown, targetName = "foo"): WatermarkSpec => {
  const given = specFrom(value ?? {});
  const { invalid: _checked, ...spec } = watermarkSpecOf(
    given,
    {},
    { skipNotScalingEvents: false, clusterName: "" },
  );
  return {
    ...spec,
    target: { ...spec.target, name: spec.target.name || targetName },
    minReplicas: given.minReplicas ?? 0,
    toleranceMilli: milli(given.tolerance),
    scaleUpLimit: factorOf(given.scaleUpLimitFactor),
    scaleDownLimit: factorOf(given.scaleDownLimitFactor),
    upscaleForbiddenWindowSeconds: given.upscaleForbiddenWindowSeconds ?? 0,
    downscaleForbiddenWindowSeconds: given.downscaleForbiddenWindowSeconds ?? 0,
    replicaScalingAbsoluteModulo: given.replicaScalingAbsoluteModulo ?? 0,
    metrics: given.metrics.flatMap(metricOf),
  };
};

export const conditionsOf = (value: unknown): readonly Condition[] =>
  ((value ?? []) as readonly Raw[]).map(
    ({ type, status, reason, message, lastTransitionTime }) => ({
      type: textOf(type),
      status: status === "True" ? "True" : status === "False" ? "False" : "Unknown",
      reason: textOf(reason),
      message: textOf(message),
      transitionMs:
        lastTransitionTime === undefined ? Number.MIN_SAFE_INTEGER : timeOf(lastTransitionTime),
    }),
  );

/** Only what the vector expects is compared. */
export const only = (expected: Raw, actual: Raw): Raw =>
  Object.fromEntries(Object.keys(expected).map((key) => [key, actual[key]]));
