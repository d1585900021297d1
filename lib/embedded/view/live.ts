import { line, type Word } from "../../stack/report/printed.ts";
import { laneOfReason } from "../../stack/report/reasons/lanes.ts";
import { boundsInForce } from "../../answers/service/views/holds-view.ts";
import { stateWords } from "../../answers/words/state-words.ts";
import { ratioOf } from "../../stack/projections/sample.ts";
import type { AutoscalerView } from "../../answers/views/autoscaler.ts";
import type { EventView } from "../../answers/views/event.ts";
import type { HistoryPoint } from "../../answers/views/over-time.ts";
import type { RunClock } from "../engine/clock.ts";
import { type Row, picture, rowsMax } from "./picture.ts";
import type { StackReader } from "./reader.ts";
import { type View, decisionText, lastKnownText, viewedMetric } from "./plain-view.ts";

export interface LiveOptions {
  readonly stream: NodeJS.WriteStream;
  readonly reader: StackReader;
  readonly clock: RunClock;
  readonly startMs: number;
  readonly endMs?: number;
  /** The option after a command in a hint, so that it finds the folder of this run. */
  readonly dataOption: string;
}

/**
 * Events that are kept for the screen: the newest of all, and the newest of each autoscaler, which
 * has others beside it. The tables keep all.
 */
const KEPT_EVENTS = 200;

/** The view of a terminal: one picture, drawn over itself. */
export const liveView = ({
  stream,
  reader,
  clock,
  startMs,
  endMs,
  dataOption,
}: LiveOptions): View => {
  const { draw } = screen(stream);
  const kept = keptPoints();
  let events: readonly EventView[] = [];
  const eventsOf = new Map<string, readonly EventView[]>();
  let shown: readonly AutoscalerView[] | undefined;
  let rows: readonly Row[] = [];
  let trouble: string | undefined;
  const refresh = async () => {
    const news = await reader.newEvents();
    events = [...events, ...news].slice(-KEPT_EVENTS);
    for (const [uid, own] of Map.groupBy(news, (event) => event.uid))
      eventsOf.set(uid, [...(eventsOf.get(uid) ?? []), ...own].slice(-KEPT_EVENTS));
    const canvas = { columns: stream.columns, rows: stream.rows, startMs, dataOption };
    // One more than fit, so that the picture says that there are more also before a sync has
    // counted them.
    const autoscalers = await reader.autoscalers(rowsMax(canvas) + 1);
    const nowMs = clock.now();
    if (autoscalers !== shown) {
      for (const autoscaler of autoscalers) kept.take(autoscaler);
      rows = autoscalers.map((autoscaler) =>
        rowOf(
          autoscaler,
          { points: kept.of(autoscaler.uid), events: eventsOf.get(autoscaler.uid) ?? [] },
          nowMs,
        ),
      );
      shown = autoscalers;
    }
    const frame = {
      nowMs,
      pace: clock.pace(),
      rows,
      total: reader.total(),
      events,
      ...(endMs !== undefined && { endMs }),
      ...(trouble !== undefined && { trouble }),
    };
    draw(picture(frame, canvas));
  };
  return {
    say: (problem) => {
      trouble = problem;
    },
    refresh,
    end: refresh,
  };
};

const rowOf = (
  autoscaler: AutoscalerView,
  past: Pick<Row, "points" | "events">,
  nowMs: number,
): Row => {
  const { uid, namespace, name, target, currentReplicas, desiredReplicas, metrics, lastKnown } =
    autoscaler;
  const { min, max } = boundsInForce(autoscaler);
  return {
    uid,
    name: `${namespace}/${name}`,
    target: target ? `${target.kind}/${target.name}` : "?",
    state: stateWords(autoscaler),
    ...(currentReplicas !== undefined && { current: currentReplicas }),
    ...(desiredReplicas !== undefined && { desired: desiredReplicas }),
    ...(lastKnown && { lastKnown: lastKnownText(lastKnown, nowMs) }),
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    metrics: metrics.map(viewedMetric),
    decision: decisionText(autoscaler),
    ...past,
  };
};

/**
 * One point per completed sync of each autoscaler, for the drawing. The run keeps them itself:
 * reading the journal at each refresh would slow it down.
 */
