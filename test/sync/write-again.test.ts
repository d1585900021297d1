import { describe, expect, it } from "vitest";
import type { ScaleRead, ScaleReading } from "../../lib/model/observation.ts";
import type { Intent } from "../../lib/model/records.ts";
import type { AutoscalerSpec } from "../../lib/model/spec.ts";
import { landedBefore, mayWriteAgain } from "../../lib/sync/write-again.ts";

const intent = { from: 5, to: 9, targetUid: "u", resourceVersion: "1" } as unknown as Intent;
const read = (specReplicas: number, uid = "u", resourceVersion = "2"): ScaleRead => ({
  kind: "read",
  specReplicas,
  statusReplicas: specReplicas,
  selector: "",
  uid,
  resourceVersion,
});
const specOf = (dialect: AutoscalerSpec["dialect"]): AutoscalerSpec => ({ dialect }) as AutoscalerSpec;
const gone: ScaleReading = { kind: "failed", failure: { code: 404, reason: "NotFound", message: "gone" } };

describe("mayWriteAgain() after a conflict", () => {
  it.each([
    ["hpa", read(5), "yes"],
    ["hpa", read(6), "yes"],
    ["native", read(4), "no"],
    ["native", read(5), "yes"],
    ["native", read(6), "no"],
    ["watermark", read(5), "no"],
    ["native", read(5, "another"), "no"],
    ["hpa", read(5, "another"), "no"],
  ] as const)("%s, %o: %s", (dialect, reading, kind) => expect(mayWriteAgain(specOf(dialect), intent, reading).kind).toBe(kind));

  it("says which count the native rules met, and which one they had decided on", () =>
    expect(mayWriteAgain(specOf("native"), intent, read(6))).toEqual({ kind: "no", message: "the count is 6 by now, it was decided on 5" }));
});

describe("landedBefore() after a conflict", () => {
  it.each([
    ["moved and has the wanted count: a copy of the write may have taken effect", read(9), "unknown"],
    ["moved and has another count", read(5), undefined],
    ["has the wanted count and has not moved", read(9, "u", "1"), undefined],
    ["is another object of the same name", read(9, "another"), undefined],
    ["cannot be read: it is settled after the deadline", gone, "open"],
  ] as const)("the workload %s", (_what, reading, kind) => expect(landedBefore(intent, reading)?.kind).toBe(kind));

  it("goes by generations where there are any", () => {
    const counted = { ...intent, targetGeneration: 7 };
    expect(landedBefore(counted, { ...read(9), generation: 7 })).toBeUndefined();
    expect(landedBefore(counted, { ...read(9), generation: 8 })?.kind).toBe("unknown");
  });
});
