import type { Form } from "../../../lib/rules/manifest/form.ts";
import { FORMS } from "../../../lib/rules/manifest/other-kinds.ts";
import { admit } from "../../../lib/rules/manifest/admit.ts";
import { type Difference, differences } from "../differences.ts";
import type { VectorCase } from "../vector-file.ts";

/**
 * The forms that a Kubernetes API of version 1.37 serves; it answers the others with status 400
 * (hpa.md 0.2).
 */
const SERVED_BY_KUBERNETES: readonly Form[] = FORMS.filter(({ apiVersion }) =>
  ["autoscaling/v2", "autoscaling/v1"].includes(apiVersion),
);

interface FieldError {
  readonly field: string;
  readonly type: string;
  readonly detail: string;
}

/** A manifest as submitted: stored, refused with errors, or unreadable. */
export const runAdmission = ({ manifest, old, expect }: VectorCase): readonly Difference[] => {
  const admission = admit(manifest, { old, forms: SERVED_BY_KUBERNETES });
  if (admission.ok) return differences(expect, { stored: admission.stored });
  if (admission.because !== "invalid") return differences(expect, { undecodable: true });
  return differences(expect, {
    errors: admission.problems
      .map(({ field, type, detail }) => ({ field, type, detail }))
      .sort(inOrder),
  });
};

const inOrder = (one: FieldError, other: FieldError): number =>
  compare(one.field, other.field) ||
  compare(one.type, other.type) ||
  compare(one.detail, other.detail);

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
