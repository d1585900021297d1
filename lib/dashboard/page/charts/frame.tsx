import { scaleTime } from "d3-scale";
import { timeFormat } from "d3-time-format";
import type { ComponentChildren } from "preact";
import { DAY_MS, MINUTE_MS } from "../../../rules/model/time-text.ts";

/** The part of a drawing that holds values: left of it are the numbers of the axis. */
export const LEFT = 50;
export const RIGHT = 12;
const PIXELS_A_TICK = 96;

export interface Axis {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly width: number;
}

/** Pixels of an instant, and back. */
export const scaleOf = ({ sinceMs, untilMs, width }: Axis) =>
  scaleTime([new Date(sinceMs), new Date(untilMs)], [LEFT, Math.max(LEFT + 1, width - RIGHT)]);

export const xOf = (axis: Axis): ((atMs: number) => number) => {
  const scale = scaleOf(axis);
  return (atMs) => scale(atMs);
};

export const atOf = (axis: Axis, x: number): number => {
  const atMs = scaleOf(axis).invert(x).getTime();
  return Math.min(axis.untilMs, Math.max(axis.sinceMs, atMs));
};

/** Lines of time behind a chart. */
export const TimeLines = ({ axis, height }: { readonly axis: Axis; readonly height: number }) => (
  <g class="grid">
    {ticksOf(axis).map((tick) => {
      const x = Math.round(xOf(axis)(tick.getTime())) + 0.5;
      return <line key={tick.getTime()} x1={x} x2={x} y1={0} y2={height} />;
    })}
  </g>
);

const AXIS_HEIGHT = 22;

/** The axis of time, in the zone of the browser. */
export const TimeAxis = ({ axis }: { readonly axis: Axis }) => {
  const words = tickWords(axis.untilMs - axis.sinceMs);
  return (
    <svg class="axis" width={axis.width} height={AXIS_HEIGHT} aria-hidden="true">
      {ticksOf(axis).map((tick) => (
        <text key={tick.getTime()} x={xOf(axis)(tick.getTime())} y={15} text-anchor="middle">
          {words(tick)}
        </text>
      ))}
    </svg>
  );
};

const ticksOf = (axis: Axis): readonly Date[] =>
  scaleOf(axis)
    .ticks(Math.max(2, Math.floor(axis.width / PIXELS_A_TICK)))
    .filter((tick) => {
      const x = xOf(axis)(tick.getTime());
      return x > LEFT + 14 && x < axis.width - RIGHT - 18;
    });

const tickWords = (lengthMs: number): ((tick: Date) => string) => {
  if (lengthMs <= 20 * MINUTE_MS) return timeFormat("%H:%M:%S");
  if (lengthMs <= 2 * DAY_MS) return timeFormat("%H:%M");
  return lengthMs <= 60 * DAY_MS ? timeFormat("%d %b") : timeFormat("%b %Y");
};

/** Numbers of a scale of values at its lines. */
export const ValueLines = ({
  ticks,
  y,
  axis,
}: {
  readonly ticks: readonly { readonly value: number; readonly words: string }[];
  readonly y: (value: number) => number;
  readonly axis: Axis;
}) => (
  <g class="grid">
    {ticks.map(({ value, words }) => {
      const at = Math.round(y(value)) + 0.5;
      return (
        <g key={value}>
          <line x1={LEFT} x2={axis.width - RIGHT} y1={at} y2={at} />
          <text x={LEFT - 8} y={at + 4} text-anchor="end">
            {words}
          </text>
        </g>
      );
    })}
  </g>
);

/** A chart with its title and what the pointer or the chosen instant reads. */
export const Chart = ({
  title,
  reading,
  children,
}: {
  readonly title: string;
  readonly reading: ComponentChildren;
  readonly children: ComponentChildren;
}) => (
  <section class="chart">
    <header>
      <h2>{title}</h2>
      <p class="reading">{reading}</p>
    </header>
    {children}
  </section>
);
