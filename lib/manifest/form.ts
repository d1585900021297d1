import type { AutoscalerSpec } from "../model/spec.ts";
import type { Json } from "./json.ts";
import type { Metadata } from "./metadata.ts";
import type { Problem } from "./problem.ts";
import type { Reading } from "./shape.ts";

/** One accepted kind of manifest; forms.ts lists them all. */
export interface Form {
  readonly apiVersion: string;
  readonly kind: string;
  readonly admit: AdmitForm;
}

/**
 * Reads, defaults and checks one document. What could not be read goes into `reading`; broken rules are in the outcome. `old` is the outcome of the manifest that this one
 * replaces. It never throws, and its outcome counts only when nothing is wrong.
 */
export type AdmitForm = (document: unknown, reading: Reading, old: FormOutcome | undefined) => FormOutcome;

export interface FormOutcome {
  readonly metadata: Metadata;
  readonly problems: readonly Problem[];
  readonly spec: AutoscalerSpec;
  /** The object's spec as it reads back, complete and in canonical text; admitting it again changes nothing. */
  readonly stored: StoredForm;
  /** JSON that is deeply equal for two manifests of the same meaning, however they are written. */
  readonly meaning: unknown;
}

export interface StoredForm {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: Json;
}
