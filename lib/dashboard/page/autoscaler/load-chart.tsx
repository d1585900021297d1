import { scaleLinear } from "d3-scale";
import { type Axis, TimeLines, ValueLines, xOf } from "../charts/frame.tsx";
import { pathOf, silenceOf, unbroken } from "../charts/stretches.ts";
import { loadOfTexts } from "../../../stack/report/metric-reading.ts";
import type { ShownPast } from "./past.ts";

const HEIGHT = 150;
const TOP = 8;
const BOTTOM = 6;
/** As many lines as can be told apart by their dashes. */
export const LINES_MAX = 4;
/** The highest ratio that is drawn in full: a load of hundreds of targets must not flatten all. */
const RATIO_MAX = 5;
const PERCENT = 100;
const TICKS = 4;

/** The names of the metrics that have a ratio, in the order of the newest point. */
export const measuredNames = ({ points }: Pick<ShownPast, "points">): readonly string[] => [
  ...new Set(
    points
      .toReversed()
      .flatMap(({ metrics }) =>
        metrics.flatMap(({ name, ratio }) => (ratio === undefined ? [] : [name])),
      ),
  ),
];

/** The low watermark of each metric that has one, as a part of the high one: 0.5 of "150..300". */
export const lowMarks = (
  { points }: Pick<ShownPast, "points">,
  names: readonly string[],
): readonly number[] => {
  const newest = points.at(-1)?.metrics ?? [];
  const lows = newest
    .filter(({ name, target }) => names.includes(name) && target?.includes(".."))
    .flatMap(({ target = "" }) => loadOfTexts([target.split("..").join("/")]) ?? []);
  return [...new Set(lows)];
};

/**
 * Each metric as a part of its target. The line at 100 % is the target, or the high watermark;
 * below it a line for each low watermark.
 */
export const LoadChart = ({ past, axis }: { readonly past: ShownPast; readonly axis: Axis }) => {
  const names = measuredNames(past).slice(0, LINES_MAX);
  const points = past.points.map((point) => ({ ...point, atMs: Date.parse(point.at) }));
  const highest = Math.max(1, ...points.map(({ load = 0 }) => Math.min(load, RATIO_MAX)));
  const y = scaleLinear([0, highest * 1.05], [HEIGHT - BOTTOM, TOP]);
  const x = xOf(axis);
  const parts = unbroken(points, silenceOf(past.stepMs));
  const target = Math.round(y(1)) + 0.5;
  return (
    <svg class="load" width={axis.width} height={HEIGHT} aria-hidden="true">
      <TimeLines axis={axis} height={HEIGHT} />
      <ValueLines axis={axis} y={y} ticks={y.ticks(TICKS).map(percent)} />
      <line class="target" x1={x(axis.sinceMs)} x2={x(axis.untilMs)} y1={target} y2={target} />
      {lowMarks(past, names).map((low) => (
        <line
          key={low}
          class="target low"
          x1={x(axis.sinceMs)}
          x2={x(axis.untilMs)}
          y1={y(low)}
          y2={y(low)}
        />
      ))}
      {names.map((name, at) => (
        <path
          key={name}
          class={`metric metric-${at}`}
          d={pathOf(
            parts.map((part) =>
              part.map(({ atMs, metrics }) => ({ atMs, value: cut(ratioIn(metrics, name)) })),
            ),
            { x, y, steps: false },
          )}
        />
      ))}
    </svg>
  );
};

const percent = (value: number) => ({ value, words: `${Math.round(value * PERCENT)} %` });

const ratioIn = (
  metrics: ShownPast["points"][number]["metrics"],
  name: string,
): number | undefined => metrics.find((metric) => metric.name === name)?.ratio;

const cut = (ratio: number | undefined): number | undefined =>
  ratio === undefined ? undefined : Math.min(ratio, RATIO_MAX);
