import { type ConditionReport, conditionOf } from "./steps.ts";

/**
 * Until when a window after the last scale of either direction is closed, or undefined while it is
 * open, which it is at its end (watermark.md 2.9).
 */
export const closedUntilMs = (
  lastScaleMs: number | undefined,
  windowMs: number,
  nowMs: number,
): number | undefined =>
  lastScaleMs === undefined || nowMs >= lastScaleMs + windowMs ? undefined : lastScaleMs + windowMs;

export interface ForbiddenWindow {
  readonly windowMs: number;
  /** When it opens again; `undefined` while it is open. */
  readonly untilMs: number | undefined;
}

/**
 * The window before the next step up, and the one before the next step down; a scale of either
 * direction closes both.
 */
export interface ForbiddenWindows {
  readonly up: ForbiddenWindow;
  readonly down: ForbiddenWindow;
}

/** The two windows at an instant. `closed` is the rule for their end. */
export const forbiddenWindows = (
  { upMs, downMs }: { readonly upMs: number; readonly downMs: number },
  lastScaleMs: number | undefined,
  nowMs: number,
  closed = closedUntilMs,
): ForbiddenWindows => ({
  up: { windowMs: upMs, untilMs: closed(lastScaleMs, upMs, nowMs) },
  down: { windowMs: downMs, untilMs: closed(lastScaleMs, downMs, nowMs) },
});

/** Times lose their fraction of a second when they are stored (watermark.md 1.5). */
export const wholeSeconds = (timeMs: number): number => Math.floor(timeMs / 1000) * 1000;

/**
 * The condition while a forbidden window is closed, in the watermark controller's words
 * (watermark.md 2.12).
 */
export const backoff = (down: boolean, up: boolean): ConditionReport => {
  const still = "the time since the previous scale is still within";
  if (down && up)
    return ableToScale(
      "False",
      "BackoffBoth",
      `${still} both the downscale and upscale forbidden windows`,
    );
  return down
    ? ableToScale("False", "BackoffDownscale", `${still} the downscale forbidden window`)
    : ableToScale("False", "BackoffUpscale", `${still} the upscale forbidden window`);
};

const ableToScale = conditionOf("AbleToScale");

/** Why a direction is closed, for people. */
export const forbiddenSentence = (direction: "upscale" | "downscale"): string =>
  `the last scale, of either direction, is within the ${direction} forbidden window`;
