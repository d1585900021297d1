import { present } from "../../../rules/model/json.ts";
import type { Sample } from "../../../rules/model/scale-records.ts";
import { LANES } from "../reasons/lanes.ts";
import { MINUTE_MS } from "../../../rules/model/time-text.ts";

/**
 * What is drawn of one autoscaler: its load against the target, its counts and bounds, what held
 * it, and what happened. Times are milliseconds.
 */
export interface Timeline {
  readonly sinceMs: number;
  readonly untilMs: number;
  /** What the load is: "cpu, of 60%". */
  readonly loadName: string;
  /** In order of time. */
  readonly points: readonly TimelinePoint[];
  readonly marks: readonly TimelineMark[];
  /**
   * How long a column without a point has the values before it. By default three minutes: after a
   * longer silence nobody knows what was there.
   */
  readonly carriedMs?: number;
}

export type TimelinePoint = Pick<
  Sample,
  "atMs" | "current" | "counted" | "wanted" | "min" | "max" | "load" | "held"
>;

/** In the order of weight: of several in one cell the first one is drawn. */
export const CELL_MARKS = [
  { kind: "restart", mark: "R", words: "the record began anew" },
  { kind: "by hand", mark: "H", words: "the count was changed from outside" },
  { kind: "edit", mark: "E", words: "an edit by a person" },
  { kind: "refused", mark: "×", words: "a scale was refused" },
  { kind: "both", mark: "↕", words: "scaled both ways" },
  { kind: "up", mark: "▲", words: "scaled up" },
  { kind: "down", mark: "▼", words: "scaled down" },
] as const;
export type MarkKind = (typeof CELL_MARKS)[number]["kind"];

export interface TimelineMark {
  readonly atMs: number;
  readonly kind: MarkKind;
}

/** One column of a drawing. */
export interface Cell extends Omit<TimelinePoint, "atMs"> {
  readonly mark?: MarkKind;
}

/**
 * The top of the scale of counts. A wish far above all counts must not flatten them: it is drawn at
 * the top.
 */
export const topCount = (cells: readonly Cell[]): number => {
  const highest = highestCount(cells);
  return Math.max(
    highest,
    Math.min(Math.max(...cells.map(({ wanted = 0 }) => wanted)), highest * 2),
  );
};

export const highestCount = (cells: readonly Cell[]): number =>
  Math.max(1, ...cells.map(({ current = 0 }) => current));

const CARRIED_MS = 180_000;

/**
 * The columns of a drawing. A peak must not vanish: of several points in one column the highest
 * load and wanted count are taken, the fewest pods that count, and the last count. A column without
 * a point has the values before it.
 */
export const cellsOf = (
  { sinceMs, untilMs, points, marks, carriedMs = CARRIED_MS }: Timeline,
  columns: number,
): readonly Cell[] => {
  const cellMs = Math.max(1, (untilMs - sinceMs) / columns);
  const columnOf = ({ atMs }: { readonly atMs: number }): number =>
    Math.min(columns - 1, Math.max(0, Math.floor((atMs - sinceMs) / cellMs)));
  const pointsIn = Map.groupBy(points, columnOf);
  const marksIn = Map.groupBy(marks, columnOf);
  const cells: Cell[] = [];
  let last: TimelinePoint | undefined;
  for (let column = 0; column < columns; column++) {
    const inside = pointsIn.get(column) ?? [];
    const carried =
      last && sinceMs + column * cellMs - last.atMs <= Math.max(carriedMs, cellMs) ? [last] : [];
    const shown = inside.length > 0 ? inside : carried;
    last = inside.at(-1) ?? last;
    cells.push({ ...valuesOf(shown), ...markOf(marksIn.get(column) ?? []) });
  }
  return cells;
};

