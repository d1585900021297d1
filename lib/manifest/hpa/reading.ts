import type { METADATA } from "../metadata.ts";
import type { Problem } from "../problem.ts";
import type { ReadAs, Reading } from "../shape.ts";
import type { DraftSpec, WrittenThresholds } from "./v2-shape.ts";

/** What one form makes of a manifest: a spec in the terms of v2, not defaulted yet. */
export interface HpaReading {
  readonly metadata: ReadAs<typeof METADATA> | undefined;
  readonly spec: DraftSpec;
  /** The draft block of proposals.md §3, as it was written. */
  readonly constraints?: unknown;
  /** Fields of the multi-threshold form, as they were written. */
  readonly thresholds?: WrittenThresholds | undefined;
  /** A behavior from an annotation is validated before it is defaulted (hpa.md 1.2). */
  readonly behaviorDefaultedLate?: boolean;
  /** Decided by the rules of the first design (proposals.md §1). */
  readonly rules?: "original";
  /** Problems of fields that only this form has. */
  readonly formProblems?: readonly Problem[];
  /** Where a field of v2 stands in this form, when it is named differently. */
  readonly sourceOf: (field: string) => string | undefined;
}

export type ReadForm = (document: unknown, reading: Reading) => HpaReading;
