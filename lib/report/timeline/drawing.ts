import { joined, type Printed, styled, text, type Word } from "../printed.ts";
import { LANES, type Lane } from "../reasons/lanes.ts";
import { type Cell, cellsOf, MARKS, type Timeline, ticksOf } from "./timeline.ts";

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

/**
 * Load against target, counts with bounds, a lane of what held, a lane of what happened, and one axis below them. A bar says what was; a circle above it what was wanted; a dashed line is the
 * target, or a bound. No colour is needed to read it.
 */
export const timelineLines = (timeline: Timeline, { columns, loadRows, podRows, colours, clock }: DrawingSize): readonly Word[] => {
  const width = Math.max(COLUMNS_MIN, columns) - GUTTER;
  const cells = cellsOf(timeline, width);
  const paint = colours ? styled : (_style: Parameters<typeof styled>[0], words: Word): Word => words;
  if (!cells.some(({ current, load }) => current !== undefined || load !== undefined)) return ["nothing is stored of this time"];
  return [
    ...loadChart(cells, { rows: loadRows, name: timeline.loadName, paint }),
    ...podChart(cells, podRows, paint),
    ...lanes(cells, paint),
    ...axis(timeline, width, clock),
    ...legend(cells, columns),
  ];
};

type PaintWord = (style: Parameters<typeof styled>[0], words: Word) => Word;

const gutter = (label: string): string => `${label.padStart(GUTTER - 2)} `;

const numberText = (value: number): string => (value >= 100 ? String(Math.round(value)) : String(Number(value.toFixed(2))));

const fillOf = (value: number, top: number, rows: number, fromBottom: number): number =>
  Math.max(0, Math.min(EIGHTHS, Math.round((value / top) * rows * EIGHTHS) - fromBottom * EIGHTHS));

/** The row, counted from the bottom, that a value is in. */
const rowOf = (value: number, top: number, rows: number): number => Math.min(rows - 1, Math.max(0, Math.ceil((value / top) * rows) - 1));

const loadChart = (
  cells: readonly Cell[],
  { rows, name, paint }: { readonly rows: number; readonly name: string; readonly paint: PaintWord },
): readonly Word[] => {
  const highest = Math.max(0, ...cells.map(({ load = 0 }) => load));
  const top = Math.max(1, highest);
  const target = rowOf(1, top, rows);
  const heading = text`${gutter("load")} ${name}; highest ${numberText(highest)} times the target, which is the dashed line`;
  const lines = Array.from({ length: rows }, (_, at) => {
    const fromBottom = rows - 1 - at;
    const drawn = cells.map(({ load }) => {
      const fill = load === undefined ? 0 : fillOf(load, top, rows, fromBottom);
      return fill === 0 && fromBottom === target ? LINE : (BARS[fill] ?? " ");
    });
    const label = fromBottom === target ? "1" : at === 0 ? numberText(top) : "";
    return text`${gutter(label)}┤${paint("blue", drawn.join("").trimEnd())}`;
  });
  return [heading, ...lines];
};

const podChart = (cells: readonly Cell[], rows: number, paint: PaintWord): readonly Word[] => {
  const counted = cells.flatMap(({ current = 0, wanted = 0 }) => [current, wanted]);
  const highest = Math.max(1, ...cells.map(({ current = 0 }) => current));
  // A wish far above all counts must not flatten them: it is drawn at the top.
  const top = Math.max(highest, Math.min(Math.max(...counted), highest * 2));
  const [last] = cells.filter(({ min, max }) => min !== undefined && max !== undefined).slice(-1);
  const bounds = last ? `, between ${last.min} and ${last.max}` : "";
  const heading = text`${gutter("pods")} highest ${highest}${bounds}; ${WANTED} wanted by the metrics`;
  const lines = Array.from({ length: rows }, (_, at) => {
    const fromBottom = rows - 1 - at;
    const drawn = cells.map((cell) => podCell(cell, { top, rows, fromBottom })).join("");
    return text`${gutter(at === 0 ? String(top) : "")}┤${paint("green", drawn.trimEnd())}`;
  });
  return [heading, ...lines];
};

const podCell = (
  { current, wanted, min, max }: Cell,
  { top, rows, fromBottom }: { readonly top: number; readonly rows: number; readonly fromBottom: number },
): string => {
  const fill = current === undefined ? 0 : fillOf(current, top, rows, fromBottom);
  if (fill > 0) return BARS[fill] ?? " ";
  if (wanted !== undefined && current !== undefined && wanted > current && rowOf(Math.min(wanted, top), top, rows) === fromBottom) return WANTED;
  const isBound = [min, max].some((bound) => bound !== undefined && bound <= top && rowOf(bound, top, rows) === fromBottom);
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
  const held = joined(
    runsOf(cells.map((cell) => cell.held)).map(({ value, length }) => {
      const lane = LANES.find((known) => known.lane === value);
      return lane ? paint(COLOURS[lane.lane], lane.mark.repeat(length)) : paint("dim", FREE.repeat(length));
    }),
    "",
  );
  const marks = cells.map(({ mark }) => MARKS.find(({ kind }) => kind === mark)?.mark ?? " ").join("");
  return [text`${gutter("held by")} ${held}`, text`${gutter("marks")} ${paint("bold", marks.trimEnd())}`];
};

const runsOf = <Value>(values: readonly Value[]): readonly { readonly value: Value; readonly length: number }[] => {
  const runs: { value: Value; length: number }[] = [];
  for (const value of values) {
    const run = runs.at(-1);
    if (run && run.value === value) run.length += 1;
    else runs.push({ value, length: 1 });
  }
  return runs;
};

const TICK_COLUMNS = 12;

const axis = (timeline: Timeline, width: number, clock: DrawingSize["clock"]): readonly Word[] => {
  const { sinceMs, untilMs } = timeline;
  const line = Array.from({ length: width }, () => "─");
  const labels = Array.from({ length: width }, () => " ");
  for (const tick of ticksOf(timeline, Math.max(1, Math.floor(width / TICK_COLUMNS)))) {
    const column = Math.min(width - 1, Math.floor(((tick - sinceMs) / Math.max(1, untilMs - sinceMs)) * width));
    const label = clock(tick);
    // A label that would not fit is left out; the tick stays.
    line[column] = "┬";
    if (column + label.length <= width) for (const [at, letter] of [...label].entries()) labels[column + at] = letter;
  }
  return [text`${gutter("")}└${line.join("")}`, text`${gutter("")} ${labels.join("").trimEnd()}`];
};

/** The letters that the drawing has, and no others. */
const legend = (cells: readonly Cell[], columns: number): readonly Printed[] => {
  const seen = [
    ...LANES.filter(({ lane }) => cells.some(({ held }) => held === lane)).map(({ mark, words }) => `${mark} ${words}`),
    ...MARKS.filter(({ kind }) => cells.some(({ mark }) => mark === kind)).map(({ mark, words }) => `${mark} ${words}`),
  ];
  const lines: string[] = [];
  for (const part of seen) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + part.length + 3 <= columns - GUTTER) lines[lines.length - 1] = `${line}   ${part}`;
    else lines.push(part);
  }
  return lines.map((line) => text`${gutter("")} ${line}`);
};
