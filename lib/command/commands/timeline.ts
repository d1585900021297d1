import { axisText, withLocalTimes } from "../../stack/report/instant-text.ts";
import { block, lines, type Printed, text, type Word } from "../../stack/report/printed.ts";
import { type DrawingSize, timelineLines } from "../../stack/report/timeline/drawing.ts";
import { timelineSvg } from "../../stack/report/timeline/svg.ts";
import type { Timeline } from "../../stack/report/timeline/timeline.ts";
import { wholeHistory } from "../../answers/service/history/history.ts";
import { timelineOf } from "../../answers/words/timeline-of.ts";
import type { AutoscalerQuery, Service } from "../../answers/service/service.ts";
import type { ChangeView } from "../../answers/views/change.ts";
import type { EventView } from "../../answers/views/event.ts";
import type { HistoryMetric, HistoryView } from "../../answers/views/over-time.ts";
import type { Printer, Session, CommandSurroundings } from "../io.ts";
import { csvLine, aligned } from "../output/text-table.ts";
import { type DocumentFormat, documentText } from "../output/documents.ts";
import { queryFor, type NamedAutoscalerOfKind } from "../select/selected-names.ts";
import { lengthMs, pastMs, rangeMs } from "../options/time-options.ts";
import { usage } from "../usage-error.ts";
import { DAY_MS } from "../../rules/model/time-text.ts";

export interface TimelineOptions {
  readonly since?: string;
  readonly until?: string;
  readonly at?: string;
  readonly around: string;
  readonly output: "text" | "svg" | "csv" | DocumentFormat;
}

const DEFAULT_MS = 2 * 3_600_000;
const COLUMNS = 80;
const RECENT_MS = 30 * 60_000;
const RECENT_ROWS = 3;
const LOAD_ROWS = 4;
const POD_ROWS = 7;
/** Scales and edits that are listed below a drawing, the newest of them. */
const LISTED = 12;

type Paper = Pick<DrawingSize, "columns" | "colours">;

