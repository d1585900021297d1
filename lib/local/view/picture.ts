import { instantText, shortInstantText } from "../../report/instant-text.ts";
import { joined, type Printed, styled, text, type Word } from "../../report/printed.ts";
import type { Frame, Row } from "./frame.ts";
import { cut, durationText, eventText, speedText, wrapped } from "./words.ts";

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
  const [name, clock, played] = ["Tidemark", instantText(nowMs), `(${durationText(nowMs - startMs)} played${left})`];
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
const newestEvents = ({ events, nowMs }: Frame, { columns }: Canvas, room: number): readonly Word[] => {
  const lines: Word[] = [];
  for (const event of events.toReversed()) {
    const text = `${shortInstantText(Date.parse(event.at), nowMs)}  ${eventText(event)}`;
    const eventLines = wrapped(text, columns, Math.min(EVENT_LINES_MAX, room - lines.length), EVENT_INDENT);
    if (eventLines.length === 0) break;
    lines.unshift(...(event.outcome === "applied" ? eventLines : eventLines.map((line) => styled("yellow", line))));
  }
  return lines;
};

const BARS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const;

/** A series as bars, newest last, scaled from zero to its highest value. Where more samples than cells come, the highest of each cell counts: a peak must not vanish. With `top`, several series have one scale. */
export const sparkline = (values: readonly number[], width: number, top?: number): string => {
  if (values.length === 0 || width <= 0) return "";
  const perCell = Math.max(1, Math.ceil(values.length / width));
  const cells: number[] = [];
  // Cells are filled from the newest sample backwards, so that the newest cell is full and the others do not flicker.
  for (let end = values.length; end > 0; end -= perCell) cells.unshift(Math.max(...values.slice(Math.max(0, end - perCell), end)));
  const highest = top ?? Math.max(...cells);
  return cells.map((value) => BARS[highest > 0 ? Math.min(BARS.length - 1, Math.floor((value / highest) * BARS.length)) : 0]).join("");
};

const INDENT = "  ";
const GAP = "   ";
/** From this width on load and replicas stand side by side. */
const WIDE_FROM = 100;
const SPARK_MAX = 40;

/** Lines that one autoscaler takes: the same for all of them and at all times, so that nothing below moves when a sentence becomes longer. */
const rowHeight = (columns: number, reasonLines: number): number => (columns >= WIDE_FROM ? 2 : 3) + reasonLines;

/** One autoscaler: name, counts, state and metrics; load and replicas over time with their scale; the last decision in words. */
const rowLines = (row: Row, columns: number, reasonLines: number): readonly Word[] => {
  const reason = wrapped(row.decision, columns - INDENT.length, reasonLines).map((line) => text`${INDENT}${painted(row.state, line)}`);
  return [head(row, columns), ...sparks(row, columns), ...reason, ...Array.from({ length: reasonLines - reason.length }, () => "")];
};

/** The amount per pod behind a percentage: "cpu 72% (362m) of 60%". */
const RAW_AMOUNT = / \([^)]*\)/g;

/** All of it where there is room, else without the amounts per pod, which `describe` shows too. */
const shortMetrics = (metrics: string, room: number): string => (metrics.length <= room ? metrics : cut(metrics.replaceAll(RAW_AMOUNT, ""), room));

/** The metrics come last and are cut before the name is. */
const head = (row: Row, columns: number): Printed => {
  const { name, state, metrics } = row;
  const plain = [name, counts(row), state].join(GAP);
  const room = columns - plain.length - GAP.length;
  const metricsText = room > 0 ? shortMetrics(metrics.join(", "), room) : "";
  if (plain.length > columns) return styled("bold", cut(plain, columns));
  const shown = isMoving(row) ? styled("cyan", counts(row)) : counts(row);
  return joined([styled("bold", name), shown, painted(state, state), metricsText], GAP).trimEnd();
};

const isMoving = ({ current, desired }: Row): boolean => current !== undefined && desired !== undefined && current !== desired;

const counts = (row: Row): string => {
  const { current, desired, lastKnown, min, max } = row;
  const now = current === undefined ? (lastKnown ?? "?") : isMoving(row) ? `${current} → ${desired}` : String(current);
  return `${now} pods${min === undefined || max === undefined ? "" : ` (${min} to ${max})`}`;
};

const sparks = (row: Row, columns: number): readonly Word[] => {
  const wide = columns >= WIDE_FROM;
  const width = wide ? Math.floor((columns - GAP.length) / 2) : columns;
  const load = spark("load", row.load, row.loadUnit, { width, colour: "blue" });
  const replicas = spark("pods", row.replicas, "", { width, colour: "green" });
  return wide ? [text`${load}${" ".repeat(Math.max(0, width - load.length) + GAP.length)}${replicas}`] : [load, replicas];
};

/** "load 345 ▁▂▃▅▇ 0 to 412 calls per minute": bars begin at zero, and the scale says where they end. */
const spark = (
  label: string,
  values: readonly number[],
  unit: string,
  { width, colour }: { readonly width: number; readonly colour: "blue" | "green" },
): Printed => {
  if (values.length === 0) return text``;
  const before = `${INDENT}${label} ${String(Math.round(values.at(-1) ?? 0)).padStart(5)} `;
  const scale = ` 0 to ${Math.round(Math.max(...values))}`;
  const cells = Math.max(1, Math.min(SPARK_MAX, width - before.length - scale.length - unit.length - 1));
  const after = cut(`${scale}${unit === "" ? "" : ` ${unit}`}`, Math.max(0, width - before.length - cells));
  const bars = sparkline(values, cells).padStart(cells);
  return text`${before}${styled(colour, bars)}${after}`;
};

const painted = (state: string, words: string): Word => (/^(failing|invalid)/.test(state) ? styled("yellow", words) : words);
