import { scaleLinear } from "d3-scale";
import { area, curveStepAfter } from "d3-shape";
import { type Axis, RIGHT, TimeLines, ValueLines, xOf } from "../charts/frame.tsx";
import { pathOf, silenceOf, unbroken } from "../charts/stretches.ts";
import type { ShownPast } from "./past.ts";

const HEIGHT = 190;
const TOP = 8;
const BOTTOM = 6;
const TICKS = 5;

type Point = ShownPast["points"][number] & { readonly atMs: number };

/** The wanted and the serving count as steps, inside the band of the bounds in force. */
export const CountChart = ({ past, axis }: { readonly past: ShownPast; readonly axis: Axis }) => {
  const points = past.points.map((point) => ({ ...point, atMs: Date.parse(point.at) }));
  const y = scaleLinear([0, topOf(points)], [HEIGHT - BOTTOM, TOP]).clamp(true);
  const x = xOf(axis);
  const parts = unbroken(points, silenceOf(past.stepMs));
  const max = points.at(-1)?.max;
  const steps = (countOf: (point: Point) => number | undefined): string =>
    pathOf(
      parts.map((part) => part.map((point) => ({ atMs: point.atMs, value: countOf(point) }))),
      { x, y, steps: true },
    );
  return (
    <svg class="counts" width={axis.width} height={HEIGHT} aria-hidden="true">
      <path class="band" d={bandOf(parts, x, highestOf(y))} />
      <TimeLines axis={axis} height={HEIGHT} />
      <ValueLines axis={axis} y={y} ticks={wholeTicks(y)} />
      <path class="ready" d={steps(({ ready }) => ready)} />
      <path class="wanted" d={steps(({ wanted }) => wanted)} />
      <path class="current" d={steps(({ current }) => current)} />
      {max !== undefined && max > (y.domain()[1] ?? 0) && (
        <text class="beyond" x={axis.width - RIGHT - 4} y={TOP + 8} text-anchor="end">
          maximum {max} ↑
        </text>
      )}
    </svg>
  );
};

/** Bounds and wishes far above all counts must not flatten them: they are drawn at the top. */
const topOf = (points: readonly Point[]): number => {
  const highest = Math.max(1, ...points.map(({ current = 0 }) => current));
  const wanted = Math.max(0, ...points.map((point) => point.wanted ?? 0));
  const bound = Math.max(0, ...points.map(({ max = 0 }) => max));
  return Math.max(highest, Math.min(Math.max(wanted, bound), highest * 2)) * 1.08;
};

/** What is above all that is drawn reaches to the edge, so that its end is no value of the scale. */
const highestOf =
  (y: CountScale) =>
  (value: number): number =>
    value > (y.domain()[1] ?? 0) ? 0 : y(value);

interface CountScale {
  (value: number): number;
  domain(): number[];
}

const bandOf = (
  parts: readonly (readonly Point[])[],
  x: (ms: number) => number,
  y: (value: number) => number,
): string => {
  const band = area<Point>()
    .defined(({ min, max }) => min !== undefined && max !== undefined)
    .x(({ atMs }) => x(atMs))
    .y0(({ min = 0 }) => y(min))
    .y1(({ max = 0 }) => y(max))
    .curve(curveStepAfter);
  return parts.map((part) => band([...part]) ?? "").join("");
};

/** A count is whole. */
const wholeTicks = (y: { readonly ticks: (count: number) => number[] }) =>
  y
    .ticks(TICKS)
    .filter(Number.isInteger)
    .map((value) => ({ value, words: String(value) }));
