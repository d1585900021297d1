import { TidemarkError } from "../../model/errors.ts";
import { LATEST_MS } from "../../model/instant.ts";
import type { AutoscalerRecord } from "../../model/records.ts";
import type { PauseView } from "../../views/holds.ts";
import { rfc3339 } from "./rfc3339.ts";

/** The pause if it is still active. A pause ends at its time without an edit. */
export const pauseView = (paused: AutoscalerRecord["paused"], nowMs: number): PauseView | undefined => {
  if (!paused || (paused.untilMs !== undefined && paused.untilMs <= nowMs)) return undefined;
  return { by: paused.by, at: rfc3339(paused.atMs), ...(paused.untilMs !== undefined && { until: rfc3339(Math.min(paused.untilMs, LATEST_MS)) }) };
};

/** Checks the end of a pause before it is stored. `what`: `"web"`, `cluster "eu-1"`. Throws `service.invalid`. */
export const checkPauseEnd = (what: string, untilMs: number | undefined, nowMs: number): void => {
  if (untilMs === undefined || (untilMs > nowMs && untilMs <= LATEST_MS)) return;
  const problem = untilMs <= nowMs ? `its end has passed, it is ${rfc3339(nowMs)}` : `the latest end is ${rfc3339(LATEST_MS)}`;
  throw new TidemarkError("service.invalid", `Cannot pause ${what}: ${problem}`, { untilMs });
};
