import { condition, event } from "./notes.ts";
import { failedSpecCheck, processing } from "./sentences.ts";
import { noted, type WatermarkStep } from "./sync.ts";

/** An object whose spec breaks a rule of watermark.md 1.3 holds until it is edited. */
export const checkSpec: WatermarkStep = (sync) => {
  const checked = noted(sync, condition(processing));
  const { invalid } = sync.input.spec;
  if (invalid === undefined) return checked;
  const because = { reason: "FailedSpecCheck", message: `Invalid WPA specification: ${invalid}` };
  return {
    ...noted(checked, event("Warning", "FailedSpecCheck", invalid), condition(failedSpecCheck(invalid))),
    ending: { kind: "stopped", because, failed: true, dueAgainSeconds: null },
  };
};
