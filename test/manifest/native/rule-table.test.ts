import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ruleProblems } from "../../../lib/rules/fields/evaluate.ts";
import type { FieldDescription } from "../../../lib/rules/fields/field-types.ts";
import type { Rule } from "../../../lib/rules/fields/rule.ts";
import { ruleText } from "../../../lib/rules/fields/rule-text.ts";
import { ruleCel } from "../../../lib/rules/manifest/crd/cel.ts";
import { structuralSchema } from "../../../lib/rules/manifest/crd/structural-schema.ts";
import { schemaOf } from "../../../lib/rules/manifest/native/json-schema.ts";
import { ruleSchema } from "../../../lib/rules/manifest/native/rule-schema.ts";
import { RULE_TABLE } from "../../../lib/rules/manifest/native/rule-table.ts";
import { SPEC } from "../../../lib/rules/manifest/native/spec-fields.ts";
import { runs } from "../../runs.ts";
import { ajv } from "./outside.ts";
import { asRead, objectsFor, OWN_RULES, PLACED_RULES } from "./rule-objects.ts";

/**
 * Paths of our own fields whose description has rules. Blocks that another form checks are left
 * out.
 */
const withRules = (
  path: string,
  { rules, fields = {}, items, readElsewhere }: FieldDescription,
): readonly string[] => {
  if (readElsewhere) return [];
  const members = Object.entries(fields).flatMap(([name, member]) =>
    withRules(`${path}.${name}`, member),
  );
  return [...(rules ? [path] : []), ...members, ...(items ? withRules(`${path}[]`, items) : [])];
};

/**
 * The whole rule as it is printed. The parts of a rule of another form report less: what its API
 * reports elsewhere.
 */
const reportedHere = (rule: Rule): Rule => {
  const { reportedElsewhere, parts: _parts, ...printed } = rule;
  return reportedElsewhere ? printed : rule;
};

const ROUNDS_MAX = 80;

describe("the table of rules of a PodAutoscaler", () => {
  it("is the only place with rules of our own fields", () => {
    expect(withRules("spec", SPEC.about)).toEqual([]);
    expect(RULE_TABLE.flatMap(({ rules }) => rules).length).toBeGreaterThan(40);
  });

  it("has every rule in the definition for API servers, and in the JSON Schema where JSON Schema can say it", () => {
    for (const { path, rule, about } of OWN_RULES) {
      const printed = JSON.stringify({ rule: ruleCel(rule, about), message: ruleText(rule) });
      expect(JSON.stringify(structuralSchema(path, about))).toContain(printed.slice(0, -1));
      const condition = ruleSchema(rule, about);
      if (condition)
        expect(JSON.stringify(schemaOf(path, about))).toContain(JSON.stringify(condition));
    }
  });

  it("says every rule in one sentence, without a place for a value", () => {
    for (const { rule } of PLACED_RULES) expect(ruleText(rule)).toMatch(/^[^{}\n]{15,}$/);
  });

  it.each(
    PLACED_RULES.map((placed) => [`${placed.path}: ${ruleText(placed.rule)}`, placed] as const),
  )(
    "always finds a problem where the condition of the JSON Schema does not hold, and only there: %s",
    (_, placed) => {
      const { rule, about, path } = placed;
      const schema = ruleSchema(rule, about);
      const validate = schema && ajv.compile(schema);
      const seen = { held: 0, broken: 0 };
      const agree = fc.property(objectsFor(placed), (written) => {
        const problems = ruleProblems(
          reportedHere(rule),
          { read: asRead(written, about), written },
          path,
        );
        const isRight = problems.length === 0;
        if (validate) expect([written, validate(written)]).toEqual([written, isRight]);
        seen[isRight ? "held" : "broken"]++;
      });
      // One object of some thousand breaks the rarest rule: a round without one says nothing.
      for (let round = 0; round < ROUNDS_MAX && Math.min(seen.held, seen.broken) === 0; round++)
        fc.assert(agree, runs(600));
      expect(Math.min(seen.held, seen.broken)).toBeGreaterThan(0);
    },
  );
});