const keptPoints = () => {
  const kept = new Map<string, readonly HistoryPoint[]>();
  return {
    take: (autoscaler: AutoscalerView): void => {
      const before = kept.get(autoscaler.uid) ?? [];
      const point = pointOf(autoscaler);
      if (point && point.at !== before.at(-1)?.at)
        kept.set(autoscaler.uid, [...before, point].slice(-MAX_POINTS));
    },
    of: (uid: string): readonly HistoryPoint[] => kept.get(uid) ?? [],
  };
};

/** Two hours of 15-second syncs. */
const MAX_POINTS = 480;

const pointOf = (autoscaler: AutoscalerView): HistoryPoint | undefined => {
  const { syncedAt, currentReplicas, decision, metrics } = autoscaler;
  if (syncedAt === undefined || currentReplicas === undefined) return undefined;
  const measured = metrics.filter((metric) => metric.kind === "measured");
  const [loads, wanted] = [
    measured.flatMap((metric) => ratioOf(metric) ?? []),
    measured.map(({ proposal }) => proposal),
  ];
  const held = laneNow(autoscaler);
  return {
    at: syncedAt,
    current: currentReplicas,
    ...boundsInForce(autoscaler),
    ...(loads.length > 0 && { load: Math.max(...loads) }),
    ...(wanted.length > 0 && { wanted: Math.max(...wanted) }),
    metrics: [],
    reason: decision?.reason ?? "",
    ...(held && { held }),
  };
};

/** What holds the count now, or cuts it. */
const laneNow = ({ decision, conditions }: AutoscalerView) => {
  const hold = decision?.kind === "hold" ? laneOfReason(decision.reason) : undefined;
  const limit = conditions.find(
    ({ type, status }) => type === "ScalingLimited" && status === "True",
  );
  return hold ?? (decision?.failed ? "other" : limit && laneOfReason(limit.reason));
};

/** A picture that is drawn over itself, below what the terminal shows already. */
interface Screen {
  readonly draw: (lines: readonly Word[]) => void;
}

type Stream = Pick<NodeJS.WriteStream, "write" | "columns" | "rows">;

const ESCAPE = "\u001b[";
const up = (lines: number): string => (lines > 0 ? `${ESCAPE}${lines}A` : "");
const down = (lines: number): string => (lines > 0 ? `${ESCAPE}${lines}B` : "");
const CLEAR_LINE_END = `${ESCAPE}K`;
const CLEAR_BELOW = `${ESCAPE}J`;
const CLEAR_ALL = `${ESCAPE}2J${ESCAPE}H`;
/** Terminals that know these show the whole change at once; others ignore them. */
const BEGIN = `${ESCAPE}?2026h`;
const END = `${ESCAPE}?2026l`;

/**
 * Writes the lines that changed and no others, so that a slow connection carries little and nothing
 * flickers. The cursor rests below the picture.
 */
export const screen = (stream: Stream): Screen => {
  let before: readonly string[] = [];
  let size = sizeOf(stream);
  return {
    draw: (rows) => {
      const lines = rows.map((each) => line(each).written());
      const resized = size !== sizeOf(stream);
      size = sizeOf(stream);
      const text = resized
        ? CLEAR_ALL + whole(lines)
        : lines.length === before.length
          ? changes(before, lines)
          : again(before, lines);
      before = lines;
      if (text !== "") stream.write(`${BEGIN}${text}${END}`);
    },
  };
};

/** A resized terminal has moved its lines, so the whole picture is drawn again. */
const sizeOf = ({ columns, rows }: Stream): string => `${columns}x${rows}`;

const whole = (lines: readonly string[]): string =>
  lines.map((each) => `${each}${CLEAR_LINE_END}\r\n`).join("");

const again = (before: readonly string[], lines: readonly string[]): string =>
  `\r${up(before.length)}${CLEAR_BELOW}${whole(lines)}`;

const changes = (before: readonly string[], lines: readonly string[]): string =>
  lines
    .map((each, at) => {
      const height = lines.length - at;
      return each === before[at] ? "" : `\r${up(height)}${each}${CLEAR_LINE_END}\r${down(height)}`;
    })
    .join("");
