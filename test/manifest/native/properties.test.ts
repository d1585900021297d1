import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { admit } from "../../../lib/rules/manifest/admit.ts";
import { convertedForm } from "../../../lib/rules/manifest/native/convert.ts";
import { membersOf } from "../../../lib/rules/manifest/native/explain-field.ts";
import type { FieldDescription } from "../../../lib/rules/fields/field-types.ts";
import { SPEC } from "../../../lib/rules/manifest/native/spec-fields.ts";
import { runs } from "../../runs.ts";

const RUNS = runs(200);
const anything = fc.jsonValue({ maxDepth: 2 });

/** Values that a field describes: mostly such as it takes, now and then anything at all. */
const valuesOf = (about: FieldDescription): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 30, arbitrary: describedBy(about) }, { weight: 1, arbitrary: anything });

const describedBy = (about: FieldDescription): fc.Arbitrary<unknown> => {
  const { least = 0, most = least + 100, choices = [] } = about;
  switch (about.type) {
    case "integer":
      return fc.integer({ min: Math.ceil(least), max: Math.min(most, 200) });
    case "quantity":
      return fc.oneof(
        fc.integer({ min: Math.ceil(least), max: 200 }),
        fc.constantFrom("0.5", "1500m", "2k", "1Gi"),
      );
    case "text":
      return fc.constantFrom("web", "cpu", "apps/v1", "Deployment", "");
    case "time":
      return fc.constantFrom("2030-01-01T00:00:00Z", "soon");
    case "flag":
      return fc.boolean();
    case "choice":
      return fc.constantFrom(...choices);
    case "texts":
      return fc.constantFrom({}, { app: "web" });
    case "list":
      return fc.array(about.items ? valuesOf(about.items) : anything, { maxLength: 2 });
    case "object":
      return about.fields
        ? fc.record(
            Object.fromEntries(
              Object.entries(about.fields).map(([name, member]) => [name, valuesOf(member)]),
            ),
            { requiredKeys: [] },
          )
        : anything;
    case "anything":
      return anything;
  }
};

const given = (spec: unknown) => ({
  apiVersion: "tidemark.dev/v1",
  kind: "PodAutoscaler",
  metadata: { name: "web" },
  spec,
});

/** A valid spec in which some fields are replaced. */
const nearlyValid = fc
  .tuple(describedBy(SPEC.about), fc.subarray(Object.keys(membersOf(SPEC.about)), { maxLength: 3 }))
  .map(([random, names]) => ({
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    maxReplicas: 50,
    metrics: [{ external: { metric: "lag" }, target: 10 }],
    ...Object.fromEntries(
      names.map((name) => [name, (random as Readonly<Record<string, unknown>>)[name]]),
    ),
  }));

describe("admit() of a PodAutoscaler", () => {
  it("never throws, whatever it is given", () => {
    fc.assert(
      fc.property(fc.oneof(anything, describedBy(SPEC.about)), (spec) => {
        expect(typeof admit(given(spec)).ok).toBe("boolean");
      }),
      RUNS,
    );
  });

  it("always gives back what it accepts: admitted again, and converted, it decides by the same spec", () => {
    let accepted = 0;
    fc.assert(
      fc.property(nearlyValid, (spec) => {
        const first = admit(given(spec));
        if (!first.ok) return;
        accepted++;
        const conversion = convertedForm(first);
        if (conversion.kind === "refused") throw new Error(conversion.rule);
        for (const document of [first.stored, conversion.document])
          expect(admit(document)).toMatchObject({ ok: true, spec: first.spec });
      }),
      RUNS,
    );
    expect(accepted).toBeGreaterThan(RUNS.numRuns / 10);
  });

  it("always names a field below the spec, and what to write instead", () => {
    fc.assert(
      fc.property(nearlyValid, (spec) => {
        const admission = admit(given(spec));
        if (admission.ok) return;
        for (const { field, fix } of admission.problems)
          expect([field.startsWith("spec"), fix !== ""]).toEqual([true, true]);
      }),
      RUNS,
    );
  });
});
