import type { EventView } from "../../answers/views/event.ts";
import type { HistoryPoint } from "../../answers/views/over-time.ts";
import type { Pace } from "../engine/clock.ts";
import { axisText, instantText, shortInstantText } from "../../stack/report/instant-text.ts";
import { joined, type Printed, styled, text, type Word } from "../../stack/report/printed.ts";
import {
  axisLine,
  smallCells,
  smallDrawing,
  smallLegend,
} from "../../stack/report/timeline/drawing.ts";
import type { Timeline } from "../../stack/report/timeline/timeline.ts";
import { timelineOf } from "../../answers/words/timeline-of.ts";
import { cut, durationText, eventText, speedText, wrapped } from "./plain-view.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";

/** The content of the live view at one moment. All of it comes from the tables. */
export interface Frame {
  readonly nowMs: number;
  /** The end of the run. Absent when it runs until it is interrupted. */
  readonly endMs?: number;
  readonly pace: Pace;
  /** The first autoscalers, as many as may fit. */
  readonly rows: readonly Row[];
  /** How many autoscalers there are; as many as `rows` where it is absent. */
  readonly total?: number;
  /** Oldest first. */
  readonly events: readonly EventView[];
  /** The last failure, if there is one. */
  readonly trouble?: string;
}

export interface Row {
  readonly uid: string;
  readonly name: string;
  readonly target: string;
  /** "held: monitor" with what holds it. */
  readonly state: string;
  readonly current?: number;
  readonly desired?: number;
  /** "9 (5m ago)", where the newest sync could not read the count. */
  readonly lastKnown?: string;
  readonly min?: number;
  readonly max?: number;
  /** "cpu 72% of 60%", one per metric. */
  readonly metrics: readonly string[];
  readonly decision: string;
  /** One a sync, newest last. */
  readonly points: readonly HistoryPoint[];
  /** Its own, oldest first. */
  readonly events: readonly EventView[];
}

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

/**
 * The live view for a terminal of the given size. It always has as many lines as fit, each in its
 * place.
 */
export const picture = (frame: Frame, canvas: Canvas): readonly Word[] => {
  const { columns } = canvas;
  const trouble =
    frame.trouble === undefined
      ? []
      : wrapped(frame.trouble, columns, TROUBLE_LINES).map((line) => styled("red", line));
  const foot = [...trouble, ...footer(canvas)];
  const height = Math.max(1, canvas.rows - CURSOR_LINES);
  const { lines: rows, legend } = fitted(frame, canvas, heightOfRows(canvas));
  const heads = frame.events.length === 0 ? "No scale events yet" : "Scale events";
  const heading = headingLine(heads, legend, columns);
  const room = Math.max(0, height - 2 - rows.length - foot.length);
  const events = newestEvents(frame, canvas, room);
  const free = Array.from({ length: Math.max(0, room - events.length) }, () => "");
  return [title(frame, canvas), ...rows, heading, ...events, ...free, ...foot].slice(0, height);
};

/** What the letters of the drawings above mean stands behind the heading, in no line of its own. */
const headingLine = (heads: string, legend: readonly string[], columns: number): Word => {
  const room = columns - heads.length - GAP.length;
  const meanings = fittingMeanings(legend, room).join(GAP);
  return meanings === ""
    ? styled("bold", cut(heads, columns))
    : joined([styled("bold", heads), styled("dim", meanings)], GAP);
};

/** Those that fit, whole: half of one says nothing. Letters go before the marks of scales. */
const fittingMeanings = (legend: readonly string[], room: number): readonly string[] => {
  const isLetter = (meaning: string): boolean => /^[a-z!] /.test(meaning);
  const fitting = new Set<string>();
  let left = room + GAP.length;
  for (const meaning of [...legend.filter(isLetter), ...legend.filter((one) => !isLetter(one))]) {
    if (meaning.length + GAP.length > left) continue;
    fitting.add(meaning);
    left -= meaning.length + GAP.length;
  }
  return legend.filter((meaning) => fitting.has(meaning));
};

const heightOfRows = (canvas: Canvas): number =>
  Math.max(1, canvas.rows - CURSOR_LINES) - 2 - MIN_EVENTS - footer(canvas).length;

