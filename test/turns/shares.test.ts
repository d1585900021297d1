import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { flowShares, heaviest } from "../../lib/stack/turns/shares.ts";

describe("the share of a flow", () => {
  it("ends what the flow may take, and no other flow notices", () => {
    const shares = flowShares({ calls: 2, bytes: 10 });
    expect([1, 1, 1].map((amount) => shares.take("shop", "calls", amount))).toEqual([
      true,
      true,
      false,
    ]);
    expect(shares.usedUp("shop")).toEqual({ resource: "calls", spent: 2, most: 2 });
    expect(shares.usedUp("bank")).toBeUndefined();
    expect(shares.take("bank", "calls", 1)).toBe(true);
  });

  it("is used up by what was not known before, such as the bytes of an answer", () => {
    const shares = flowShares({ calls: 2, bytes: 10 });
    shares.spend("shop", "bytes", 9);
    expect(shares.usedUp("shop")).toBeUndefined();
    shares.spend("shop", "bytes", 90);
    expect(shares.usedUp("shop")).toEqual({ resource: "bytes", spent: 99, most: 10 });
    shares.take("bank", "calls", 1);
    expect([...shares.all("bytes")]).toEqual([
      ["shop", 99],
      ["bank", 0],
    ]);
  });

  it("always has room for the first amount, and never for one that goes over it later", () => {
    fc.assert(
      fc.property(fc.nat(100), fc.array(fc.integer({ min: 1, max: 60 })), (most, amounts) => {
        const shares = flowShares({ looks: most });
        let spent = 0;
        for (const [at, amount] of amounts.entries()) {
          const fits = at === 0 || spent + amount <= most;
          expect(shares.take("shop", "looks", amount)).toBe(fits);
          if (fits) spent += amount;
          expect(shares.spent("shop", "looks")).toBe(spent);
        }
      }),
    );
  });
});

const BOUNDS = { least: 100, part: 0.1, flows: 20 };

describe("heaviest()", () => {
  const of = (...weights: readonly number[]) => [
    ...heaviest(new Map(weights.map((weight, at) => [`n${at}`, weight])), BOUNDS),
  ];
  it.each([
    ["none below the least", [100, 1], []],
    ["one above both", [101, 1], ["n0"]],
    ["none with a tenth", Array.from({ length: 10 }, () => 1_000), []],
    ["each with more than a tenth", [1_000, 1_000, 1], ["n0", "n1"]],
    ["nothing of nothing", [], []],
  ])("finds %s", (_name, weights, heavy) => {
    expect(of(...weights)).toEqual(heavy);
  });
});
