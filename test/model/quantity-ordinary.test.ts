import { describe, expect, it } from "vitest";
import { ordinaryMilli } from "../../lib/rules/model/quantity.ts";

describe("ordinaryMilli()", () => {
  it.each([
    ["0", 0],
    ["7", 7_000],
    ["10", 10_000],
    ["90", 90_000],
    ["250m", 250],
    ["1n", 1],
    ["1000000n", 1],
    ["1000001n", 2],
    ["0n", 0],
    ["1000u", 1],
    ["1001u", 2],
    ["2k", 2_000_000],
    ["2M", 2_000_000_000],
    ["2G", 2_000_000_000_000],
    ["2Ki", 2_048_000],
    ["2Mi", 2_097_152_000],
    ["2Gi", 2_147_483_648_000],
    ["999999999999", 999_999_999_999_000],
    ["000000000001m", 1],
    ["9007G", 9_007_000_000_000_000],
    ["8388Gi", 9_006_546_419_712_000],
  ])("reads %s itself", (text, milli) => {
    expect(ordinaryMilli(text)).toBe(milli);
  });

  it.each([
    ["more than twelve digits", "0000000000001m"],
    ["a product beyond 2^53", "9008G"],
    ["a fraction", "7.5"],
    ["a sign", "-7"],
    ["a rarer suffix", "2Ti"],
    ["no digit", "m"],
    ["a character just below the digits", "7/"],
    ["a character just above them", "7:"],
    ["blanks", " 7"],
    ["nothing", ""],
  ])("leaves %s to the exact path", (_, text) => {
    expect(ordinaryMilli(text)).toBeUndefined();
  });
});
