import { describe, expect, it } from "vitest";
import type { ScaleReading } from "../../lib/model/observation.ts";
import type { Intent } from "../../lib/model/records.ts";
import { mayWriteAgain } from "../../lib/sync/write-again.ts";

const intent = { from: 5, to: 9, targetUid: "u" } as unknown as Intent;
const read = (specReplicas: number, uid = "u"): ScaleReading => ({
  kind: "read",
  specReplicas,
  statusReplicas: specReplicas,
  selector: "",
  uid,
  resourceVersion: "2",
});
const gone: ScaleReading = { kind: "failed", failure: { code: 404, reason: "NotFound", message: "gone" } };

describe("mayWriteAgain() after a conflict", () => {
  it.each([
    ["hpa", read(5), "yes"],
    ["hpa", read(6), "yes"],
    ["tidemark", read(4), "no"],
    ["tidemark", read(5), "yes"],
    ["tidemark", read(6), "no"],
    ["watermark", read(5), "no"],
    ["tidemark", read(5, "another"), "no"],
    ["hpa", read(5, "another"), "no"],
    ["tidemark", gone, "no"],
  ] as const)("%s, %o: %s", (dialect, reading, kind) => expect(mayWriteAgain(dialect, intent, reading).kind).toBe(kind));

  it("says which count tidemark met and which one it had decided on", () =>
    expect(mayWriteAgain("tidemark", intent, read(6))).toEqual({ kind: "no", message: "the count is 6 by now, it was decided on 5" }));
});
