import { describe, expect, it } from "vitest";
import type { ScaleRead, ScaleReading } from "../../lib/rules/model/observation.ts";
import type { AutoscalerSpec } from "../../lib/rules/model/spec.ts";
import { afterConflictMs, landedBefore, mayWriteAgain } from "../../lib/stack/sync/scale/act.ts";
import { scaleRead } from "../observation.ts";
import type { Intent } from "../../lib/rules/model/scale-records.ts";

const intent = { from: 5, to: 9, targetUid: "u", resourceVersion: "1" } as unknown as Intent;
const read = (replicas: number, uid = "u", resourceVersion = "2"): ScaleRead =>
  scaleRead(replicas, { uid, resourceVersion });
const specOf = (dialect: AutoscalerSpec["dialect"]): AutoscalerSpec =>
  ({ dialect }) as AutoscalerSpec;
const failing = (code: number): ScaleReading => ({
  kind: "failed",
  failure: { code, reason: "Whatever", message: "words of the server" },
});

describe("mayWriteAgain() after a conflict", () => {
  it.each([
    ["hpa", read(5), "yes"],
    ["hpa", read(6), "yes"],
    ["native", read(4), "no"],
    ["native", read(5), "yes"],
    ["native", read(6), "no"],
    ["watermark", read(5), "no"],
  ] as const)("%s, %o: %s", (dialect, reading, kind) =>
    expect(mayWriteAgain(specOf(dialect), intent, reading).kind).toBe(kind),
  );

  it("names the version that was read in the next write", () =>
    expect(mayWriteAgain(specOf("hpa"), intent, { ...read(6), generation: 8 })).toEqual({
      kind: "yes",
      sent: { targetUid: "u", resourceVersion: "2", targetGeneration: 8, to: 9 },
    }));

  it("says which count the native rules met, and which one they had decided on", () =>
    expect(mayWriteAgain(specOf("native"), intent, read(6))).toEqual({
      kind: "no",
      message: "the count is 6 by now, it was decided on 5",
    }));
});

it("afterConflictMs() is 10 ms and up to a tenth more (hpa.md 2.4 step 6)", () =>
  expect([0, 0.5, 1].map((random) => afterConflictMs(() => random))).toEqual([10, 10.5, 11]));

describe("landedBefore() after a conflict or another refusal", () => {
  it.each([
    [
      "moved and has the wanted count: a copy of the write may have taken effect",
      read(9),
      "unknown",
    ],
    ["moved and has another count: a change after the copy may have set it", read(5), "unknown"],
    ["has the wanted count and has not moved", read(9, "u", "1"), undefined],
    [
      "is another object of the same name: the copy may have changed the one before",
      read(5, "another"),
      "unknown",
    ],
    ["is gone: the copy may have changed it before", failing(404), "unknown"],
    ["cannot be read: it is settled after the deadline", failing(500), "open"],
  ] as const)("the workload %s", (_what, reading, kind) =>
    expect(landedBefore(intent, reading)?.kind).toBe(kind),
  );

  it("goes by generations where there are any", () => {
    const counted = { ...intent, targetGeneration: 7 };
    expect(landedBefore(counted, { ...read(9), generation: 7 })).toBeUndefined();
    expect(landedBefore(counted, { ...read(9), generation: 8 })?.kind).toBe("unknown");
  });

  it("is proven to have taken no effect where the spec changed once, to another count, and not where it changed twice", () => {
    const counted = { ...intent, targetGeneration: 7 };
    expect(landedBefore(counted, { ...read(6), generation: 8 })).toBeUndefined();
    expect(landedBefore(counted, { ...read(6), generation: 9 })?.kind).toBe("unknown");
  });
});