interface Stretch {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** The load, the counts, what held them and what happened, on one axis. */
export const timeline = async (
  session: Session,
  { printer, io }: CommandSurroundings<"columns">,
  resource: NamedAutoscalerOfKind,
  options: TimelineOptions,
): Promise<void> => {
  const { service, nowMs } = session;
  const stretch = stretchOf(options, nowMs, printer);
  const all = await readAll(service, await queryFor(service, resource), stretch);
  await printer.print(
    printed(all, options.output, { columns: io.columns ?? COLUMNS, colours: printer.colours }),
  );
};

const stretchOf = (options: TimelineOptions, nowMs: number, printer: Printer): Stretch => {
  const { at, around } = options;
  if (at === undefined) {
    const { sinceMs, untilMs = nowMs } = rangeMs(options, nowMs, printer.note);
    return { sinceMs: sinceMs ?? untilMs - DEFAULT_MS, untilMs };
  }
  if (options.since !== undefined || options.until !== undefined)
    throw usage("Cannot use --at together with --since or --until: give one of them");
  const [middle, half] = [pastMs("--at", at, nowMs, printer.note), lengthMs("--around", around)];
  return { sinceMs: middle - half, untilMs: Math.min(nowMs, middle + half) };
};

/**
 * The last half hour of an autoscaler as a drawing, without the list of what happened; nothing
 * where no sync has evaluated it then.
 */
export const recentLines = async (
  { service, nowMs }: Session,
  query: AutoscalerQuery,
  {
    columns = COLUMNS,
    colours,
  }: { readonly columns: number | undefined; readonly colours: boolean },
): Promise<readonly Word[]> => {
  const { history, events, changes } = await readAll(service, query, {
    sinceMs: nowMs - RECENT_MS,
    untilMs: nowMs,
  });
  if (history.points.length === 0) return [];
  const drawn = timelineOf(history, events, changes);
  const rows = { loadRows: RECENT_ROWS, podRows: RECENT_ROWS };
  return [
    "Last 30 minutes:",
    ...timelineLines(drawn, { columns, colours, ...rows, clock: clockOf(drawn) }),
  ];
};

interface Read {
  readonly history: HistoryView;
  readonly events: readonly EventView[];
  readonly changes: readonly ChangeView[];
}

const readAll = async (
  service: Service,
  query: AutoscalerQuery,
  stretch: Stretch,
): Promise<Read> => {
  const history = await wholeHistory(service, { ...query, ...stretch });
  const events = await Array.fromAsync(service.events({ ...query, ...stretch }));
  const changes = await Array.fromAsync(service.changes({ ...query, sinceMs: stretch.sinceMs }));
  return {
    history,
    events,
    changes: changes.filter(({ at, made }) => made !== false && Date.parse(at) <= stretch.untilMs),
  };
};

const printed = (all: Read, output: TimelineOptions["output"], paper: Paper): Printed => {
  const { history } = all;
  const drawn = timelineOf(history, all.events, all.changes);
  if (output === "csv") return historyCsv(history);
  if (output === "svg") return block(timelineSvg(titleOf(history), drawn, clockOf(drawn)));
  if (output === "text") return lines([titleOf(history), ...sheetOf(drawn, all, paper)]);
  return documentText({ ...history, events: all.events, changes: all.changes }, output);
};

const titleOf = ({ cluster, namespace, name, since, until }: HistoryView): string =>
  `${cluster}/${namespace}/${name}  ${withLocalTimes(since)} to ${withLocalTimes(until)}`;

const sheetOf = (drawn: Timeline, { events, changes }: Read, paper: Paper): readonly Word[] => {
  const happened = [
    ...withLocalTimes(events).map(eventRow),
    ...withLocalTimes(changes).map(changeRow),
  ].toSorted(([one = ""], [other = ""]) => Date.parse(one) - Date.parse(other));
  const hidden = happened.length - LISTED;
  return [
    ...timelineLines(drawn, {
      ...paper,
      loadRows: LOAD_ROWS,
      podRows: POD_ROWS,
      clock: clockOf(drawn),
    }),
    ...(happened.length === 0
      ? []
      : [
          "",
          hidden > 0
            ? `Scales and edits (${hidden} older: tidemark events, tidemark changes):`
            : "Scales and edits:",
        ]),
    ...aligned(happened.slice(-LISTED)).map((row) => text`  ${row}`),
  ];
};

const eventRow = ({ at, from, to, reason, message, outcome }: EventView): readonly string[] => [
  at,
  `${from} -> ${to}`,
  `${outcome === "applied" ? "" : `${outcome}: `}${reason}: ${message}`,
];

const changeRow = ({ at, by, verb, fields }: ChangeView): readonly string[] => [
  at,
  verb,
  `by ${by}${fields.length === 0 ? "" : `: ${fields.map(({ path }) => path).join(", ")}`}`,
];

/** With the day where the axis is longer than one. */
export const clockOf =
  ({ sinceMs, untilMs }: Timeline): ((ms: number) => string) =>
  (ms) =>
    axisText(ms, { withDay: untilMs - sinceMs > DAY_MS });

const COLUMN_NAMES = [
  "at",
  "current",
  "wanted",
  "desired",
  "ready",
  "counted",
  "min",
  "max",
  "generation",
  "load",
  "held",
  "reason",
] as const;

/** The pods behind a value, the value with what was assumed, and where the count turns. */
const WHY_COLUMNS: Readonly<
  Record<string, (metric: HistoryMetric) => string | number | undefined>
> = {
  matched: ({ pods }) => pods?.matched,
  owned: ({ pods }) => pods?.owned,
  counted: ({ pods }) => pods?.counted,
  "not ready": ({ pods }) => pods?.unready,
  "without sample": ({ pods }) => pods?.missing,
  ended: ({ pods }) => pods?.finished,
  "oldest seconds": ({ pods }) => pods?.oldestSeconds,
  "with assumed": ({ assumed }) => assumed?.value,
  "turns below": ({ turns }) => turns?.below?.value,
  "turns from": ({ turns }) => turns?.above?.value,
};

/** One line a point; of each metric its value, target and ratio follow, and what is behind them. */
const historyCsv = ({ points }: HistoryView, why = false): Printed => {
  const names = [...new Set(points.flatMap(({ metrics }) => metrics.map(({ name }) => name)))];
  const behind = why ? Object.entries(WHY_COLUMNS) : [];
  const header = csvLine([
    ...COLUMN_NAMES,
    ...names.flatMap((name) => [
      name,
      ...["target", "ratio", ...behind.map(([column]) => column)].map((word) => `${name} ${word}`),
    ]),
  ]);
  const rows = points.map((point) =>
    csvLine([
      ...COLUMN_NAMES.map((column) => point[column]),
      ...names.flatMap((name) => {
        const metric = point.metrics.find((each) => each.name === name);
        return [
          ...[metric?.value, metric?.target, metric?.ratio],
          ...behind.map(([, of]) => metric && of(metric)),
        ];
      }),
    ]),
  );
  return lines([header, ...rows]);
};

export interface HistoryOptions {
  readonly since?: string;
  readonly until?: string;
  readonly step?: string;
  readonly why?: boolean;
  readonly output: "csv" | DocumentFormat;
}

/** What an autoscaler measured and decided, for charts of one's own. */
export const history = async (
  session: Session,
  printer: Printer,
  resource: NamedAutoscalerOfKind,
  { step, why = false, output, ...range }: HistoryOptions,
): Promise<void> => {
  const { service, nowMs } = session;
  const query = { ...(await queryFor(service, resource)), ...rangeMs(range, nowMs, printer.note) };
  const view = await wholeHistory(service, {
    ...query,
    ...(step !== undefined && { stepMs: lengthMs("--step", step) }),
    ...(why && { why }),
  });
  await printer.print(output === "csv" ? historyCsv(view, why) : documentText(view, output));
};
