import type { Lane } from "../../../rules/model/scale-records.ts";
import { joined, type Printed, styled, text, type Word } from "../printed.ts";
import { LANES } from "../reasons/lanes.ts";
import {
  type Cell,
  cellsOf,
  highestCount,
  CELL_MARKS,
  runsOf,
  type Timeline,
  ticksOf,
  topCount,
} from "./timeline.ts";

export interface DrawingSize {
  /** Width of the terminal; at least 40 are used. */
  readonly columns: number;
  readonly loadRows: number;
  readonly podRows: number;
  readonly colours: boolean;
  /** An instant on the axis: "14:03". */
  readonly clock: (ms: number) => string;
}

const GUTTER = 9;
const COLUMNS_MIN = 40;
const BARS = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const;
const EIGHTHS = 8;
const LINE = "╌";
const WANTED = "○";
const UNCOUNTED = "░";

/**
 * Load against target, counts with bounds, a lane of what held, a lane of what happened, and one
 * axis below them. A bar says what was, its light part the pods that no metric counts; a circle
 * above it what was wanted; a dashed line is the target, or a bound. No colour is needed to read
 * it.
 */
export const timelineLines = (
  timeline: Timeline,
  { columns, loadRows, podRows, colours, clock }: DrawingSize,
): readonly Word[] => {
  const width = Math.max(COLUMNS_MIN, columns) - GUTTER;
  const cells = cellsOf(timeline, width);
  const paint: PaintWord = colours ? styled : (_style, words) => words;
  if (!cells.some(({ current, load }) => current !== undefined || load !== undefined))
    return ["nothing is stored of this time"];
  return [
    ...loadChart(cells, { rows: loadRows, name: timeline.loadName, width, paint }),
    ...podChart(cells, podRows, paint),
    ...lanes(cells, paint),
    ...axis(timeline, width, clock),
    ...legend(cells, podBars(cells, podRows), columns),
  ];
};

type PaintWord = (style: Parameters<typeof styled>[0], words: Word) => Word;

const gutter = (label: string): string => `${label.padStart(GUTTER - 2)} `;

const numberText = (value: number): string =>
  value >= 100 ? String(Math.round(value)) : String(Number(value.toFixed(2)));

const fillOf = (value: number, top: number, rows: number, fromBottom: number): number =>
  Math.max(0, Math.min(EIGHTHS, Math.round((value / top) * rows * EIGHTHS) - fromBottom * EIGHTHS));

/** The row, counted from the bottom, that a value is in. */
const rowOf = (value: number, top: number, rows: number): number =>
  Math.min(rows - 1, Math.max(0, Math.ceil((value / top) * rows) - 1));

const loadChart = (
  cells: readonly Cell[],
  {
    rows,
    name,
    width,
    paint,
  }: {
    readonly rows: number;
    readonly name: string;
    readonly width: number;
    readonly paint: PaintWord;
  },
): readonly Word[] => {
  const highest = highestLoad(cells);
  const top = Math.max(1, highest);
  const labelOf = (at: number): string =>
    rows - 1 - at === rowOf(1, top, rows) ? "1" : at === 0 ? numberText(top) : "";
  const said = `highest ${numberText(highest)} times the target, which is the dashed line`;
  const fits = lengthOf(`${name}; ${said}`) <= width;
  return [
    text`${gutter("load")} ${fits ? `${name}; ${said}` : cutTo(name, width)}`,
    ...(fits ? [] : [text`${gutter("")} ${said}`]),
    ...loadBars(cells, rows).map((bars, at) => text`${gutter(labelOf(at))}┤${paint("blue", bars)}`),
  ];
};

const highestLoad = (cells: readonly Cell[]): number =>
  Math.max(0, ...cells.map(({ load = 0 }) => load));

/** The bars of a chart, the highest line first, without their labels. */
const loadBars = (cells: readonly Cell[], rows: number): readonly string[] => {
  const top = Math.max(1, highestLoad(cells));
  const target = rowOf(1, top, rows);
  return Array.from({ length: rows }, (_, at) => {
    const fromBottom = rows - 1 - at;
    const drawn = cells.map(({ load }) => {
      const fill = load === undefined ? 0 : fillOf(load, top, rows, fromBottom);
      return fill === 0 && rows > 1 && fromBottom === target ? LINE : (BARS[fill] ?? " ");
    });
    return drawn.join("").trimEnd();
  });
};

