import { specOf } from "../../rules/manifest/admit.ts";
import type { Decision, MetricOutcome } from "../../rules/model/decision.ts";
import { isTidemarkError } from "../../rules/model/errors.ts";
import type { SlowMetric } from "../../rules/model/scale-records.ts";
import type { AutoscalerSpec } from "../../rules/model/spec.ts";
import type { Windows } from "../../rules/model/windows.ts";
import { type DecideInput, decide, metricsInDetail } from "../../rules/policy/decide.ts";
import {
  afterWrite,
  slowMetrics,
  withOutsideChange,
  withScale,
} from "../../rules/policy/dialects.ts";
import type {
  Change,
  OutsideChange,
  WriteReport,
  Written,
} from "../../rules/policy/shared/recorded-scales.ts";
import { withScalesBefore } from "../../rules/policy/unknown-past.ts";

/**
 * The pure part of a sync: the conversion of stored manifests, the decision, and what a scale
 * leaves in the windows. Nothing here waits.
 */
export interface PurePart {
  readonly specOf: (manifest: string) => SpecReading;
  readonly decide: (input: DecideInput) => Decision;
  /** The metrics of a decision with what is behind each: pods, and where the count turns. */
  readonly metricsInDetail: (
    decision: Pick<Decision, "metrics" | "from">,
    input: DecideInput,
  ) => readonly MetricOutcome[];
  /** The metrics whose sources answered slowly. */
  readonly slowMetrics: (input: DecideInput) => readonly SlowMetric[];
  /** Called after the write of a decision was answered. */
  readonly afterWrite: (report: WriteReport & { readonly eventId: string }) => Written;
  /** Windows with a scale that a later sync settled as applied or unknown. */
  readonly withScale: (windows: Windows, spec: AutoscalerSpec, change: Change) => Windows;
  /** Windows with a change of the count that this stack did not make. */
  readonly withOutsideChange: (
    windows: Windows,
    spec: AutoscalerSpec,
    change: OutsideChange,
  ) => Windows;
  /**
   * Windows beside another controller whose scales before the first sync are unknown but for their
   * time.
   */
  readonly withScalesBefore: (
    windows: Windows,
    spec: AutoscalerSpec,
    at: { readonly atMs: number; readonly eventId: string },
  ) => Windows;
}

export type SpecReading =
  | { readonly kind: "spec"; readonly spec: AutoscalerSpec }
  | { readonly kind: "invalid"; readonly message: string };

/**
 * The rules that production uses. A stored manifest that no longer converts stops its own
 * autoscaler; the message is from the conversion.
 */
export const PURE_PART: PurePart = {
  specOf: (manifest) => {
    try {
      return { kind: "spec", spec: specOf(manifest) };
    } catch (error) {
      if (isTidemarkError(error, "manifest")) return { kind: "invalid", message: error.message };
      throw error;
    }
  },
  decide,
  metricsInDetail,
  slowMetrics,
  afterWrite,
  withScale,
  withOutsideChange,
  withScalesBefore,
};
