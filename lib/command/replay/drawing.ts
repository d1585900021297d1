import type { TimeSpan } from "../../replay/figures.ts";
import type { Minutes } from "../../replay/minutes.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";
import { laneOfReason } from "../../stack/report/reasons/lanes.ts";
import type { Timeline, TimelinePoint } from "../../stack/report/timeline/timeline.ts";

/** A replay as `tidemark timeline` draws an autoscaler. What was wanted is what the target asks for. */
export const timelineOfMinutes = (
  minutes: Minutes,
  { fromMs, untilMs }: TimeSpan,
  loadName: string,
): Timeline => {
  const from = Math.max(0, Math.floor((fromMs - minutes.fromMs) / MINUTE_MS));
  const points = Array.from({ length: minutes.length - from }, (_, at) =>
    pointAt(minutes, from + at),
  ).filter(({ atMs }) => atMs < untilMs);
  return {
    sinceMs: fromMs,
    untilMs,
    loadName,
    points,
    marks: minutes.scales
      .filter(({ atMs }) => atMs >= fromMs && atMs < untilMs)
      .map((scale) => ({ atMs: scale.atMs, kind: scale.to > scale.from ? "up" : "down" })),
  };
};

const pointAt = (minutes: Minutes, at: number): TimelinePoint => {
  const [min, max] = [minutes.min[at] ?? 0, minutes.max[at] ?? 0];
  const known = minutes.knownMs[at] ?? 0;
  const [needed, ready] = [minutes.neededMs[at] ?? 0, minutes.knownReadyMs[at] ?? 0];
  const held = laneOfReason(minutes.reasons[at] ?? "");
  return {
    atMs: minutes.fromMs + at * MINUTE_MS,
    current: minutes.count[at] ?? 0,
    min,
    max,
    ...(known > 0 && { wanted: Math.ceil(needed / known - ROUNDING) }),
    ...(known > 0 && ready > 0 && { load: needed / ready }),
    ...(held && { held }),
  };
};

/** Sums of times are not exact, and 3.0000001 pods are three. */
const ROUNDING = 1e-6;
