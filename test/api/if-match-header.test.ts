import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ifMatchText } from "../../lib/answers/api/request-and-answer.ts";
import { conditionIn } from "../../lib/answers/api/route.ts";

const request = (ifMatch: string) => ({
  method: "POST",
  path: "/",
  query: "",
  headers: { "if-match": ifMatch },
  body: new Uint8Array(),
  id: "1",
});

describe("conditionIn()", () => {
  it("always reads the header that a condition is written as", () => {
    const version = fc.record({
      uid: fc.uuid(),
      generation: fc.integer({ min: 1, max: 999_999_999_999_999 }),
    });
    fc.assert(
      fc.property(fc.array(version), (condition) => {
        expect(conditionIn(request(ifMatchText(condition)))).toEqual(condition);
      }),
    );
    expect(conditionIn(request(ifMatchText("exists")))).toBe("exists");
  });

  it("never fails otherwise than by refusing the header", () => {
    const noise = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom('"', ",", " ", "*", "W/", "a", ".", "1", "\t") }),
    );
    fc.assert(
      fc.property(noise, (text) => {
        try {
          conditionIn(request(text));
        } catch (error) {
          expect(error).toMatchObject({ code: "api.invalid" });
        }
      }),
    );
  });

  it("reads a header of 10 KB that almost matches in a moment", () => {
    const started = process.cpuUsage().user;
    expect(() => conditionIn(request(`"a"${" , ".repeat(3_000)}x`))).toThrow("If-Match");
    expect(process.cpuUsage().user - started).toBeLessThan(100_000);
  });
});
