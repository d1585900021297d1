import { useRef, useState } from "preact/hooks";
import type { ScheduleView } from "../../../answers/views/schedule.ts";
import { timelineOf } from "../../../answers/words/timeline-of.ts";
import { type Axis, atOf, Chart, LEFT, TimeAxis, xOf } from "../charts/frame.tsx";
import { useWidth } from "../charts/use-width.ts";
import { shownTime } from "../parts/time.tsx";
import { CountChart } from "./count-chart.tsx";
import { LINES_MAX, LoadChart, lowMarks, measuredNames } from "./load-chart.tsx";
import { Lanes, Marks, MarksLegend } from "./lanes.tsx";
import { countReading, loadReading, nearestPoint, pressedMs } from "./reading.ts";
import { SetLanes } from "./schedule-lanes.tsx";
import { SHORTEST_MS } from "./range.ts";
import type { ShownPast } from "./past.ts";

/** A drag of fewer pixels is a press. */
const DRAG_PX = 6;
/** A press so near to a scale means the scale: its mark is that wide. */
const MARK_PX = 8;

interface Props {
  readonly past: ShownPast;
  /** What people have set for the stretch; absent where nothing is known of it. */
  readonly schedule: ScheduleView | undefined;
  readonly nowMs: number;
  /** The chosen instant. */
  readonly atMs: number | undefined;
  readonly onInstant: (atMs: number) => void;
  readonly onNow: () => void;
  readonly onStretch: (sinceMs: number, untilMs: number) => void;
}

/**
 * Both charts, what held the count and what happened, on one axis of time. A press or the arrow
 * keys choose an instant, a drag a stretch.
 */
export const Charts = ({ past, schedule, nowMs, atMs, ...chosen }: Props) => {
  const { element, width } = useWidth();
  const [pointer, setPointer] = useState<Pointer | undefined>(undefined);
  const axis = { sinceMs: past.sinceMs, untilMs: past.untilMs, width };
  const names = measuredNames(past);
  const timeline = timelineOf(
    {
      since: new Date(past.sinceMs).toISOString(),
      until: new Date(past.untilMs).toISOString(),
      points: past.points,
    },
    past.events,
    past.changes,
  );
  const pointedMs = pointer?.fromX === undefined && pointer ? atOf(axis, pointer.x) : undefined;
  const isShown = atMs !== undefined && atMs >= past.sinceMs && atMs <= past.untilMs;
  const point = nearestPoint(past, pointedMs ?? (isShown ? atMs : undefined));
  const when = point && shownTime(Date.parse(point.at), nowMs);
  return (
    <div class="charts" ref={element}>
      {width > 0 && (
        <>
          <Chart
            title="Load, as a part of its target"
            reading={point && `${when}: ${loadReading(point)}`}
          >
            <LoadChart past={past} axis={axis} />
          </Chart>
          <Legend names={names} hasLow={lowMarks(past, names).length > 0} />
          <Chart title="Replicas" reading={point && `${when}: ${countReading(point)}`}>
            <CountChart past={past} axis={axis} />
          </Chart>
          <CountLegend />
          <Marks timeline={timeline} axis={axis} />
          <TimeAxis axis={axis} />
          <MarksLegend timeline={timeline} />
          <Lanes timeline={timeline} axis={axis} stepMs={past.stepMs} />
          {schedule && <SetLanes schedule={schedule} axis={axis} nowMs={nowMs} />}
          <Cursor
            axis={axis}
            past={past}
            schedule={schedule}
            nowMs={nowMs}
            atMs={atMs}
            pointer={pointer}
            onPointer={setPointer}
            {...chosen}
          />
        </>
      )}
    </div>
  );
};

const Legend = ({
  names,
  hasLow,
}: {
  readonly names: readonly string[];
  readonly hasLow: boolean;
}) => (
  <ul class="legend">
    {names.slice(0, LINES_MAX).map((name, at) => (
      <li key={name}>
        <svg width="24" height="8" aria-hidden="true">
          <path class={`metric metric-${at}`} d="M0 4H24" />
        </svg>
        {name}
      </li>
    ))}
    <li>
      <svg width="24" height="8" aria-hidden="true">
        <path class="target" d="M0 4H24" />
      </svg>
      {hasLow ? "high watermark" : "target"}
    </li>
    {hasLow && (
      <li>
        <svg width="24" height="8" aria-hidden="true">
          <path class="target low" d="M0 4H24" />
        </svg>
        low watermark
      </li>
    )}
    {names.length > LINES_MAX && <li>and {names.length - LINES_MAX} more in the table</li>}
  </ul>
);

const CountLegend = () => (
  <ul class="legend">
    {(["current", "wanted", "ready", "band"] as const).map((kind) => (
      <li key={kind}>
        <svg class="counts" width="24" height="10" aria-hidden="true">
          <path class={kind} d={kind === "band" ? "M0 0H24V10H0z" : "M0 5H24"} />
        </svg>
        {COUNT_WORDS[kind]}
      </li>
    ))}
  </ul>
);

