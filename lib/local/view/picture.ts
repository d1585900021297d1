import { styleText } from "node:util";
import Table from "cli-table3";
import type { Frame, Row } from "./frame.ts";
import { sparkline } from "./sparkline.ts";
import { clockText, durationText, eventText, speedText } from "./words.ts";

export interface Canvas {
  readonly columns: number;
  readonly rows: number;
  readonly startMs: number;
}

/** Cells of a sparkline; the column of reasons takes what is left of the line. */
const SPARK_WIDTH = 24;
const COLUMNS = [16, 18, 11, 20, SPARK_WIDTH + 2] as const;
const MIN_DECISION_WIDTH = 24;
const BORDERS = 7;
/** Lines around the events: title, blank lines, heading, and one for the cursor. */
const OTHER_LINES = 7;
const MIN_EVENTS = 3;

/** The whole live view as text for a terminal of the given size. */
export const picture = (frame: Frame, canvas: Canvas): string => {
  const table = rowsTable(frame.rows, canvas.columns);
  const room = Math.max(MIN_EVENTS, canvas.rows - table.split("\n").length - OTHER_LINES);
  const events = frame.events.slice(-room).map((event) => eventLine(event, canvas));
  return [
    title(frame, canvas),
    table,
    styleText("bold", frame.events.length === 0 ? "No scale events yet" : `Scale events (${frame.events.length})`),
    ...events,
    ...(frame.trouble === undefined ? [] : [styleText("red", cut(frame.trouble, canvas.columns))]),
    styleText("dim", cut("Ctrl-C ends the run with a summary. In another terminal: npx tidemark get | describe NAME | events --all", canvas.columns)),
  ].join("\n");
};

const title = ({ nowMs, endMs, pace }: Frame, { startMs }: Canvas): string => {
  const left = endMs === undefined ? "" : `, ${durationText(Math.max(0, endMs - nowMs))} to go`;
  const speed = pace.behind
    ? styleText("yellow", `falling behind: ${speedText(pace.reached)} of ${speedText(pace.asked)}`)
    : styleText("dim", `at ${speedText(pace.asked)}`);
  return `${styleText("bold", "Tidemark")}  ${clockText(nowMs, startMs)}  (${durationText(nowMs - startMs)} played${left})  ${speed}`;
};

const rowsTable = (rows: readonly Row[], columns: number): string => {
  const fixed = COLUMNS.reduce((sum, width) => sum + width, 0);
  const table = new Table({
    head: ["autoscaler", "target", "replicas", "metric", "load / replicas", "last decision"],
    colWidths: [...COLUMNS, Math.max(MIN_DECISION_WIDTH, columns - fixed - BORDERS)],
    wordWrap: true,
    style: { head: ["bold"], border: ["dim"], compact: false },
  });
  for (const row of rows) table.push([row.name, row.target, replicas(row), row.metrics.join("\n"), sparks(row), decision(row)]);
  return table.toString();
};

const replicas = ({ current, desired }: Row): string => {
  if (current === undefined) return "-";
  return desired === undefined || desired === current ? `${current}` : styleText("cyan", `${current} → ${desired}`);
};

const sparks = ({ load, replicas: counts }: Row): string =>
  [styleText("blue", sparkline(load, SPARK_WIDTH)), styleText("green", sparkline(counts, SPARK_WIDTH))].join("\n");

const decision = ({ state, decision: text }: Row): string => (state === "failing" ? styleText("yellow", text) : text);

const eventLine = (event: Frame["events"][number], { columns, startMs }: Canvas): string => {
  const text = cut(`${clockText(Date.parse(event.at), startMs)}  ${eventText(event)}`, columns);
  return event.outcome === "applied" ? text : styleText("yellow", text);
};

const cut = (text: string, columns: number): string => (text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`);