/** How many autoscalers a picture of this size shows at most. */
export const rowsMax = (canvas: Canvas): number =>
  Math.max(1, Math.floor((heightOfRows(canvas) - AXIS_LINES) / rowHeight({ chart: 1, reason: 1 })));

const title = ({ nowMs, endMs, pace }: Frame, { startMs, columns }: Canvas): Printed => {
  const left = endMs === undefined ? "" : `, ${durationText(Math.max(0, endMs - nowMs))} to go`;
  const speed = pace.behind
    ? `falling behind: ${speedText(pace.reached)} of ${speedText(pace.wanted)}`
    : `at ${speedText(pace.wanted)}`;
  const [name, clock, played] = [
    "Tidemark",
    instantText(nowMs),
    `(${durationText(nowMs - startMs)} played${left})`,
  ];
  // In a narrow terminal the speed is more important than the time played.
  const parts =
    [name, clock, played, speed].join("  ").length <= columns ? [clock, played] : [clock];
  const words = [
    styled("bold", name),
    ...parts,
    styled(
      pace.behind ? "yellow" : "dim",
      cut(speed, Math.max(0, columns - 2 - [name, ...parts].join("  ").length)),
    ),
  ];
  return joined(words, "  ");
};

const footer = ({ columns, dataOption }: Canvas): readonly Word[] => {
  const command = (words: string): string => `npx tidemark ${words}${dataOption}`;
  const sentence = `Ctrl-C ends the run with a summary. In another terminal: ${command("get")} | describe NAME | events --all`;
  return wrapped(sentence, columns, FOOTER_LINES_MAX).map((line) => styled("dim", line));
};

/** Lines of the charts of one autoscaler, and of its reason. */
interface Heights {
  readonly chart: number;
  readonly reason: number;
}

const CHART_LINES_MAX = 4;
const AXIS_LINES = 1;

/**
 * As many autoscalers as leave room for some events, with as many lines for their charts and
 * reasons as there are free, and one axis for all of them.
 */
const fitted = (
  frame: Frame,
  { columns, dataOption }: Canvas,
  height: number,
): { readonly lines: readonly Word[]; readonly legend: readonly string[] } => {
  const { rows, total = 0 } = frame;
  const all = Math.max(rows.length, total);
  const room = Math.max(0, height - AXIS_LINES);
  const share = Math.floor(room / Math.max(1, all));
  const chart = Math.max(
    1,
    Math.min(CHART_LINES_MAX, Math.floor((share - rowHeight({ chart: 0, reason: 1 })) / 2)),
  );
  const reason = Math.max(1, Math.min(REASON_LINES_MAX, share - rowHeight({ chart, reason: 0 })));
  const each = rowHeight({ chart, reason });
  const count = all * each <= room ? all : Math.max(0, Math.floor((room - 1) / each));
  const hidden = all - Math.min(count, rows.length);
  const axis = axisOf(frame, columns);
  const shown = rows.slice(0, count).map((row) => ({ row, timeline: timelineOfRow(row, axis) }));
  const lines = [
    ...shown.flatMap(({ row, timeline }) => rowLines(row, timeline, { columns, chart, reason })),
    ...(shown.length > 0
      ? [axisLine(axis, columns, (ms) => axisText(ms, { withDay: false }))]
      : []),
    ...(hidden > 0
      ? [styled("dim", cut(`and ${hidden} more: npx tidemark get${dataOption}`, columns))]
      : []),
  ];
  const legend = smallLegend(
    shown.map(({ timeline }) => timeline),
    { columns, rows: chart },
  );
  return { lines, legend };
};

type Axis = Pick<Timeline, "sinceMs" | "untilMs">;

/** Lengths of the axis: the shortest that has all points. */
const AXES_MS = [20, 40, 80, 120].map((minutes) => minutes * MINUTE_MS);

/** The axis moves on by whole cells, so that a point stays in its cell and nothing flickers. */
const axisOf = ({ rows, nowMs }: Frame, columns: number): Axis => {
  const oldestMs = Math.min(
    nowMs,
    ...rows.flatMap(({ points: [first] }) => (first ? [Date.parse(first.at)] : [])),
  );
  const lengthMs = AXES_MS.find((ms) => ms >= nowMs - oldestMs) ?? AXES_MS.at(-1) ?? MINUTE_MS;
  const cellMs = lengthMs / smallCells(columns);
  const untilMs = Math.ceil(nowMs / cellMs) * cellMs;
  return { sinceMs: untilMs - lengthMs, untilMs };
};

