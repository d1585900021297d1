import { styleText } from "node:util";
import type { Frame, Row } from "./frame.ts";
import { rowsTable } from "./rows-table.ts";
import { clockText, durationText, eventText, speedText } from "./words.ts";

export interface Canvas {
  /** What follows a command in a hint, so that it finds this run's folder: ` --data DIR`, or nothing. */
  readonly dataOption: string;
  readonly columns: number;
  readonly rows: number;
  readonly startMs: number;
}

/** Lines beside table and events: title, heading of the events, hints, and one for the cursor. */
const OTHER_LINES = 6;
const MIN_EVENTS = 3;

/** The whole live view as text for a terminal of the given size. */
export const picture = (frame: Frame, canvas: Canvas): string => {
  const table = fitted(frame.rows, canvas);
  const room = Math.max(MIN_EVENTS, canvas.rows - OTHER_LINES - table.length);
  return [
    title(frame, canvas),
    ...table,
    styleText("bold", frame.events.length === 0 ? "No scale events yet" : `Scale events (${frame.events.length})`),
    ...frame.events.slice(-room).map((event) => eventLine(event, canvas)),
    ...(frame.trouble === undefined ? [] : [styleText("red", cut(frame.trouble, canvas.columns))]),
    styleText("dim", cut(`Ctrl-C ends the run with a summary. In another terminal: ${commands(canvas)}`, canvas.columns)),
  ].join("\n");
};

/** With a folder of its own the line would not hold three commands: the first one shows how they name it. */
const commands = ({ dataOption }: Canvas): string =>
  dataOption === "" ? "npx tidemark get | describe NAME | events --all" : `npx tidemark get${dataOption}`;

const title = ({ nowMs, endMs, pace }: Frame, { startMs }: Canvas): string => {
  const left = endMs === undefined ? "" : `, ${durationText(Math.max(0, endMs - nowMs))} to go`;
  const speed = pace.behind
    ? styleText("yellow", `falling behind: ${speedText(pace.reached)} of ${speedText(pace.asked)}`)
    : styleText("dim", `at ${speedText(pace.asked)}`);
  return `${styleText("bold", "Tidemark")}  ${clockText(nowMs, startMs)}  (${durationText(nowMs - startMs)} played${left})  ${speed}`;
};

/** Two of text, and the line below it. */
const LINES_PER_ROW = 3;

/** Laying out a table takes longer than all the rest: while its rows and the terminal are the same it is not done again. */
const laidOut = new WeakMap<readonly Row[], { readonly columns: number; readonly height: number; readonly lines: readonly string[] }>();

const fitted = (rows: readonly Row[], canvas: Canvas): readonly string[] => {
  const known = laidOut.get(rows);
  if (known?.columns === canvas.columns && known.height === canvas.rows) return known.lines;
  const lines = layOut(rows, canvas);
  laidOut.set(rows, { columns: canvas.columns, height: canvas.rows, lines });
  return lines;
};

/** As many rows as leave room for some events; a picture higher than the terminal would not stay in place. */
const layOut = (rows: readonly Row[], { columns, rows: height, dataOption }: Canvas): readonly string[] => {
  const most = Math.floor((height - OTHER_LINES - MIN_EVENTS) / LINES_PER_ROW);
  for (let count = Math.min(rows.length, most); count > 0; count--) {
    const lines = rowsTable(rows.slice(0, count), columns);
    const hidden = rows.length - count;
    if (hidden > 0) lines.push(styleText("dim", `and ${hidden} more: npx tidemark get${dataOption}`));
    if (lines.length + OTHER_LINES + MIN_EVENTS <= height) return lines;
  }
  return [];
};

const eventLine = (event: Frame["events"][number], { columns, startMs }: Canvas): string => {
  const text = cut(`${clockText(Date.parse(event.at), startMs)}  ${eventText(event)}`, columns);
  return event.outcome === "applied" ? text : styleText("yellow", text);
};

const cut = (text: string, columns: number): string => (text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`);
