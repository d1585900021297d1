import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seriesJson, familiesIn } from "../../lib/answers/api/request-and-answer.ts";

const family = fc.record({
  name: fc.constantFrom("a", "b"),
  type: fc.constantFrom("gauge" as const, "counter" as const),
  help: fc.string(),
  samples: fc.array(
    fc.record({ labels: fc.dictionary(fc.string(), fc.string()), value: fc.double() }),
    { maxLength: 4 },
  ),
});

describe("seriesJson()", () => {
  it("never loses a value on its way through JSON, whether it is a number or not", () => {
    fc.assert(
      fc.property(fc.array(family), (families) => {
        const arrived = familiesIn(JSON.parse(JSON.stringify(seriesJson(families))));
        // JSON has one zero.
        const withoutSign = families.map((one) => ({
          ...one,
          samples: one.samples.map((sample) => ({ ...sample, value: sample.value + 0 })),
        }));
        expect(arrived).toEqual(withoutSign);
      }),
    );
  });
});
