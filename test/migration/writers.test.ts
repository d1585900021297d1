import { describe, expect, it } from "vitest";
import type { AuditedRequest } from "./audit.ts";
import { writersOf } from "./writers.ts";

const RULES = { own: "tidemark", gapMs: 30_000, underWayMs: 2_000 };
const at = (
  what: AuditedRequest["what"],
  by: string,
  ms: number,
  path = what === "list" ? "" : "shop/web",
): AuditedRequest => ({
  ...{ what, by, path },
  fromMs: ms - 5,
  untilMs: ms,
});
const GOOD = [
  at("scale", "admin", 1_000),
  at("delete", "admin", 2_000),
  at("list", "tidemark", 12_000),
  at("scale", "tidemark", 13_000),
  at("scale", "tidemark", 60_000),
];
const faultsOf = (requests: readonly AuditedRequest[]): readonly string[] =>
  writersOf(requests, RULES).faults;

describe("writersOf()", () => {
  it("finds no fault where one writes after the other, and says how long the next sync took", () => {
    expect(writersOf(GOOD, RULES)).toEqual({
      faults: [],
      switched: 1,
      before: 1,
      after: 2,
      longestGapMs: 9_995,
      latestMs: 0,
    });
  });

  it("finds the other controller that writes after Tidemark, and one that writes long after its deletion", () => {
    expect(faultsOf([...GOOD, at("scale", "admin", 14_000)])).toEqual([
      "shop/web: the other controller wrote 12000 ms after the deletion of its object",
      "shop/web: the other controller wrote after Tidemark",
    ]);
    expect(faultsOf([...GOOD.slice(0, 2), at("scale", "admin", 2_900), ...GOOD.slice(2)])).toEqual(
      [],
    );
  });

  it("finds a Tidemark that writes before the deletion, or without one", () => {
    expect(faultsOf([at("scale", "tidemark", 500), ...GOOD.slice(1)])).toEqual([
      "shop/web: Tidemark wrote before the deletion",
    ]);
    expect(faultsOf([at("scale", "tidemark", 500)])).toEqual([
      "shop/web: Tidemark wrote before the deletion",
    ]);
  });

  it("finds a workload that no sync has read in time after the deletion, or at all", () => {
    expect(faultsOf([at("delete", "admin", 2_000), at("list", "tidemark", 40_000)])).toEqual([
      "shop/web: the next sync came 37995 ms after the deletion",
    ]);
    expect(faultsOf([at("delete", "admin", 2_000), at("list", "admin", 3_000)])[0]).toContain(
      "Infinity",
    );
  });
});