const valuesOf = (points: readonly TimelinePoint[]): Cell => {
  const newest = points.at(-1);
  if (!newest) return {};
  const { current, min, max } = newest;
  const held = LANES.find(({ lane }) => points.some((point) => point.held === lane))?.lane;
  return present({
    current,
    counted: fewest(points.flatMap(({ counted }) => counted ?? [])),
    min,
    max,
    wanted: highest(points, "wanted"),
    load: highest(points, "load"),
    held,
  });
};

const fewest = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : Math.min(...values);

const highest = (
  points: readonly TimelinePoint[],
  field: "wanted" | "load",
): number | undefined => {
  const values = points.flatMap((point) => point[field] ?? []);
  return values.length === 0 ? undefined : Math.max(...values);
};

const markOf = (marks: readonly TimelineMark[]): Pick<Cell, "mark"> => {
  const kinds = new Set(marks.map(({ kind }) => kind));
  if (kinds.has("up") && kinds.has("down")) kinds.add("both");
  const first = CELL_MARKS.find(({ kind }) => kinds.has(kind));
  return first ? { mark: first.kind } : {};
};

/** Equal neighbours as one, from its first column up to the one after its last. */
export const runsOf = <Value>(
  values: readonly Value[],
): readonly { readonly value: Value; readonly from: number; readonly to: number }[] => {
  const runs: { value: Value; from: number; to: number }[] = [];
  for (const [column, value] of values.entries()) {
    const run = runs.at(-1);
    if (run && run.value === value) run.to = column + 1;
    else runs.push({ value, from: column, to: column + 1 });
  }
  return runs;
};

const TICKS_MS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 10_080].map(
  (minutes) => minutes * MINUTE_MS,
);

/** The instants that an axis names, on whole steps of the clock, at most so many. */
export const ticksOf = (
  { sinceMs, untilMs }: Pick<Timeline, "sinceMs" | "untilMs">,
  most: number,
): readonly number[] => {
  const step =
    TICKS_MS.find((ms) => (untilMs - sinceMs) / ms <= most) ?? TICKS_MS.at(-1) ?? untilMs;
  const first = Math.ceil(sinceMs / step) * step;
  return Array.from(
    { length: Math.max(0, Math.floor((untilMs - first) / step) + 1) },
    (_, at) => first + at * step,
  );
};

/**
 * The scales and edits of a time, and what nobody reported: a count that changed without a scale,
 * and a record that began anew after a silence.
 */
export const outsideMarks = (
  points: readonly TimelinePoint[],
  scales: readonly { readonly atMs: number; readonly to: number }[],
): readonly TimelineMark[] => {
  const marks: TimelineMark[] = [];
  const silence = silenceMs(points);
  let before: (TimelinePoint & { readonly current: number }) | undefined;
  for (const point of points) {
    const { current } = point;
    if (current === undefined) continue;
    if (before && current !== before.current) {
      const since = before.atMs;
      const own = scales.some(
        ({ atMs, to }) => atMs >= since && atMs <= point.atMs && to === current,
      );
      if (!own) marks.push({ atMs: point.atMs, kind: "by hand" });
    }
    if (before && point.atMs - before.atMs > silence)
      marks.push({ atMs: point.atMs, kind: "restart" });
    before = { ...point, current };
  }
  return marks;
};

/** Syncs write the record once a minute at least, where their period is not longer. */
const SILENCE_MS = 5 * MINUTE_MS;
const USUAL_GAPS = 3;

/**
 * After how long without a point the record has begun anew. Points that are far apart, because of a
 * long step or a long sync period, are no silence.
 */
const silenceMs = (points: readonly TimelinePoint[]): number => {
  const gaps = points.slice(1).map(({ atMs }, at) => atMs - (points[at]?.atMs ?? atMs));
  const usual = gaps.toSorted((one, other) => one - other)[Math.floor((gaps.length - 1) / 2)] ?? 0;
  return Math.max(SILENCE_MS, gaps.length > 1 ? USUAL_GAPS * usual : 0);
};
