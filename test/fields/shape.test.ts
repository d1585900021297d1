import { describe, expect, it } from "vitest";
import { int32, newReadContext, objectOf, quantity } from "../../lib/rules/fields/shape.ts";

const shape = objectOf({ maxReplicas: int32, target: quantity, stabilizationWindowSeconds: int32 });

const fixOf = (document: object): string | undefined => {
  const context = newReadContext();
  shape(document, "spec", context);
  return context.problems[0]?.fix ?? context.warnings[0]?.fix;
};

describe("a text in the place of a number", () => {
  it.each<readonly [object, unknown]>([
    [{ maxReplicas: "1,000" }, "write 1000"],
    [{ maxReplicas: "10" }, "write 10 without quotes"],
    [{ maxReplicas: "many" }, "write a whole number below 2147483648"],
    [{ maxReplicas: "1,00" }, "write a whole number below 2147483648"],
    [{ target: "60%" }, "write 60"],
    [{ target: " 60 % " }, "write 60"],
    [{ target: "1,500" }, "write 1500"],
    [{ target: "10" }, undefined],
    ...["$MIN", `$${"{MIN}"}`, "{{ .Values.min }}"].map(
      (text) =>
        [
          { maxReplicas: text },
          expect.stringMatching(/^put the value in the place of the variable before it is applied/),
        ] as const,
    ),
  ])("of %j is refused with what to write", (document, fix) => {
    expect(fixOf(document)).toEqual(fix);
  });

  it("is told from a field whose name lacks its unit", () => {
    expect(fixOf({ stabilizationWindow: 300 })).toBe(
      'write "stabilizationWindowSeconds" if that is meant',
    );
  });
});
