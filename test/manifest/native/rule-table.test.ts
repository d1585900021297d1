import { describe, expect, it } from "vitest";
import { explainField } from "../../../lib/manifest/native/explain-field.ts";
import type { FieldDescription } from "../../../lib/fields/field-types.ts";
import { schemaOf } from "../../../lib/manifest/native/json-schema.ts";
import { RULE_TABLE } from "../../../lib/manifest/native/rule-table.ts";
import { SPEC } from "../../../lib/manifest/native/spec-fields.ts";

/** Paths of our own fields whose description has a condition. Blocks that another form checks are left out. */
const withConditions = (path: string, { conditions, fields = {}, items, readElsewhere }: FieldDescription): readonly string[] => {
  if (readElsewhere) return [];
  const members = Object.entries(fields).flatMap(([name, member]) => withConditions(`${path}.${name}`, member));
  return [...(conditions ? [path] : []), ...members, ...(items ? withConditions(`${path}[]`, items) : [])];
};

describe("the table of rules of a PodAutoscaler", () => {
  it("is the only place with conditions of our own fields: each stands beside the function that finds the problem", () => {
    expect(withConditions("spec", SPEC.about)).toEqual([]);
    expect(RULE_TABLE.flatMap(({ conditions }) => conditions).length).toBeGreaterThan(15);
  });

  it("names only paths of fields that exist, so that no condition is lost in the JSON Schema", () => {
    for (const { path, conditions } of RULE_TABLE) {
      const field = explainField(path);
      if (field.kind !== "known") throw new Error(`"${path}" is no field`);
      expect(field.path).toBe(path);
      const schema = JSON.stringify(schemaOf(field.path, field.about));
      for (const condition of conditions) expect(schema).toContain(JSON.stringify(condition));
    }
  });
});