const podChart = (cells: readonly Cell[], rows: number, paint: PaintWord): readonly Word[] => {
  const [last] = cells.filter(({ min, max }) => min !== undefined && max !== undefined).slice(-1);
  const bounds = last ? `, between ${last.min} and ${last.max}` : "";
  return [
    text`${gutter("pods")} highest ${highestCount(cells)}${bounds}; ${WANTED} wanted by the metrics`,
    ...podBars(cells, rows).map(
      (bars, at) =>
        text`${gutter(at === 0 ? String(topCount(cells)) : "")}┤${paint("green", bars)}`,
    ),
  ];
};

const podBars = (cells: readonly Cell[], rows: number): readonly string[] => {
  const top = topCount(cells);
  return Array.from({ length: rows }, (_, at) =>
    cells
      .map((cell) => podCell(cell, { top, rows, fromBottom: rows - 1 - at }))
      .join("")
      .trimEnd(),
  );
};

/** Room for the top of a scale behind its chart: " to 999M". */
const SCALE_COLUMNS = 8;
let compact: Intl.NumberFormat | undefined;
const scaleText = (top: number): string => {
  // It takes milliseconds to make, and most drawings have no small scale.
  compact ??= new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
  return cutTo(`to ${compact.format(top)}`, SCALE_COLUMNS - 1);
};
/** In characters, as a terminal counts them. */
const lengthOf = (words: string): number => [...words].length;
const cutTo = (words: string, columns: number): string =>
  lengthOf(words) <= columns ? words : `${[...words].slice(0, columns - 1).join("")}…`;
/** Cells that a small drawing has in a terminal of this width. */
export const smallCells = (columns: number): number =>
  Math.max(1, columns - GUTTER - SCALE_COLUMNS);

/**
 * The same in few lines, for many autoscalers one below the other: load and counts, each with the
 * top of its scale behind it, and one lane of what held and what happened. `axisLine` below all of
 * them fits each. It always has as many lines, so that nothing below it moves.
 */
export const smallDrawing = (
  timeline: Timeline,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): readonly Word[] => {
  const width = smallCells(columns);
  const cells = cellsOf(timeline, width);
  if (!cells.some(({ current, load }) => current !== undefined || load !== undefined))
    return Array.from({ length: 2 * rows + 1 }, () => "");
  const named =
    (name: string, top: string, style: "blue" | "green") => (bars: string, at: number) =>
      at === 0
        ? text`${gutter(name)}┤${styled(style, bars.padEnd(width))} ${top}`
        : text`${gutter("")}┤${styled(style, bars)}`;
  return [
    ...loadBars(cells, rows).map(named("load", scaleText(Math.max(1, highestLoad(cells))), "blue")),
    ...podBars(cells, rows).map(named("pods", scaleText(topCount(cells)), "green")),
    text`${gutter("held by")} ${joined(cells.map(heldOrMark))}`.trimEnd(),
  ];
};

const heldOrMark = ({ held, mark }: Cell): Word => {
  const happened = CELL_MARKS.find(({ kind }) => kind === mark);
  return happened ? styled("bold", happened.mark) : heldText(held, 1, styled);
};

const heldText = (held: Lane | undefined, columns: number, paint: PaintWord): Word =>
  held
    ? paint(COLOURS[held], (LANES.find(({ lane }) => lane === held)?.mark ?? "").repeat(columns))
    : paint("dim", FREE.repeat(columns));

/** The axis of small drawings in one line: each tick is where its label begins. */
export const axisLine = (
  timeline: Pick<Timeline, "sinceMs" | "untilMs">,
  columns: number,
  clock: DrawingSize["clock"],
): Word => text`${gutter("")} ${tickLabels(timeline, smallCells(columns), clock).labels}`;

interface ChartRow {
  readonly top: number;
  readonly rows: number;
  readonly fromBottom: number;
}

/** A row of a bar that is all above the pods that count. */
const isUncounted = (
  { current = 0, counted = current }: Cell,
  { top, rows, fromBottom }: ChartRow,
): boolean => counted < current && (counted / top) * rows <= fromBottom;

