import { expect, it } from "vitest";
import { isTidemarkError, TidemarkError } from "../../lib/rules/model/errors.ts";

it("TidemarkError carries a dotted code, its details and its cause", () => {
  const cause = new Error("socket closed");
  const error = new TidemarkError(
    "store.condition-lost",
    'Cannot write "head": another sync did',
    { item: "head" },
    { cause },
  );
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({
    name: "TidemarkError",
    code: "store.condition-lost",
    details: { item: "head" },
    cause,
  });
  expect(error.message).toBe('Cannot write "head": another sync did');
});

it("isTidemarkError() knows the code, and every code below it", () => {
  const error = new TidemarkError("store.condition-lost", "", undefined);
  expect(
    ["store", "store.condition-lost", undefined].map((code) => isTidemarkError(error, code)),
  ).toEqual([true, true, true]);
  expect(
    ["store.condition", "stor", "cluster"].map((code) => isTidemarkError(error, code)),
  ).toEqual([false, false, false]);
  expect(isTidemarkError(new Error("store"), "store")).toBe(false);
});
