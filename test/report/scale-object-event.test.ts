import { describe, expect, it } from "vitest";
import { scaleObjectEvent } from "../../lib/stack/report/objects/object-events.ts";
import type { ScaleEventRecord } from "../../lib/rules/model/scale-records.ts";

const noteOf = (change: Partial<ScaleEventRecord>): string =>
  scaleObjectEvent({
    id: "uid-web:1",
    outcome: "applied",
    from: 2,
    to: 4,
    message: "cpu above target",
    settledMs: 0,
    ...change,
  } as ScaleEventRecord).note;

describe("the Event of a scale", () => {
  it("says from which count to which, and why", () =>
    expect(noteOf({})).toBe("Scaled from 2 to 4: cpu above target"));

  it("says what the API server answered where it was not applied", () =>
    expect(noteOf({ outcome: "refused", detail: "the object has been modified" })).toBe(
      "Tried to scale from 2 to 4: cpu above target; the object has been modified",
    ));

  it("ends with the counts where the rules give no reason: the first write of the watermark rules", () =>
    expect(noteOf({ from: 4, message: "" })).toBe("Scaled from 4 to 4"));
});
