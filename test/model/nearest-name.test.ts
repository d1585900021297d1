import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nearestName } from "../../lib/rules/model/nearest-name.ts";
import { runs } from "../runs.ts";

/** The edits between two texts by their last letters, without a table. */
const editsByDefinition = (one: string, other: string): number => {
  if (one === "" || other === "") return one.length + other.length;
  const [shorter, rest] = [one.slice(0, -1), other.slice(0, -1)];
  const replaced = editsByDefinition(shorter, rest) + (one.at(-1) === other.at(-1) ? 0 : 1);
  const changed = [
    editsByDefinition(shorter, other) + 1,
    editsByDefinition(one, rest) + 1,
    replaced,
  ];
  const isSwapped =
    one.length > 1 &&
    other.length > 1 &&
    one.at(-1) === other.at(-2) &&
    one.at(-2) === other.at(-1);
  return Math.min(
    ...changed,
    ...(isSwapped ? [editsByDefinition(one.slice(0, -2), other.slice(0, -2)) + 1] : []),
  );
};

describe("nearestName()", () => {
  it.each([
    ["web", ["api", "web-frontend", "wed"], "wed"],
    ["wbe", ["api", "web"], "web"],
    ["we", ["api", "web"], "web"],
    ["checkuot", ["checkout", "cart"], "checkout"],
    ["checkout-service", ["checkout-servcie", "cart"], "checkout-servcie"],
    ["zzz", ["web", "api"], undefined],
    ["MinReplicas", ["maxReplicas", "minReplicas"], "minReplicas"],
    ["web", [], undefined],
    ["we", ["wet", "web"], "wet"],
    ["web", ["WEB"], "WEB"],
    ["WEB", ["web"], "web"],
    [
      "stabilizationWindow",
      ["policies", "stabilizationWindowSeconds"],
      "stabilizationWindowSeconds",
    ],
    ["metric", ["metricsA", "metricsOfAnother"], "metricsA"],
    ["checkout", ["checkout-service-one", "checkout-service-two"], undefined],
    ["check", ["checkout-service"], undefined],
    ["a".repeat(65), ["a".repeat(64)], undefined],
    ["a".repeat(64), ["a".repeat(65)], undefined],
    ["a".repeat(64), ["a".repeat(65), "a".repeat(64)], "a".repeat(64)],
  ])("finds for %s among %j: %s", (asked, known, found) => {
    expect(nearestName(asked, known)).toBe(found);
  });

  it.each([
    ["web", "web", 0],
    ["", "abc", 3],
    ["abc", "", 3],
    ["abcd", "abxd", 1],
    ["abcd", "abd", 1],
    ["abd", "abcd", 1],
    ["xabcdy", "xacbdy", 1],
    ["abcd", "badc", 2],
    ["abc", "cba", 2],
    ["aab", "bba", 2],
    ["ca", "abc", 3],
    ["kitten", "sitting", 3],
    ["intention", "execution", 5],
    ["abcdef", "ghijkl", 6],
  ])(
    "counts letters that are removed, added, replaced, or swapped with their neighbour: from %j to %j are %i",
    (written, name, edits) => {
      expect(nearestName(written, [name], edits)).toBe(name);
      expect(nearestName(written, [name], edits - 1)).toBeUndefined();
    },
  );

  it.each([
    ["a", "b", "bc"],
    ["abcde", "abcdX", "abcXX"],
    ["abcdef", "abcdXX", "abcXXX"],
    ["abcdefgh", "abcdefXX", "abcdeXXX"],
  ])(
    "takes a third of the letters of a name for wrong at most, and at least one: for %s it takes %s, not %s",
    (written, near, far) => {
      expect(nearestName(written, [near])).toBe(near);
      expect(nearestName(written, [far])).toBeUndefined();
    },
  );

  it("always counts as the definition by the last letters does", () => {
    const few = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 6 });
    fc.assert(
      fc.property(few, few, (one, other) => {
        const edits = editsByDefinition(one, other);
        expect(nearestName(one, [other], edits)).toBe(other);
        expect(nearestName(one, [other], edits - 1)).toBeUndefined();
      }),
      runs(100),
    );
  });

  it("always finds a name with one letter left out", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{4,20}$/), fc.nat(), (name, at) => {
        const cut = at % name.length;
        expect(nearestName(name.slice(0, cut) + name.slice(cut + 1), [name])).toBe(name);
      }),
      runs(100),
    );
  });
});
