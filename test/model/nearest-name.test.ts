import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nearestName } from "../../lib/model/nearest-name.ts";

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
    ["a".repeat(65), ["a".repeat(64)], undefined],
  ])("finds for %s among %j: %s", (asked, known, found) => {
    expect(nearestName(asked, known)).toBe(found);
  });

  it("always finds a name with one letter left out", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{4,20}$/), fc.nat(), (name, at) => {
        const cut = at % name.length;
        expect(nearestName(name.slice(0, cut) + name.slice(cut + 1), [name])).toBe(name);
      }),
    );
  });
});
