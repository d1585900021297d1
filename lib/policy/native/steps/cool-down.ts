import { closedUntilMs } from "../../shared/forbidden.ts";
import { type NativeStep, rulesOf, stepped } from "./sync.ts";

/** The forbidden window after the last scale of either direction; its end itself is allowed. */
export const coolDown: NativeStep = (sync) => {
  const { input, current, count } = sync;
  const rules = rulesOf(sync);
  const seconds = rules?.forbiddenAfterEventSeconds ?? 0;
  const untilMs = closedUntilMs(input.windows.status.lastScaleMs, seconds * 1000, input.nowMs);
  if (!rules || untilMs === undefined) return stepped(sync, "cool down", count);
  const message = `scaling ${count > current ? "up" : "down"} is forbidden for ${seconds} s after any scale`;
  return stepped(sync, "cool down", current, { reason: "ForbiddenWindow", value: seconds, message, untilMs });
};
