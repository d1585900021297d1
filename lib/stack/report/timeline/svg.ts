import { printable } from "../../../rules/model/foreign-text.ts";
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

const WIDTH = 960;
const LEFT = 60;
const RIGHT = 20;
const COLUMNS = 440;
const STEP = (WIDTH - LEFT - RIGHT) / COLUMNS;
const LOAD = { top: 50, height: 110 };
const PODS = { top: 190, height: 150 };
const LANE_TOP = 356;
const LANE_HEIGHT = 12;
const MARKS_Y = 386;
/** Marks of a kind that are nearer than this are one group: "▲12" has room in it. */
const MARK_WIDTH = 24;
const MARK_HEIGHT = 11;
const AXIS_Y = 396;
const HEIGHT = 450;
const LEGEND_HEIGHT = 16;
const TICKS = 8;

const COLOURS: Readonly<Record<string, string>> = {
  refused: "#c0392b",
  missing: "#e67e22",
  rival: "#8e44ad",
  pause: "#7f8c8d",
  other: "#b8860b",
  bounds: "#d4ac0d",
  policy: "#16a085",
  "cool-down": "#2e86c1",
  stabilization: "#5d6db6",
};

/** A text of any origin within markup, in an element or in an attribute. */
export const markupText = (words: string): string =>
  printable(words)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
const label = (x: number, y: number, words: string, more = ""): string =>
  `<text x="${x}" y="${y}"${more}>${markupText(words)}</text>`;
const xOf = (column: number): number => Number((LEFT + column * STEP).toFixed(1));

type Box = typeof LOAD;

const yOf = (value: number, most: number, { top, height }: Box): number =>
  Number((top + height - (Math.min(value, most) / most) * height).toFixed(1));

/**
 * The same drawing as in the terminal, as a picture of its own: no style sheet, no script, nothing
 * loaded. `clock` gives the text of an instant.
 */
export const timelineSvg = (
  title: string,
  timeline: Timeline,
  clock: (ms: number) => string,
): string => {
  const cells = cellsOf(timeline, COLUMNS);
  const rows = markRows(timeline);
  // Room for one row of each kind of mark, and for their legend.
  const lower = MARK_HEIGHT * Math.max(0, rows.length - 1);
  const height = HEIGHT + lower + (rows.length > 0 ? LEGEND_HEIGHT : 0);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12" fill="#333" role="img" aria-label="${markupText(title)}">`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    label(LEFT, 24, title, ' font-size="15" font-weight="bold"'),
    ...loadChart(cells, timeline.loadName),
    ...podChart(cells),
    ...lanes(cells, HEIGHT + lower),
    ...marks(rows, HEIGHT + lower),
    ...axis(timeline, clock, AXIS_Y + lower),
    "</svg>",
    "",
  ].join("\n");
};

/** The stretches in which a value is known, each as one path of steps. */
const pathOf = (values: readonly (number | undefined)[], most: number, box: Box): string => {
  let [path, isDrawn] = ["", false];
  for (const { value, from, to } of runsOf(values)) {
    if (value !== undefined)
      path += `${isDrawn ? "V" : `M${xOf(from)} `}${yOf(value, most, box)}H${xOf(to)}`;
    isDrawn = value !== undefined;
  }
  return path;
};

const line = (
  values: readonly (number | undefined)[],
  most: number,
  box: Box,
  stroke: string,
): string => `<path d="${pathOf(values, most, box)}" fill="none" ${stroke}/>`;

const loadChart = (cells: readonly Cell[], name: string): readonly string[] => {
  const most = Math.max(1.2, ...cells.map(({ load = 0 }) => load));
  const target = yOf(1, most, LOAD);
  return [
    label(LEFT, LOAD.top - 8, `load ÷ target: ${name}`),
    label(LEFT - 6, target + 4, "1", ' text-anchor="end"'),
    label(LEFT - 6, LOAD.top + 10, most.toFixed(1), ' text-anchor="end"'),
    `<path d="M${LEFT} ${target}H${WIDTH - RIGHT}" stroke="#999" stroke-dasharray="5 4"/>`,
    line(
      cells.map(({ load }) => load),
      most,
      LOAD,
      'stroke="#2e6da4" stroke-width="1.5"',
    ),
  ];
};

