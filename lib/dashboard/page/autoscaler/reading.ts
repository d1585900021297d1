import { SECOND_MS } from "../../../rules/model/time-text.ts";
import { LANES } from "../../../stack/report/reasons/lanes.ts";
import type { HistoryPoint } from "../../../answers/views/over-time.ts";
import type { ShownPast } from "./past.ts";

/** The last point at or before an instant, or the first one; undefined where there is none. */
export const nearestPoint = (
  { points }: Pick<ShownPast, "points">,
  atMs: number | undefined,
): HistoryPoint | undefined =>
  atMs === undefined
    ? undefined
    : (points.findLast(({ at }) => Date.parse(at) <= atMs) ?? points[0]);

type Scaled = Pick<ShownPast["events"][number], "at">;

/**
 * The instant that a press on the charts means: of the nearest scale within a distance, which has a
 * mark there, or of the evaluation in force. Instants of questions are whole seconds, so
 * that one of a part of a second is the second after it.
 */
export const pressedMs = (
  { points, events }: Pick<ShownPast, "points"> & { readonly events: readonly Scaled[] },
  atMs: number,
  withinMs: number,
): number | undefined => {
  const away = (ms: number): number => Math.abs(ms - atMs);
  const [scaledMs] = events
    .map(({ at }) => Date.parse(at))
    .filter((ms) => away(ms) <= withinMs)
    .toSorted((one, other) => away(one) - away(other));
  if (scaledMs !== undefined) return Math.ceil(scaledMs / SECOND_MS) * SECOND_MS;
  const point = nearestPoint({ points }, atMs);
  return point && Date.parse(point.at);
};

/** For example "cpu 91% of 60%, queue 12 of 30". */
export const loadReading = ({ metrics }: HistoryPoint): string =>
  metrics.length === 0
    ? "nothing was measured"
    : metrics
        .map(
          ({ name, value, target }) =>
            `${name} ${value ?? "missing"}${target === undefined ? "" : ` of ${target}`}`,
        )
        .join(", ");

/** For example "7, wanted 9, 2 to 20, stabilization". */
export const countReading = ({
  current,
  wanted,
  ready,
  counted,
  min,
  max,
  held,
}: HistoryPoint): string =>
  [
    current === undefined ? "count unknown" : `${current}`,
    ...(wanted === undefined ? [] : [`wanted ${wanted}`]),
    ...(ready === undefined ? [] : [`${ready} ready`]),
    ...(counted === undefined ? [] : [`${counted} counted`]),
    ...(min === undefined || max === undefined ? [] : [`bounds ${min} to ${max}`]),
    ...LANES.flatMap(({ lane, words }) => (lane === held ? [`held by ${words}`] : [])),
  ].join(", ");
