import {
  outsideMarks,
  type Timeline,
  type TimelineMark,
} from "../../stack/report/timeline/timeline.ts";
import type { ChangeView } from "../views/change.ts";
import type { EventView } from "../views/event.ts";
import type { HistoryMetric, HistoryView } from "../views/over-time.ts";

/** What is drawn of a history, with the scales and edits of the same time. */
export const timelineOf = (
  past: Pick<HistoryView, "since" | "until" | "points">,
  events: readonly EventView[],
  changes: readonly ChangeView[],
): Timeline => {
  const points = past.points.map(({ at, ...point }) => ({ ...point, atMs: Date.parse(at) }));
  // A change outside Tidemark that is an event has its mark by that event.
  const known = events
    .filter(({ outcome }) => outcome !== "refused")
    .map(({ at, to }) => ({ atMs: Date.parse(at), to }));
  return {
    sinceMs: Date.parse(past.since),
    untilMs: Date.parse(past.until),
    loadName: loadName(past),
    points,
    marks: [
      ...events.map(eventMark),
      ...changes.map(({ at }): TimelineMark => ({ atMs: Date.parse(at), kind: "edit" })),
      ...outsideMarks(points, known),
    ],
  };
};

const eventMark = ({ at, from, to, outcome }: EventView): TimelineMark => {
  const atMs = Date.parse(at);
  if (outcome === "refused") return { atMs, kind: "refused" };
  if (outcome === "outside") return { atMs, kind: "by hand" };
  return { atMs, kind: to > from ? "up" : "down" };
};

/** The metrics with their targets, as the newest point has them: "cpu of 60%". */
const loadName = ({ points }: Pick<HistoryView, "points">): string => {
  const newest = points.findLast(({ metrics }) =>
    metrics.some(({ target }) => target !== undefined),
  );
  const named = (newest?.metrics ?? []).filter(
    (metric): metric is HistoryMetric & { readonly target: string } => metric.target !== undefined,
  );
  return named.length === 0
    ? "nothing measured"
    : named.map(({ name, target }) => `${name} of ${target}`).join(", ");
};
