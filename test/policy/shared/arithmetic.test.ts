import { describe, expect, it } from "vitest";
import {
  addI32,
  MAX_I32,
  MIN_I32,
  MIN_I64,
  toI32,
  toI64,
  wrapI32,
  wrapI64,
} from "../../../lib/rules/policy/shared/arithmetic.ts";
import { MAX_I64 } from "../../../lib/rules/model/quantity-parse.ts";

describe("toI32()", () => {
  it.each([
    [0, 0],
    [-0, 0],
    [1.9, 1],
    [-1.9, -1],
    [MAX_I32, MAX_I32],
    [MAX_I32 + 0.9, MAX_I32],
    [MAX_I32 + 1, MIN_I32],
    [MIN_I32, MIN_I32],
    [MIN_I32 - 0.9, MIN_I32],
    [MIN_I32 - 1, MIN_I32],
    [1e300, MIN_I32],
    [Number.POSITIVE_INFINITY, MIN_I32],
    [Number.NEGATIVE_INFINITY, MIN_I32],
    [Number.NaN, MIN_I32],
  ])("of %d is %d", (value, expected) => {
    expect(toI32(value)).toBe(expected);
  });
});

describe("toI64()", () => {
  it.each([
    [1.9, 1n],
    [-1.9, -1n],
    [2 ** 53, 2n ** 53n],
    [2 ** 63 - 1024, 2n ** 63n - 1024n],
    [2 ** 63, MIN_I64],
    [-(2 ** 63), MIN_I64],
    [-(2 ** 63) - 2048, MIN_I64],
    [Number.NaN, MIN_I64],
    [Number.POSITIVE_INFINITY, MIN_I64],
  ])("of %d is %s", (value, expected) => {
    expect(toI64(value)).toBe(expected);
  });
});

describe("wrapping", () => {
  it("makes 32-bit sums and 64-bit numbers overflow as those of Go do", () => {
    expect(addI32(MAX_I32, 1)).toBe(MIN_I32);
    expect(addI32(MIN_I32, -1)).toBe(MAX_I32);
    expect(addI32(2, -5)).toBe(-3);
    expect(wrapI64(MAX_I64 + 1n)).toBe(MIN_I64);
    expect(wrapI64(5n)).toBe(5n);
    expect(wrapI32(2n ** 32n + 7n)).toBe(7);
    expect(wrapI32(2n ** 31n)).toBe(MIN_I32);
  });
});
