import { describe, expect, it } from "vitest";
import { readSelector } from "../../lib/answers/service/label-selector.ts";

const parts = (count: number): string =>
  Array.from({ length: count }, (_, at) => `!label-${at}`).join(",");

describe("readSelector()", () => {
  it("reads what kubectl -l reads", () => {
    const chooses = readSelector("app=web,tier!=db,env in (a, b),owner,!old");
    expect(chooses({ app: "web", env: "b", owner: "ada" })).toBe(true);
    expect(chooses({ app: "web", env: "c", owner: "ada" })).toBe(false);
    expect(chooses({ app: "web", env: "a", owner: "ada", old: "" })).toBe(false);
  });

  it("refuses more parts than one answer can look at for every autoscaler", () => {
    expect(readSelector(parts(50))({})).toBe(true);
    expect(() => readSelector(parts(51))).toThrow("it has 51 parts, and the limit is 50");
  });
});
