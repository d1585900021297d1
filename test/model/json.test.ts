import { expect, it } from "vitest";
import { isObject } from "../../lib/rules/model/json.ts";

it("a JSON object is neither null, nor a list, nor a plain value", () => {
  expect([{}, { a: 1 }].map(isObject)).toEqual([true, true]);
  expect([null, [], [{}], "a", 1, true, undefined].map(isObject)).toEqual(
    Array.from({ length: 7 }, () => false),
  );
});
