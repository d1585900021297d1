import type { Problem } from "../../fields/problem.ts";
import type { ReadAs, ReadContext } from "../../fields/shape.ts";
import type { METADATA } from "../form.ts";
import type { DraftSpec, WrittenThresholds } from "./v2-shape.ts";

/** A manifest of any HPA form as a v2 spec without defaults. */
export interface HpaDraft {
  readonly metadata: ReadAs<typeof METADATA> | undefined;
  readonly spec: DraftSpec;
  /** The draft block of proposals.md §3, unread. */
  readonly constraints?: unknown;
  /** The fields of the multi-threshold form, unread. */
  readonly thresholds?: WrittenThresholds | undefined;
  /** A behavior from an annotation is validated before it is defaulted (hpa.md 1.2). */
  readonly behaviorDefaultedLate?: boolean;
  /** Set when the rules of the first design decide (proposals.md §1). */
  readonly dialect?: "original";
  /** Problems of fields that only this form has. */
  readonly formProblems?: readonly Problem[];
  /** The path of a v2 field in this form, when it has another name. */
  readonly sourceOf: (field: string) => string | undefined;
}

export type ReadForm = (document: unknown, context: ReadContext) => HpaDraft;
