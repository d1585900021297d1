import { specOf } from "../manifest/admit.ts";
import type { Decision } from "../model/decision.ts";
import { isTidemarkError } from "../model/errors.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import type { Windows } from "../model/windows.ts";
import { decide, type DecideInput } from "../policy/decide.ts";
import { afterWrite, withScale } from "../policy/dialects.ts";
import type { Change } from "../policy/shared/recorded-scales.ts";
import type { WriteReport, Written } from "../policy/shared/write-report.ts";

/** The pure part of a sync: the conversion of stored manifests, the decision, and what a scale leaves in the windows. Nothing here waits. */
export interface Rules {
  readonly specOf: (manifest: string) => SpecReading;
  readonly decide: (input: DecideInput) => Decision;
  /** Called after the write of a decision was answered. */
  readonly afterWrite: (report: WriteReport & { readonly eventId: string }) => Written;
  /** Windows with a scale that a later sync settled as applied or unknown. */
  readonly withScale: (windows: Windows, spec: AutoscalerSpec, change: Change) => Windows;
}

export type SpecReading = { readonly kind: "spec"; readonly spec: AutoscalerSpec } | { readonly kind: "invalid"; readonly message: string };

/** The rules that production uses. A stored manifest that no longer converts stops its own autoscaler; the message is that of the conversion. */
export const RULES: Rules = {
  specOf: (manifest) => {
    try {
      return { kind: "spec", spec: specOf(manifest) };
    } catch (error) {
      if (isTidemarkError(error, "manifest")) return { kind: "invalid", message: error.message };
      throw error;
    }
  },
  decide,
  afterWrite,
  withScale,
};
