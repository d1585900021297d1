import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { admit } from "../../lib/manifest/admit.ts";
import { SERVED_BY_KUBERNETES } from "../../lib/manifest/forms.ts";

interface ApiError {
  readonly field: string;
  readonly type: string;
  readonly detail: string;
}

interface AdmissionCase {
  readonly id: string;
  readonly note?: string;
  readonly manifest: unknown;
  readonly old?: unknown;
  readonly expect: { readonly stored?: unknown; readonly errors?: readonly ApiError[]; readonly undecodable?: true };
}

const vectors = JSON.parse(readFileSync(new URL("../conformance/vectors/hpa/admission.json", import.meta.url), "utf8")) as { cases: AdmissionCase[] };

const inOrder = (errors: readonly ApiError[]) => errors.map(({ field, type, detail }) => JSON.stringify([field, type, detail])).sort();

describe("admissions of the recorded API", () => {
  it("are all there", () => expect(vectors.cases.length).toBeGreaterThan(400));

  it.each(vectors.cases)("$id: $note", ({ manifest, old, expect: wanted }) => {
    const admission = admit(manifest, { old, forms: SERVED_BY_KUBERNETES });
    if (admission.ok) {
      expect({ stored: admission.stored }).toEqual(wanted);
      return;
    }
    if (wanted.undecodable) expect(admission.because).not.toBe("invalid");
    else expect(inOrder(admission.problems)).toEqual(inOrder(wanted.errors ?? []));
  });
});