const EVENT_LINES_MAX = 3;
const EVENT_INDENT = "  ";

/** The newest events that have room, each in full where it can be. */
const newestEvents = (
  { events, nowMs }: Frame,
  { columns }: Canvas,
  room: number,
): readonly Word[] => {
  const lines: Word[] = [];
  for (const event of events.toReversed()) {
    const sentence = `${shortInstantText(Date.parse(event.at), nowMs)}  ${eventText(event)}`;
    const left = room - lines.length;
    // An older event that has no room is left out: half of one says nothing.
    const most = lines.length === 0 ? Math.min(EVENT_LINES_MAX, left) : EVENT_LINES_MAX;
    const eventLines = wrapped(sentence, columns, most, EVENT_INDENT);
    if (eventLines.length === 0 || eventLines.length > left) break;
    lines.unshift(
      ...(event.outcome === "applied"
        ? eventLines
        : eventLines.map((line) => styled("yellow", line))),
    );
  }
  return lines;
};

const INDENT = "  ";
const GAP = "   ";
/**
 * Lines that one autoscaler takes: head, load, counts, what held, and reason. The same for all of
 * them and at all times, so that nothing below moves when a sentence becomes longer.
 */
const rowHeight = ({ chart, reason }: Heights): number => 2 + 2 * chart + reason;

interface RowPlace extends Heights {
  readonly columns: number;
}

/** What is drawn of an autoscaler. */
const timelineOfRow = (row: Row, axis: Axis): Timeline => {
  const history = {
    since: new Date(axis.sinceMs).toISOString(),
    until: new Date(axis.untilMs).toISOString(),
    points: row.points,
  };
  const timeline = timelineOf(history, row.events, []);
  // At a high speed the view looks once in some minutes, and a count may be read before its event.
  // What was not looked at is no silence of the record, and no count that was changed by hand: such
  // a change has an event.
  const outside = new Set(
    row.events.flatMap(({ outcome, at }) => (outcome === "outside" ? [Date.parse(at)] : [])),
  );
  const marks = timeline.marks.filter(
    ({ kind, atMs }) => kind !== "restart" && (kind !== "by hand" || outside.has(atMs)),
  );
  return { ...timeline, ...axis, marks, carriedMs: Number.POSITIVE_INFINITY };
};

/**
 * One autoscaler: name, counts, state and metrics; load, counts and what held them over time; the
 * last decision in words.
 */
const rowLines = (
  row: Row,
  timeline: Timeline,
  { columns, chart, reason }: RowPlace,
): readonly Word[] => {
  const words = wrapped(row.decision, columns - INDENT.length, reason).map(
    (line) => text`${INDENT}${painted(row.state, line)}`,
  );
  const drawn = smallDrawing(timeline, { columns, rows: chart });
  return [
    head(row, columns),
    ...drawn,
    ...words,
    ...Array.from({ length: reason - words.length }, () => ""),
  ];
};

/** The amount per pod behind a percentage: "cpu 72% (362m) of 60%". */
const RAW_AMOUNT = / \([^)]*\)/g;

/** All of it where there is room, else without the amounts per pod, which `describe` shows too. */
const shortMetrics = (metrics: string, room: number): string =>
  metrics.length <= room ? metrics : cut(metrics.replaceAll(RAW_AMOUNT, ""), room);

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

const isMoving = ({ current, desired }: Row): boolean =>
  current !== undefined && desired !== undefined && current !== desired;

const counts = (row: Row): string => {
  const { current, desired, lastKnown, min, max } = row;
  const now =
    current === undefined
      ? (lastKnown ?? "?")
      : isMoving(row)
        ? `${current} → ${desired}`
        : String(current);
  return `${now} pods${min === undefined || max === undefined ? "" : ` (${min} to ${max})`}`;
};

const painted = (state: string, words: string): Word =>
  /^(failing|invalid)/.test(state) ? styled("yellow", words) : words;
