import type { TimeSpan } from "../../replay/figures.ts";
import type { Minutes } from "../../replay/minutes.ts";
import { instantText } from "../../stack/report/instant-text.ts";
import { block, lines, type Printed, type Word } from "../../stack/report/printed.ts";
import { timelineLines } from "../../stack/report/timeline/drawing.ts";
import { timelineSvg } from "../../stack/report/timeline/svg.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";
import { clockOf } from "../commands/timeline.ts";
import { type DocumentFormat, documentText } from "../output/documents.ts";
import { csvLine } from "../output/text-table.ts";
import { timelineOfMinutes } from "./drawing.ts";
import { markdownLines } from "./markdown.ts";
import type { ReplayReport } from "./report.ts";
import { sheetLines } from "./sheet.ts";

/** A report, and the minutes behind it in the order of its policies. */
export interface Drawn {
  readonly report: ReplayReport;
  readonly minutes: readonly Minutes[];
  readonly counted: TimeSpan;
}

interface Paper {
  readonly columns: number | undefined;
  readonly colours: boolean;
}

const COLUMNS = 80;
const LOAD_ROWS = 3;
const POD_ROWS = 5;

export const printedReport = (
  drawn: Drawn,
  output: "text" | "markdown" | "svg" | "csv" | DocumentFormat,
  paper: Paper,
): Printed => {
  const { report } = drawn;
  if (output === "text") return lines([...sheetLines(report), ...drawings(drawn, paper)]);
  if (output === "markdown") return lines(markdownLines(report));
  if (output === "svg") return block(svgOf(drawn));
  if (output === "csv") return csvOf(drawn);
  return documentText(report, output);
};

const loadNameOf = ({ target }: ReplayReport): string => `load against ${target}`;

const drawings = (
  { report, minutes, counted }: Drawn,
  { columns = COLUMNS, colours }: Paper,
): readonly Word[] =>
  report.policies.flatMap(({ name }, at) => {
    const own = minutes[at];
    if (!own) return [];
    const timeline = timelineOfMinutes(own, counted, loadNameOf(report));
    const size = { columns, colours, loadRows: LOAD_ROWS, podRows: POD_ROWS };
    return ["", `${name}:`, ...timelineLines(timeline, { ...size, clock: clockOf(timeline) })];
  });

const VIEW_BOX = /viewBox="0 0 (\d+) (\d+)"/;

/** One picture below the other. */
const svgOf = ({ report, minutes, counted }: Drawn): string => {
  let height = 0;
  let width = 0;
  const parts = report.policies.flatMap(({ name }, at) => {
    const own = minutes[at];
    if (!own) return [];
    const timeline = timelineOfMinutes(own, counted, loadNameOf(report));
    const svg = timelineSvg(name, timeline, clockOf(timeline));
    const [, ownWidth = "0", ownHeight = "0"] = VIEW_BOX.exec(svg) ?? [];
    const placed = svg.replace(
      "<svg ",
      `<svg y="${height}" width="${ownWidth}" height="${ownHeight}" `,
    );
    height += Number(ownHeight);
    width = Math.max(width, Number(ownWidth));
    return [placed];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}">\n${parts.join("")}</svg>\n`;
};

/** One line a minute, with the columns of each policy. */
const csvOf = ({ report, minutes, counted }: Drawn): Printed => {
  const [first] = minutes;
  if (!first) return lines([]);
  const names = report.policies.map(({ name }) => name);
  const header = csvLine([
    "at",
    ...names.flatMap((name) =>
      ["count", "ready", "min", "max", "needed"].map((of) => `${name} ${of}`),
    ),
  ]);
  const from = Math.max(0, Math.floor((counted.fromMs - first.fromMs) / MINUTE_MS));
  const rows = Array.from({ length: first.length - from }, (_, more) => {
    const at = from + more;
    return csvLine([
      instantText(first.fromMs + at * MINUTE_MS),
      ...minutes.flatMap((own) => cellsAt(own, at)),
    ]);
  });
  return lines([header, ...rows]);
};

const cellsAt = (minutes: Minutes, at: number): readonly (number | undefined)[] => {
  const known = minutes.knownMs[at] ?? 0;
  // No maximum is 0: nothing was decided in such a minute, and nobody knows its bounds.
  const isDecided = (minutes.max[at] ?? 0) > 0;
  return [
    minutes.count[at],
    rounded((minutes.readyMs[at] ?? 0) / MINUTE_MS),
    ...(isDecided ? [minutes.min[at], minutes.max[at]] : [undefined, undefined]),
    known === 0 ? undefined : rounded((minutes.neededMs[at] ?? 0) / known),
  ];
};

const rounded = (value: number): number => Number(value.toFixed(2));
