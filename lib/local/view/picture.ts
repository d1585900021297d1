import { joined, type Printed, styled, type Word } from "../../report/printed.ts";
import type { Frame } from "./frame.ts";
import { rowHeight, rowLines } from "./row-lines.ts";
import { clockText, durationText, eventText, speedText } from "./words.ts";
import { cut, wrapped } from "./wrapped.ts";

export interface Canvas {
  readonly columns: number;
  readonly rows: number;
  readonly startMs: number;
  /** " --data …", where this run's folder is not the one that commands open anyway. */
  readonly dataOption: string;
}

const MIN_EVENTS = 3;
/** Lines of a reason where there is room. */
const REASON_LINES_MAX = 3;
const FOOTER_LINES_MAX = 3;
const TROUBLE_LINES = 2;
/** One for the cursor, which rests below the picture. */
const CURSOR_LINES = 1;

/** The live view for a terminal of the given size. It always has as many lines as fit, each in its place. */
export const picture = (frame: Frame, canvas: Canvas): readonly Word[] => {
  const { columns } = canvas;
  const trouble = frame.trouble === undefined ? [] : wrapped(frame.trouble, columns, TROUBLE_LINES).map((line) => styled("red", line));
  const foot = [...trouble, ...footer(canvas)];
  const height = Math.max(1, canvas.rows - CURSOR_LINES);
  const rows = fitted(frame, canvas, heightOfRows(canvas));
  const heading = styled("bold", cut(frame.events.length === 0 ? "No scale events yet" : "Scale events, the newest last", columns));
  const room = Math.max(0, height - 2 - rows.length - foot.length);
  const events = newestEvents(frame, canvas, room);
  const free = Array.from({ length: Math.max(0, room - events.length) }, () => "");
  return [title(frame, canvas), ...rows, heading, ...events, ...free, ...foot].slice(0, height);
};

const heightOfRows = (canvas: Canvas): number => Math.max(1, canvas.rows - CURSOR_LINES) - 2 - MIN_EVENTS - footer(canvas).length;

/** How many autoscalers a picture of this size shows at most. */
export const rowsMax = (canvas: Canvas): number => Math.max(1, Math.floor(heightOfRows(canvas) / rowHeight(canvas.columns, 1)));

const title = ({ nowMs, endMs, pace }: Frame, { startMs, columns }: Canvas): Printed => {
  const left = endMs === undefined ? "" : `, ${durationText(Math.max(0, endMs - nowMs))} to go`;
  const speed = pace.behind ? `falling behind: ${speedText(pace.reached)} of ${speedText(pace.wanted)}` : `at ${speedText(pace.wanted)}`;
  const [name, clock, played] = ["Tidemark", clockText(nowMs, startMs), `(${durationText(nowMs - startMs)} played${left})`];
  // In a narrow terminal the speed is more important than the time played.
  const parts = [name, clock, played, speed].join("  ").length <= columns ? [clock, played] : [clock];
  const words = [
    styled("bold", name),
    ...parts,
    styled(pace.behind ? "yellow" : "dim", cut(speed, Math.max(0, columns - 2 - [name, ...parts].join("  ").length))),
  ];
  return joined(words, "  ");
};

const footer = ({ columns, dataOption }: Canvas): readonly Word[] => {
  const command = (words: string): string => `npx tidemark ${words}${dataOption}`;
  const text = `Ctrl-C ends the run with a summary. In another terminal: ${command("get")} | describe NAME | events --all`;
  return wrapped(text, columns, FOOTER_LINES_MAX).map((line) => styled("dim", line));
};

/** As many autoscalers as leave room for some events, with as many lines for their reasons as there are free. */
const fitted = ({ rows, total = 0 }: Frame, { columns, dataOption }: Canvas, height: number): readonly Word[] => {
  const all = Math.max(rows.length, total);
  const reasonLines = Math.max(1, Math.min(REASON_LINES_MAX, Math.floor(height / Math.max(1, all)) - rowHeight(columns, 0)));
  const each = rowHeight(columns, reasonLines);
  const count = all * each <= height ? all : Math.max(0, Math.floor((height - 1) / each));
  const hidden = all - Math.min(count, rows.length);
  return [
    ...rows.slice(0, count).flatMap((row) => rowLines(row, columns, reasonLines)),
    ...(hidden > 0 ? [styled("dim", cut(`and ${hidden} more: npx tidemark get${dataOption}`, columns))] : []),
  ];
};

const EVENT_LINES_MAX = 3;
const EVENT_INDENT = "  ";

/** The newest events that have room, each in full where it can be. */
const newestEvents = ({ events }: Frame, { columns, startMs }: Canvas, room: number): readonly Word[] => {
  const lines: Word[] = [];
  for (const event of events.toReversed()) {
    const text = `${clockText(Date.parse(event.at), startMs)}  ${eventText(event)}`;
    const eventLines = wrapped(text, columns, Math.min(EVENT_LINES_MAX, room - lines.length), EVENT_INDENT);
    if (eventLines.length === 0) break;
    lines.unshift(...(event.outcome === "applied" ? eventLines : eventLines.map((line) => styled("yellow", line))));
  }
  return lines;
};