const podChart = (cells: readonly Cell[]): readonly string[] => {
  const highest = highestCount(cells);
  const most = topCount(cells) * 1.05;
  const drawn = (field: "current" | "wanted" | "min" | "max", stroke: string): string =>
    line(
      cells.map((cell) =>
        cell[field] !== undefined && cell[field] <= most ? cell[field] : undefined,
      ),
      most,
      PODS,
      stroke,
    );
  return [
    label(
      LEFT,
      PODS.top - 8,
      "pods (solid), wanted by the metrics (dotted), minReplicas and maxReplicas (dashed)",
    ),
    label(LEFT - 6, yOf(highest, most, PODS) + 4, String(highest), ' text-anchor="end"'),
    label(LEFT - 6, PODS.top + PODS.height, "0", ' text-anchor="end"'),
    drawn("min", 'stroke="#999" stroke-dasharray="5 4"'),
    drawn("max", 'stroke="#999" stroke-dasharray="5 4"'),
    drawn("wanted", 'stroke="#e67e22" stroke-dasharray="1.5 2.5"'),
    drawn("current", 'stroke="#27803b" stroke-width="2"'),
  ];
};

interface MarkGroup {
  readonly x: number;
  readonly number: number;
}

/** The marks of each kind, in order of weight: one row for a kind. */
type MarkRows = readonly {
  readonly of: (typeof CELL_MARKS)[number];
  readonly groups: readonly MarkGroup[];
}[];

const markRows = ({ sinceMs, untilMs, marks: all }: Timeline): MarkRows =>
  CELL_MARKS.map((of) => ({
    of,
    groups: grouped(
      all.filter(({ kind }) => kind === of.kind).map(({ atMs }) => xAt(atMs, { sinceMs, untilMs })),
    ),
  })).filter(({ groups }) => groups.length > 0);

/** Marks that would cover each other: their number, at the place of the first one. */
const grouped = (places: readonly number[]): readonly MarkGroup[] => {
  const groups: { x: number; number: number }[] = [];
  for (const x of places.toSorted((one, other) => one - other)) {
    const last = groups.at(-1);
    if (last && x - last.x < MARK_WIDTH) last.number++;
    else groups.push({ x, number: 1 });
  }
  return groups;
};

/** Left at its instant, so that a number behind a mark moves no mark. */
const marks = (rows: MarkRows, bottom: number): readonly string[] => {
  const drawn = rows.flatMap(({ of, groups }, row) =>
    groups.map(({ x, number }) =>
      label(
        Number((x - 4).toFixed(1)),
        MARKS_Y + row * MARK_HEIGHT,
        `${of.mark}${number > 1 ? number : ""}`,
        ' font-size="10"',
      ),
    ),
  );
  const counted = rows.some(({ groups }) => groups.some(({ number }) => number > 1));
  const words = [
    ...rows.map(({ of: { mark, words: meaning } }) => `${mark} ${meaning}`),
    ...(counted ? ["a number: so many of them"] : []),
  ];
  return words.length === 0
    ? []
    : [...drawn, label(LEFT, bottom + 3, words.join(";  "), ' font-size="11"')];
};

const lanes = (cells: readonly Cell[], bottom: number): readonly string[] => {
  const bars = runsOf(cells.map(({ held }) => held)).flatMap(({ value, from, to }) =>
    value
      ? [
          `<rect x="${xOf(from)}" y="${LANE_TOP}" width="${((to - from) * STEP).toFixed(1)}" height="${LANE_HEIGHT}" fill="${COLOURS[value]}"/>`,
        ]
      : [],
  );
  const seen = LANES.filter(({ lane }) => cells.some(({ held }) => held === lane));
  const width = (WIDTH - LEFT - RIGHT) / Math.max(1, seen.length);
  const legend = seen.flatMap(({ lane, words }, at) => [
    `<rect x="${LEFT + at * width}" y="${bottom - 22}" width="10" height="10" fill="${COLOURS[lane]}"/>`,
    label(LEFT + at * width + 14, bottom - 13, words, ' font-size="11"'),
  ]);
  return [label(LEFT - 6, LANE_TOP + 10, "held by", ' text-anchor="end"'), ...bars, ...legend];
};

const xAt = (ms: number, { sinceMs, untilMs }: Pick<Timeline, "sinceMs" | "untilMs">): number =>
  Number(
    (LEFT + ((ms - sinceMs) / Math.max(1, untilMs - sinceMs)) * (WIDTH - LEFT - RIGHT)).toFixed(1),
  );

const axis = (timeline: Timeline, clock: (ms: number) => string, y: number): readonly string[] => {
  const ticks = ticksOf(timeline, TICKS).map((ms) => {
    const x = xAt(ms, timeline);
    return `<path d="M${x} ${y}v5" stroke="#333"/>${label(x, y + 18, clock(ms), ' text-anchor="middle"')}`;
  });
  return [`<path d="M${LEFT} ${y}H${WIDTH - RIGHT}" stroke="#333"/>`, ...ticks];
};
