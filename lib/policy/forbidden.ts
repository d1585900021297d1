/** Until when a window after the last scale of either direction is closed, or undefined while it is open, which it is at its end (watermark.md 2.9). */
export const closedUntilMs = (lastScaleMs: number | undefined, windowMs: number, nowMs: number): number | undefined =>
  lastScaleMs === undefined || nowMs >= lastScaleMs + windowMs ? undefined : lastScaleMs + windowMs;
