import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withoutDefaults } from "../../../lib/rules/manifest/import/keda/without-defaults.ts";
import { readExpression } from "../../../lib/rules/sources/read-expression.ts";
import { runs } from "../../runs.ts";

describe("a formula without its defaults", () => {
  it.each([
    ["a ?? 0", "a"],
    ["(a ?? 0) + b", "(a) + b"],
    ["a ?? -1 + b", "a + b"],
    ["max(a ?? b ?? 0, c)", "max(a, c)"],
    ["a + (b ?? max([1, 2]))", "a + (b)"],
    ["a ?? (b + 1) * 2", "a * 2"],
    ["sum([a ?? 1, b])", "sum([a, b])"],
    ["a", "a"],
    ["a ??", "a ??"],
  ])("%s is %s", (written, plain) => {
    expect(withoutDefaults(written)).toBe(plain);
  });

  const formula = fc.letrec<{ all: string; one: string }>((tie) => ({
    one: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom("a", "b", "1", "2.5"),
      fc.tuple(tie("one"), tie("one")).map(([left, right]) => `${left} ?? (${right})`),
      tie("all").map((inside) => `(${inside})`),
      fc.tuple(tie("all"), tie("all")).map(([left, right]) => `max(${left}, ${right})`),
    ),
    all: fc.oneof(
      { maxDepth: 4 },
      tie("one"),
      fc.tuple(tie("one"), tie("one")).map(([left, right]) => `${left} + ${right}`),
    ),
  })).all;

  it("can be read wherever the formula can, and has none", () => {
    fc.assert(
      fc.property(formula, (written) => {
        const plain = withoutDefaults(written);
        expect(plain).not.toContain("??");
        if (readExpression(written).kind === "expression")
          expect(readExpression(plain).kind).toBe("expression");
      }),
      runs(300),
    );
  });
});