const COUNT_WORDS = {
  current: "count",
  wanted: "wanted by the metrics",
  ready: "ready pods",
  band: "from minReplicas to maxReplicas",
} as const;

interface Pointer {
  readonly x: number;
  /** Where a drag began; undefined while no button is down. */
  readonly fromX?: number;
}

type CursorProps = Props & {
  readonly axis: Axis;
  readonly pointer: Pointer | undefined;
  readonly onPointer: (pointer: Pointer | undefined) => void;
};

/** Lies over all charts. It is a slider for keyboards and screen readers. */
const Cursor = (props: CursorProps) => {
  const { axis, past, nowMs, atMs, pointer, onPointer } = props;
  const layer = useRef<HTMLDivElement>(null);
  const x = xOf(axis);
  const xOfEvent = ({ clientX }: { readonly clientX: number }): number =>
    clientX - (layer.current?.getBoundingClientRect().left ?? 0);
  const chosen = nearestPoint(past, atMs ?? axis.untilMs);
  const [low, high] = [pointer?.fromX ?? 0, pointer?.x ?? 0].toSorted((one, other) => one - other);
  const isDragged = pointer?.fromX !== undefined && Math.abs(pointer.x - pointer.fromX) >= DRAG_PX;
  return (
    <div
      ref={layer}
      class="cursor"
      tabIndex={0}
      role="slider"
      aria-label="Instant that is explained"
      aria-valuemin={0}
      aria-valuemax={Math.max(0, past.points.length - 1)}
      aria-valuenow={chosen ? past.points.indexOf(chosen) : 0}
      aria-valuetext={
        chosen
          ? `${shownTime(Date.parse(chosen.at), nowMs)}: ${countReading(chosen)}`
          : "no evaluation"
      }
      onKeyDown={(event) => onKey(event, props)}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        layer.current?.setPointerCapture(event.pointerId);
        onPointer({ x: xOfEvent(event), fromX: xOfEvent(event) });
      }}
      onPointerMove={(event) => onPointer({ ...pointer, x: xOfEvent(event) })}
      onPointerLeave={() => pointer?.fromX === undefined && onPointer(undefined)}
      onPointerCancel={() => onPointer(undefined)}
      onPointerUp={(event) => {
        if (pointer?.fromX === undefined) return;
        released(props, pointer.fromX, xOfEvent(event));
        onPointer({ x: xOfEvent(event) });
      }}
    >
      <svg width={axis.width} height="100%" aria-hidden="true">
        {isDragged && (
          <rect class="chosen-part" x={low} y="0" width={(high ?? 0) - (low ?? 0)} height="100%" />
        )}
        {pointer && pointer.x >= LEFT && (
          <line class="pointer" x1={pointer.x} x2={pointer.x} y1="0" y2="100%" />
        )}
        {atMs !== undefined && atMs >= axis.sinceMs && atMs <= axis.untilMs && (
          <line class="chosen" x1={x(atMs)} x2={x(atMs)} y1="0" y2="100%" />
        )}
      </svg>
    </div>
  );
};

/** The end of a press, or of a drag over a stretch. */
const released = (
  { axis, past, onInstant, onStretch }: CursorProps,
  fromX: number,
  toX: number,
): void => {
  const [sinceMs = 0, untilMs = 0] = [atOf(axis, fromX), atOf(axis, toX)].toSorted(
    (one, other) => one - other,
  );
  if (Math.abs(toX - fromX) < DRAG_PX) {
    const instantMs = pressedMs(past, untilMs, atOf(axis, toX + MARK_PX) - atOf(axis, toX));
    if (instantMs !== undefined) onInstant(instantMs);
  } else if (untilMs - sinceMs >= SHORTEST_MS) onStretch(sinceMs, untilMs);
  else {
    const middleMs = (sinceMs + untilMs) / 2;
    onStretch(middleMs - SHORTEST_MS / 2, middleMs + SHORTEST_MS / 2);
  }
};

const onKey = (event: KeyboardEvent, { past, atMs, axis, onInstant, onNow }: CursorProps): void => {
  const { points } = past;
  const chosen = nearestPoint(past, atMs ?? axis.untilMs);
  const at = chosen ? points.indexOf(chosen) : -1;
  const to = KEYS[event.key]?.(at, points.length);
  if (event.key === "Escape") onNow();
  else if (to === undefined) return;
  else {
    const point = points[Math.min(points.length - 1, Math.max(0, to))];
    if (point) onInstant(Date.parse(point.at));
  }
  event.preventDefault();
};

const PAGE = 10;

const KEYS: Readonly<Record<string, (at: number, points: number) => number>> = {
  ArrowLeft: (at) => at - 1,
  ArrowDown: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  ArrowUp: (at) => at + 1,
  PageDown: (at) => at - PAGE,
  PageUp: (at) => at + PAGE,
  Home: () => 0,
  End: (_at, points) => points - 1,
};