const podCell = (cell: Cell, row: ChartRow): string => {
  const { current, wanted, min, max } = cell;
  const { top, rows, fromBottom } = row;
  const fill = current === undefined ? 0 : fillOf(current, top, rows, fromBottom);
  if (fill > 0) return isUncounted(cell, row) ? UNCOUNTED : (BARS[fill] ?? " ");
  if (
    wanted !== undefined &&
    current !== undefined &&
    wanted > current &&
    rowOf(Math.min(wanted, top), top, rows) === fromBottom
  )
    return WANTED;
  const isBound = [min, max].some(
    (bound) => bound !== undefined && bound <= top && rowOf(bound, top, rows) === fromBottom,
  );
  return isBound ? LINE : " ";
};

const COLOURS: Readonly<Record<Lane, Parameters<typeof styled>[0]>> = {
  refused: "red",
  missing: "red",
  rival: "magenta",
  pause: "gray",
  other: "yellow",
  bounds: "yellow",
  policy: "cyan",
  "cool-down": "cyan",
  stabilization: "blue",
};

const FREE = "·";

const lanes = (cells: readonly Cell[], paint: PaintWord): readonly Word[] => {
  const held = runsOf(cells.map((cell) => cell.held)).map(({ value, from, to }) =>
    heldText(value, to - from, paint),
  );
  const marks = cells
    .map(({ mark }) => CELL_MARKS.find(({ kind }) => kind === mark)?.mark ?? " ")
    .join("");
  return [
    text`${gutter("held by")} ${joined(held)}`,
    text`${gutter("marks")} ${paint("bold", marks.trimEnd())}`,
  ];
};

const TICK_COLUMNS = 12;

const axis = (timeline: Timeline, width: number, clock: DrawingSize["clock"]): readonly Word[] => {
  const { line, labels } = tickLabels(timeline, width, clock);
  return [text`${gutter("")}└${line}`, text`${gutter("")} ${labels}`];
};

const tickLabels = (
  timeline: Pick<Timeline, "sinceMs" | "untilMs">,
  width: number,
  clock: DrawingSize["clock"],
) => {
  const { sinceMs, untilMs } = timeline;
  const line = Array.from({ length: width }, () => "─");
  const labels = Array.from({ length: width }, () => " ");
  for (const tick of ticksOf(timeline, Math.max(1, Math.floor(width / TICK_COLUMNS)))) {
    const column = Math.min(
      width - 1,
      Math.floor(((tick - sinceMs) / Math.max(1, untilMs - sinceMs)) * width),
    );
    const label = clock(tick);
    // A label that would not fit is left out; the tick stays.
    line[column] = "┬";
    if (column + label.length <= width)
      for (const [at, letter] of [...label].entries()) labels[column + at] = letter;
  }
  return { line: line.join(""), labels: labels.join("").trimEnd() };
};

/** What the letters and lines of a drawing mean, of those that it has. */
const meaningsIn = (cells: readonly Cell[], bars: readonly string[]): readonly string[] => {
  const drawn = bars.join("");
  return [
    ...(drawn.includes(LINE) ? [`${LINE} minReplicas or maxReplicas in force`] : []),
    ...(drawn.includes(UNCOUNTED) ? [`${UNCOUNTED} pods that no metric counts`] : []),
    ...LANES.filter(({ lane }) => cells.some(({ held }) => held === lane)).map(
      ({ mark, words }) => `${mark} ${words}`,
    ),
    ...CELL_MARKS.filter(({ kind }) => cells.some(({ mark }) => mark === kind)).map(
      ({ mark, words }) => `${mark} ${words}`,
    ),
  ];
};

/** What the letters of several small drawings mean, each once. */
export const smallLegend = (
  timelines: readonly Timeline[],
  { columns, rows }: { readonly columns: number; readonly rows: number },
): readonly string[] => [
  ...new Set(
    timelines.flatMap((timeline) => {
      const cells = cellsOf(timeline, smallCells(columns));
      return meaningsIn(cells, podBars(cells, rows));
    }),
  ),
];

/** The letters that the drawing has, and no others. */
const legend = (
  cells: readonly Cell[],
  bars: readonly string[],
  columns: number,
): readonly Printed[] => {
  const seen = meaningsIn(cells, bars);
  const lines: string[] = [];
  for (const part of seen) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + part.length + 3 <= columns - GUTTER)
      lines[lines.length - 1] = `${line}   ${part}`;
    else lines.push(part);
  }
  return lines.map((line) => text`${gutter("")} ${line}`);
};
