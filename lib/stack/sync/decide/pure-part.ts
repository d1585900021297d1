import { specOf } from "../../../rules/manifest/admit.ts";
import type { Decision } from "../../../rules/model/decision.ts";
import { isTidemarkError } from "../../../rules/model/errors.ts";
import type { AutoscalerUid } from "../../../rules/model/ids.ts";
import type { AutoscalerSpec } from "../../../rules/model/spec.ts";
import type { Windows } from "../../../rules/model/windows.ts";
import { type DecideInput, decide } from "../../../rules/policy/decide.ts";
import { afterWrite, withOutsideChange, withScale } from "../../../rules/policy/dialects.ts";
import type {
  Change,
  OutsideChange,
  WriteReport,
  Written,
} from "../../../rules/policy/shared/recorded-scales.ts";
import { withScalesBefore } from "../../../rules/policy/unknown-past.ts";

/**
 * The pure part of a sync: the conversion of stored manifests, the decision, and what a scale
 * leaves in the windows. Nothing here waits.
 */
export interface PurePart {
  readonly specOf: (manifest: string) => SpecReading;
  readonly decide: (input: DecideInput) => Decision;
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
  afterWrite,
  withScale,
  withOutsideChange,
  withScalesBefore,
};

/**
 * What rules threw in this sync, by autoscaler. Rules throw nothing but mistakes of Tidemark, and a
 * mistake about one autoscaler must not stop the others of its partition. On doubt, hold: the
 * autoscaler of a mistake scales nothing, and the report of the sync has each error.
 */
export interface RuleFailures {
  readonly of: (uid: AutoscalerUid) => Error | undefined;
  readonly all: () => ReadonlyMap<AutoscalerUid, Error>;
  /** The result of a rule, or `instead` where the rule throws. */
  readonly guarded: <Result>(
    uid: AutoscalerUid,
    rule: () => Result,
    instead: (error: Error) => Result,
  ) => Result;
}

export const ruleFailures = (): RuleFailures => {
  const failures = new Map<AutoscalerUid, Error>();
  return {
    of: (uid) => failures.get(uid),
    all: () => failures,
    guarded: (uid, rule, instead) => {
      try {
        return rule();
      } catch (thrown) {
        const error = thrown instanceof Error ? thrown : new Error(String(thrown));
        // The first error says where it began.
        if (!failures.has(uid)) failures.set(uid, error);
        return instead(error);
      }
    },
  };
};
