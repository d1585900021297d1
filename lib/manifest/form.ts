import type { Json } from "../fields/json.ts";
import type { Problem } from "../fields/problem.ts";
import type { ReadContext } from "../fields/shape.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import type { Metadata } from "./metadata.ts";

/** One accepted kind of manifest; accepted-forms.ts lists them all. */
export interface Form {
  readonly apiVersion: string;
  readonly kind: string;
  readonly admit: AdmitForm;
}

/**
 * Reads, defaults and checks one document. Unreadable fields go into the context; broken rules are in the outcome. `old` is the outcome of the manifest that this one
 * replaces. It never throws. The outcome counts only without problems.
 */
export type AdmitForm = (document: unknown, context: ReadContext, old: FormOutcome | undefined) => FormOutcome;

export interface FormOutcome {
  readonly metadata: Metadata;
  readonly problems: readonly Problem[];
  readonly spec: AutoscalerSpec;
  /** The spec as it reads back, complete and in canonical text. Admitting it again changes nothing. */
  readonly stored: StoredForm;
  /** JSON that is deeply equal for two manifests with the same meaning. */
  readonly meaning: unknown;
}

export interface StoredForm {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: Json;
}
